// The picture once for each word, in the light of its look; or once for each layer and head.

import { draw } from "../elements.js";
import { lightUrl } from "../light.js";

const GAP = 12, LABEL = 22;

function panel(context, look, { x, y, side, label, attributes }) {
  const { grid } = context.model.source, { input } = context.state;
  const url = context.framed?.input === input ? context.framed.url : context.looks.record.source;
  const place = { x, y, width: side, height: side, preserveAspectRatio: "none" };
  return draw("g", attributes, draw("image", { ...place, href: url }), draw("image", { ...place, href: lightUrl(look, grid) }),
    draw("rect", { class: "edge-of", x, y, width: side, height: side }),
    label === undefined ? null : draw("text", { class: "name", x: x + side / 2, y: y + side + 15, "text-anchor": "middle", "font-size": "14px" }, label));
}

export function pictureStrip(context, matrix, { room, until = null, most = 200 }) {
  const { rows, weights } = matrix;
  const across = Math.max(1, Math.min(rows.length, Math.floor((room + GAP) / (0.8 * Math.min(most, 128) + GAP))));
  const side = Math.floor(Math.min(most, (room + GAP) / across - GAP));
  const place = (at) => [(at % across) * (side + GAP), Math.floor(at / across) * (side + LABEL + GAP)];
  const panels = rows.map(({ label }, at) => {
    const [x, y] = place(at);
    return panel(context, [...weights[at]], { x: x + 1, y: y + 1, side, label, attributes: { class: "panel-of", opacity: until !== null && at >= until ? 0.2 : 1 } });
  });
  const width = across * (side + GAP) - GAP + 2, height = Math.ceil(rows.length / across) * (side + LABEL + GAP);
  const svg = draw("svg", { class: "picture strip", width, height, viewBox: `0 0 ${width} ${height}` }, panels);

  function at(event) {
    const bounds = svg.getBoundingClientRect(), scale = width / bounds.width;
    const x = (event.clientX - bounds.left) * scale, y = (event.clientY - bounds.top) * scale;
    const row = rows.findIndex((_, one) => { const [left, top] = place(one); return x >= left && x <= left + side && y >= top && y <= top + side + LABEL; });
    return row < 0 ? null : { row };
  }

  return {
    svg, at, sideways: true,
    show: (row) => panels.forEach((one, place) => one.classList.toggle("on", place === row)),
    corner: (row) => [...place(row), side],
  };
}

// Of one word, or of all in the mean.
export function pictureHeads(context, { room, step, pick }) {
  const { looks, state } = context, [layers, heads] = looks.shape("cross"), left = 54, top = 24;
  const side = Math.max(64, Math.min(190, (room - left) / heads - GAP));
  const maps = [];
  for (let one = 0; one < layers; one++) {
    for (let two = 0; two < heads; two++) {
      const { weights } = looks.matrix({ kind: "cross", layer: one, head: two, words: context.words, special: false });
      const chosen = step === null ? weights : [weights[step]];
      const look = chosen[0].map((_, cell) => chosen.reduce((sum, row) => sum + row[cell], 0) / chosen.length);
      const act = () => pick(one, two), on = state.layer === one && state.head === two;
      maps.push(panel(context, look, { x: left + two * (side + GAP), y: top + one * (side + GAP), side, attributes: {
        class: on ? "head chosen" : "head", role: "button", tabindex: 0, "aria-label": `Layer ${one}, head ${two}`, "aria-pressed": String(on), "data-key": `${one} ${two}`, click: act,
        keydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } },
      } }));
    }
  }
  const name = (text, x, y) => draw("text", { class: "name special", x, y, "font-size": "12px" }, text);
  const width = Math.ceil(left + heads * (side + GAP)), height = Math.ceil(top + layers * (side + GAP));
  return draw("svg", { class: "picture", width, height, viewBox: `0 0 ${width} ${height}` },
    Array.from({ length: heads }, (_, at) => name(`head ${at}`, left + at * (side + GAP), 14)),
    Array.from({ length: layers }, (_, at) => name(`layer ${at}`, 0, top + at * (side + GAP) + 12)), maps);
}
