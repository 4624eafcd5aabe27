// The heat map: who looked down, what was looked at across.

import { draw, letters } from "../elements.js";
import { level, shade } from "../colours.js";

// One path for each shade, so that a thousand cells are a few elements.
export function cells(weights, { size, largest = 1, threshold = 0 }) {
  const paths = new Map();
  weights.forEach((row, y) => row.forEach((weight, x) => {
    const step = weight < threshold ? 0 : level(weight / largest);
    if (step !== 0) paths.set(step, `${paths.get(step) ?? ""}M${x * size} ${y * size}h${size}v${size}h${-size}z`);
  }));
  return [...paths].map(([step, d]) => draw("path", { d, fill: shade(step) }));
}

export function largestOf(weights) {
  return Math.max(0, ...weights.map((row) => Math.max(0, ...row.filter(Number.isFinite)))) || 1;
}

// Cells as large as the room allows; below 15 pixels the map is wider than its room.
function measures({ rows, columns }, room, most) {
  const across = columns.map(({ label }) => letters(label));
  const widest = Math.max(...rows.map(({ label }) => letters(label)));
  const side = (letter) => Math.min(room * 0.42, widest * letter + 16);
  const fitting = (letter) => (room - side(letter) - 10) / columns.length;
  const cell = Math.floor(Math.max(15, Math.min(most, fitting(14) < 20 ? fitting(11) : fitting(14), Math.max(24, 680 / rows.length))));
  const letter = Math.max(10.5, Math.min(14, cell * 0.5));
  const turned = across.filter((wide) => wide * letter > cell - 3).length > columns.length / 4;
  const head = turned ? Math.max(...across) * letter * 0.8 + letter + 6 : letter * 1.5 + 6;
  const overhang = turned ? Math.max(...across.map((wide, at) => wide * letter * 0.63 + letter - (columns.length - at - 0.5) * cell), 0) : 0;
  return { cell, letter, turned, head, overhang, left: side(letter) };
}

export function heatMap(matrix, { room, threshold = 0, stretch = false, until = null, most = 56 }) {
  const { rows, columns, weights } = matrix;
  const { cell, letter, turned, head, overhang, left } = measures(matrix, room, most);
  const wide = columns.length * cell, high = rows.length * cell;
  const largest = stretch ? largestOf(weights) : 1;
  const names = { rows: [], columns: [] };
  const size = `${letter}px`;
  columns.forEach(({ label, special }, at) => {
    const x = left + (at + 0.5) * cell, y = head - 6;
    const place = turned ? { transform: `translate(${x + letter * 0.35} ${y}) rotate(-52)` } : { x, y, "text-anchor": "middle" };
    names.columns.push(draw("text", { ...place, class: special ? "name special" : "name", "font-size": size }, label));
  });
  rows.forEach(({ label, special }, at) => {
    const place = { x: left - 8, y: head + (at + 0.5) * cell + letter * 0.35, "text-anchor": "end" };
    names.rows.push(draw("text", { ...place, class: special ? "name special" : "name", "font-size": size }, label));
  });
  const lines = [
    ...columns.concat(null).map((_, at) => `M${left + at * cell + 0.5} ${head}v${high}`),
    ...rows.concat(null).map((_, at) => `M${left} ${head + at * cell + 0.5}h${wide}`),
  ].join("");
  const bands = { row: draw("rect", { class: "band" }), column: draw("rect", { class: "band" }), cell: draw("rect", { class: "cursor" }) };
  const later = until === null ? null
    : draw("rect", { class: "later", x: left + 1, y: head + until * cell + 1, width: wide, height: Math.max(0, high - until * cell) });
  const width = Math.ceil(left + wide + overhang + 2), height = Math.ceil(head + high + 2);
  const svg = draw("svg", { class: "picture map", width, height, viewBox: `0 0 ${width} ${height}` },
    draw("g", { transform: `translate(${left} ${head})` }, cells(weights, { size: cell, largest, threshold })),
    draw("path", { class: "rule", d: lines }), later, ...Object.values(bands), ...names.columns, ...names.rows);

  // What is pointed at: row and column as places in the matrix, either may be missing.
  function show(row, column) {
    names.rows.forEach((name, at) => name.classList.toggle("on", at === row));
    names.columns.forEach((name, at) => name.classList.toggle("on", at === column));
    const box = (element, there, x, y, w, h) => {
      element.toggleAttribute("hidden", !there);
      if (there) for (const [name, value] of Object.entries({ x, y, width: w, height: h })) element.setAttribute(name, value);
    };
    const inRow = row >= 0, inColumn = column >= 0;
    box(bands.row, inRow, left, head + row * cell, wide + 1, cell + 1);
    box(bands.column, inColumn, left + column * cell, head, cell + 1, high + 1);
    box(bands.cell, inRow && inColumn, left + column * cell, head + row * cell, cell + 1, cell + 1);
  }

  function at(event) {
    const bounds = svg.getBoundingClientRect(), scale = width / bounds.width;
    const x = (event.clientX - bounds.left) * scale, y = (event.clientY - bounds.top) * scale;
    const column = Math.floor((x - left) / cell), row = Math.floor((y - head) / cell);
    const inColumns = column >= 0 && column < columns.length, inRows = row >= 0 && row < rows.length;
    if (inRows && inColumns) return { row, column };
    if (inRows && x < left) return { row };
    return inColumns && y < head ? { column } : null;
  }

  show();
  return { svg, show, at, largest, corner: (row, column) => [left + (column ?? 0) * cell, head + (row ?? 0) * cell, cell] };
}
