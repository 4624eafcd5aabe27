// A look as light on a picture, as regard/viewing/picture_looks.py has it: bright where it is strongest, dark where nobody looked.

import { make } from "./elements.js";

const FINE = 6; // pixels of light for each cell
const SHADE = [16, 19, 27], DEPTH = 0.82; // as in picture_looks.py

// How much each cell shines on a pixel: at its centre it alone, between two of them both.
function spread(cells) {
  return Array.from({ length: cells * FINE }, (_, pixel) => {
    const place = Math.max(0, Math.min(cells - 1, (pixel + 0.5) / FINE - 0.5));
    return Array.from({ length: cells }, (_, cell) => Math.max(0, 1 - Math.abs(place - cell)));
  });
}

// Of each pixel, row by row, from 0 to 1 where the look is strongest.
export function softened(look, [high, wide]) {
  const down = spread(high), across = spread(wide);
  const known = look.map((weight) => (Number.isFinite(weight) ? weight : 0));
  const rows = down.map((shares) => Array.from({ length: wide }, (_, column) =>
    shares.reduce((sum, share, row) => sum + share * known[row * wide + column], 0)));
  const soft = rows.flatMap((row) => across.map((shares) => shares.reduce((sum, share, column) => sum + share * row[column], 0)));
  const top = soft.reduce((a, b) => Math.max(a, b), 0) || 1;
  return Float64Array.from(soft, (value) => value / top);
}

export const daylight = ([high, wide]) => new Float64Array(high * wide * FINE * FINE).fill(1);

export function paint(canvas, light, [high, wide]) {
  canvas.width = wide * FINE;
  canvas.height = high * FINE;
  const pen = canvas.getContext("2d"), image = pen.createImageData(canvas.width, canvas.height);
  light.forEach((value, pixel) => image.data.set([...SHADE, Math.round(255 * DEPTH * (1 - value))], pixel * 4));
  pen.putImageData(image, 0, 0);
}

export function lightUrl(look, grid) {
  const canvas = make("canvas");
  paint(canvas, softened(look, grid), grid);
  return canvas.toDataURL("image/png");
}

// ---- words for it

// The cells that hold half of a look, and what part of the picture their middle lies in.
export function whereabouts(look, [high, wide]) {
  const order = [...look.keys()].sort((a, b) => look[b] - look[a]);
  const total = look.reduce((a, b) => a + b, 0);
  let sum = 0, cells = 0, row = 0, column = 0;
  while (cells < order.length && sum < total / 2) {
    const cell = order[cells++];
    sum += look[cell];
    row += look[cell] * (Math.floor(cell / wide) + 0.5) / high;
    column += look[cell] * (cell % wide + 0.5) / wide;
  }
  const third = (place, names) => names[Math.min(2, Math.floor(3 * place / (sum || 1)))];
  const parts = [third(row, ["upper", "", "lower"]), third(column, ["left", "", "right"])].filter(Boolean);
  return { cells, part: parts.length === 1 ? `${parts[0]} part` : parts.join(" ") || "middle", strongest: look[order[0]] ?? 0 };
}

// What is pointed at, as parts of a sentence; null where it is told as that of a text.
export function tellPicture(context, { rows, columns, columnSide, weights }, at) {
  const row = rows.findIndex((unit) => unit.at === at.row);
  if (columnSide !== "source" || row < 0) return null;
  const { cells, part, strongest } = whereabouts([...weights[row]], context.model.source.grid);
  return [make("q", {}, rows[row].label), ` looked mostly at the ${part}: half of its look lies in `,
    make("b", {}, `${cells} of ${columns.length} cells`), ", the strongest has ", make("b", {}, strongest.toFixed(3))];
}
