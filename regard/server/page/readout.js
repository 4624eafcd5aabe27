// What is pointed at, as a sentence.

import { make, say, weightText } from "./elements.js";
import { strongest } from "./looks.js";
import { sourceOf } from "./tasks.js";

export function readout(context, resting) {
  const element = make("p", { class: "readout" });
  const tell = (at) => {
    const matrix = context.matrix();
    const found = at && matrix && at.kind === context.kind() ? sourceOf(context.model).tell?.(context, matrix, at) ?? sentence(matrix, at) : null;
    element.replaceChildren(...(found ?? [make("span", { class: "quiet" }, resting())]));
    if (found) say(element.textContent);
  };
  context.pointing.listeners.add(tell);
  return { element, update: () => tell(context.pointing.at), leave: () => context.pointing.listeners.delete(tell) };
}

function sentence({ rows, columns, weights }, at) {
  const row = rows.findIndex((unit) => unit.at === at.row), column = columns.findIndex((unit) => unit.at === at.column);
  const quote = (unit) => make("q", {}, unit.label), number = (weight) => make("b", {}, weightText(weight));
  if (row < 0 && column < 0) return null;
  if (row >= 0 && column >= 0) return [quote(rows[row]), " looked at ", quote(columns[column]), " with weight ", number(weights[row][column])];
  const [unit, others, shares] = row >= 0 ? [rows[row], columns, weights[row]] : [columns[column], rows, weights.map((one) => one[column])];
  const list = strongest(others, shares).flatMap(([other, weight], place) => [place ? ", " : "", quote(other), " ", number(weight)]);
  const verb = row >= 0 ? " looked at " : " was looked at by ";
  return [quote(unit), verb, ...(list.length ? list : ["nothing in particular"])];
}
