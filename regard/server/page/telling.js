// What a predicted step looked at, as a sentence: in the series and in what stands beside it.

import { make, weightText } from "./elements.js";
import { strongest } from "./looks.js";

const PLACES = { cross: " looked at ", context: " in the context at " };

export function tellSeries(context, { rowSide, rows }, at) {
  const row = rows.find((unit) => unit.at === at.row);
  if (rowSide !== "target" || !row || at.column !== undefined) return null;
  const { looks, state } = context;
  const parts = Object.entries(PLACES).filter(([kind]) => looks.kinds.includes(kind)).flatMap(([kind, words], place) => {
    const { columns, weights } = looks.matrix({ kind, layer: state.layer, head: state.head });
    const found = strongest(columns, weights[row.at], 3);
    return [place ? ";" : "", words, ...(found.length ? found.flatMap(([unit, weight], one) => [one ? ", " : "", make("q", {}, unit.label), " ", make("b", {}, weightText(weight))]) : ["nothing in particular"])];
  });
  return ["Step ", make("q", {}, row.label), ...parts];
}
