// The steps of an answer with what else was likely at each: buttons on the page, bars on a picture.

import { button, draw, labelOf, letters, make, percent } from "../elements.js";
import { typed } from "../pieces.js";

// One step: its likeliest pieces, the one that was taken among them. `take` is called with another that is chosen. An end is no
// beginning of an answer, nor is what can't be typed.
export function stepColumn({ pieces, alternatives, scores }, step, take, fixed = 0) {
  const taken = pieces[step] ?? "</s>";
  const known = alternatives[step] ?? [];
  const rows = known.some(({ piece }) => piece === taken) ? known : [...known, { piece: taken, probability: Math.exp(scores[step]) }];
  return make("li", { class: step < fixed ? "step fixed" : "step" },
    make("p", { class: "place" }, `${step + 1}`),
    make("ul", {}, rows.map(({ piece, probability }) => {
      const label = labelOf(piece), chosen = piece === taken;
      const forced = typed([...pieces.slice(0, step), piece]);
      const bar = make("i", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--share", Math.sqrt(probability).toFixed(3));
      const choice = button("", () => take(step, piece), {
        class: chosen ? "piece taken" : "piece", "aria-pressed": String(chosen), disabled: !forced || (piece === "</s>" && !chosen),
        "aria-label": `${label}, ${percent(probability)}${chosen ? ", taken" : ""}`, title: forced ? null : "Unknown, or part of a character: no answer can begin so",
        "data-key": `${step} ${piece}`,
      });
      choice.append(bar, make("span", { class: "what" }, label), make("span", { class: "share" }, percent(probability)));
      return make("li", {}, choice);
    })));
}

// The same as a picture.
export function stepsPicture({ pieces, alternatives, scores }) {
  const letter = 13, row = 24, gap = 16;
  let x = 4;
  const parts = [];
  alternatives.forEach((known, step) => {
    const taken = pieces[step] ?? "</s>";
    const rows = known.some(({ piece }) => piece === taken) ? known : [...known, { piece: taken, probability: Math.exp(scores[step]) }];
    const width = Math.max(80, ...rows.map(({ piece }) => letters(labelOf(piece)) * letter + 92));
    parts.push(draw("text", { class: "name special", x: x + 6, y: 14, "font-size": "11px" }, String(step + 1)));
    rows.forEach(({ piece, probability }, place) => {
      const y = 24 + place * row, chosen = piece === taken;
      parts.push(draw("rect", { class: chosen ? "likely taken" : "likely", x, y, width: (width * Math.sqrt(probability)).toFixed(1), height: row - 4, rx: 4 }));
      parts.push(draw("text", { class: chosen ? "name on" : "name", x: x + 6, y: y + 14.5, "font-size": `${letter}px` }, labelOf(piece)));
      parts.push(draw("text", { class: "name special", x: x + width - 4, y: y + 14.5, "font-size": "11px", "text-anchor": "end" }, percent(probability)));
    });
    x += width + gap;
  });
  const height = 30 + row * (1 + Math.max(0, ...alternatives.map((known) => known.length)));
  return draw("svg", { class: "picture", width: Math.ceil(x), height, viewBox: `0 0 ${Math.ceil(x)} ${height}` }, parts);
}
