// All layers and heads of a kind at a glance: a small map for each.

import { draw } from "../elements.js";
import { cells, largestOf } from "./heatmap.js";

export function headGrid(looks, { kind, words, special, room, stretch, threshold, layer, head, pick }) {
  const [layers, heads] = looks.shape(kind);
  const gap = 10, side = 54, top = 24;
  const each = Math.max(56, Math.min(190, (room - side) / heads - gap));
  const { rows, columns } = looks.matrix({ kind, layer: 0, head: 0, words, special });
  const size = each / Math.max(rows.length, columns.length, 1);
  const wide = Math.max(44, columns.length * size), high = Math.max(16, rows.length * size); // with room for a label
  const maps = [];
  for (let one = 0; one < layers; one++) {
    for (let two = 0; two < heads; two++) {
      const { weights } = looks.matrix({ kind, layer: one, head: two, words, special });
      const x = side + two * (wide + gap), y = top + one * (high + gap);
      const chosen = (layer ?? -1) === one && (head ?? -1) === two;
      const act = () => pick(one, two);
      maps.push(draw("g", {
        transform: `translate(${x} ${y})`, class: chosen ? "head chosen" : "head", role: "button", tabindex: 0,
        "aria-label": `Layer ${one}, head ${two}`, "aria-pressed": String(chosen), "data-key": `${one} ${two}`, click: act,
        keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } },
      },
      draw("rect", { class: "frame", x: -2, y: -2, width: columns.length * size + 4, height: rows.length * size + 4, rx: 3 }),
      cells(weights, { size: Number(size.toFixed(3)), largest: stretch ? largestOf(weights) : 1, threshold })));
    }
  }
  const label = (text, x, y, anchor) => draw("text", { class: "name special", x, y, "text-anchor": anchor, "font-size": "12px" }, text);
  const width = Math.ceil(side + heads * (wide + gap)), height = Math.ceil(top + layers * (high + gap));
  return draw("svg", { class: "picture", width, height, viewBox: `0 0 ${width} ${height}` },
    Array.from({ length: heads }, (_, at) => label(`head ${at}`, side + at * (wide + gap), 14, "start")),
    Array.from({ length: layers }, (_, at) => label(`layer ${at}`, 0, top + at * (high + gap) + 12, "start")), maps);
}
