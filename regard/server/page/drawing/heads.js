// All layers and heads of a kind at a glance: a small map for each.

import { draw } from "../elements.js";
import { cells, largestOf } from "./heatmap.js";

export function headGrid(looks, { kind, words, special, room, stretch, threshold, layer, head, pick }) {
  const [layers, heads] = looks.shape(kind);
  const gap = 10, side = 54, top = 24;
  const each = Math.max(56, Math.min(190, (room - side) / heads - gap));
  const maps = [];
  for (let one = 0; one < layers; one++) {
    for (let two = 0; two < heads; two++) {
      const { weights, rows, columns } = looks.matrix({ kind, layer: one, head: two, words, special });
      const size = each / Math.max(rows.length, columns.length, 1);
      const x = side + two * (each + gap), y = top + one * (each + gap);
      const chosen = (layer ?? -1) === one && (head ?? -1) === two;
      const act = () => pick(one, two);
      maps.push(draw("g", {
        transform: `translate(${x} ${y})`, class: chosen ? "head chosen" : "head", role: "button", tabindex: 0,
        "aria-label": `Layer ${one}, head ${two}`, "aria-pressed": String(chosen), click: act,
        keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } },
      },
      draw("rect", { class: "frame", x: -2, y: -2, width: columns.length * size + 4, height: rows.length * size + 4, rx: 3 }),
      cells(weights, { size: Number(size.toFixed(3)), largest: stretch ? largestOf(weights) : 1, threshold })));
    }
  }
  const label = (text, x, y, anchor) => draw("text", { class: "name special", x, y, "text-anchor": anchor, "font-size": "12px" }, text);
  const width = Math.ceil(side + heads * (each + gap)), height = Math.ceil(top + layers * (each + gap));
  return draw("svg", { class: "picture", width, height, viewBox: `0 0 ${width} ${height}` },
    Array.from({ length: heads }, (_, at) => label(`head ${at}`, side + at * (each + gap), 14, "start")),
    Array.from({ length: layers }, (_, at) => label(`layer ${at}`, 0, top + at * (each + gap) + 12, "start")), maps);
}
