// What is pointed at and what it looked at, lit up among the units of both sides.

import { level, shade } from "./colours.js";

// `sides` holds for each side the elements of its units, by their numbers; one that has none stays dark.
export function light(context, at, sides) {
  for (const elements of Object.values(sides)) elements.forEach(darken);
  const matrix = context.matrix();
  if (!at || !matrix || at.kind !== context.kind()) return;
  const { rows, columns, weights } = matrix;
  const row = rows.findIndex((unit) => unit.at === at.row), column = columns.findIndex((unit) => unit.at === at.column);
  const of = (side) => sides[side] ?? new Map();
  if (row >= 0) {
    glow(of(matrix.columnSide), columns, weights[row]);
    choose(of(matrix.rowSide).get(rows[row].at));
  } else if (column >= 0) glow(of(matrix.rowSide), rows, weights.map((one) => one[column]));
  if (column >= 0) choose(of(matrix.columnSide).get(columns[column].at));
}

function darken(element) {
  element.classList.remove("chosen");
  element.style.removeProperty("background-color");
  if (element.role === "option") element.setAttribute("aria-selected", "false");
}

function choose(element) {
  element?.classList.add("chosen");
  if (element?.role === "option") element.setAttribute("aria-selected", "true");
}

// Only the lower half of the scale, on which letters can still be read.
function glow(elements, others, weights) {
  const largest = Math.max(...weights.filter(Number.isFinite), 0.05);
  others.forEach(({ at }, place) => {
    if (weights[place] > 0.12 * largest) elements.get(at)?.style.setProperty("background-color", shade(level((weights[place] / largest) * 0.5)));
  });
}
