// Two columns of words with lines between them: the thicker, the more it was looked at.

import { draw, letters } from "../elements.js";
import { largestOf } from "./heatmap.js";

export function lineMap(matrix, { room, threshold = 0.05, stretch = false, only = null }) {
  const { rows, columns, weights } = matrix;
  const letter = 15, line = Math.max(24, Math.min(34, 640 / Math.max(rows.length, columns.length)));
  const wide = (units) => Math.max(...units.map(({ label }) => letters(label))) * letter;
  const left = Math.min(room * 0.36, wide(columns) + 16), right = Math.min(room * 0.36, wide(rows) + 16);
  const between = Math.max(90, Math.min(360, room - left - right));
  const longest = Math.max(rows.length, columns.length), top = 8;
  const middle = (units) => (place) => top + (place + 0.5 + (longest - units.length) / 2) * line;
  const ofRow = middle(rows), ofColumn = middle(columns);
  const largest = stretch ? largestOf(weights) : 1;
  const paths = [];
  weights.forEach((row, from) => row.forEach((weight, at) => {
    if (!(weight >= threshold) || (only !== null && from !== only)) return;
    const strength = Math.min(1, weight / largest), x = left + 10, half = between / 2 - 10;
    const d = `M${x} ${ofColumn(at)}c${half} 0 ${half} ${ofRow(from) - ofColumn(at)} ${between - 20} ${ofRow(from) - ofColumn(at)}`;
    paths.push({ from, at, element: draw("path", { class: "line", d, "stroke-width": (0.6 + 5 * strength).toFixed(2), "stroke-opacity": (0.12 + 0.88 * strength).toFixed(3) }) });
  }));
  const name = (units, x, middle, anchor, side) => units.map(({ label, special }, place) =>
    draw("text", { x, y: middle(place) + letter * 0.33, "text-anchor": anchor, "font-size": `${letter}px`, class: special ? "name special" : "name", "data-side": side, "data-place": place }, label));
  const names = { columns: name(columns, left, ofColumn, "end", "column"), rows: name(rows, left + between, ofRow, "start", "row") };
  const width = Math.ceil(left + between + right), height = Math.ceil(longest * line + 2 * top);
  const svg = draw("svg", { class: "picture lines", width, height, viewBox: `0 0 ${width} ${height}` }, paths.map(({ element }) => element), ...names.columns, ...names.rows);

  function show(row, column) {
    const any = row >= 0 || column >= 0;
    const touched = { rows: new Set([row]), columns: new Set([column]) };
    for (const { from, at, element } of paths) {
      const on = (row >= 0 && from === row && !(column >= 0 && at !== column)) || (!(row >= 0) && at === column);
      element.classList.toggle("on", on);
      element.classList.toggle("off", any && !on);
      if (on) { touched.rows.add(from); touched.columns.add(at); }
    }
    for (const side of ["rows", "columns"]) {
      names[side].forEach((text, place) => {
        text.classList.toggle("on", place === (side === "rows" ? row : column));
        text.classList.toggle("off", any && !touched[side].has(place));
      });
    }
  }

  function at(event) {
    const bounds = svg.getBoundingClientRect(), scale = width / bounds.width;
    const x = (event.clientX - bounds.left) * scale, y = (event.clientY - bounds.top) * scale;
    const place = (units, middle) => { const at = Math.round((y - middle(0)) / line); return at >= 0 && at < units.length ? at : -1; };
    if (x <= left + 10) { const column = place(columns, ofColumn); return column < 0 ? null : { column }; }
    if (x >= left + between - 10) { const row = place(rows, ofRow); return row < 0 ? null : { row }; }
    return null;
  }

  return { svg, show, at, largest, corner: (row, column) => [row === undefined ? 0 : left + between, (row === undefined ? ofColumn(column) : ofRow(row)) - line / 2, line] };
}
