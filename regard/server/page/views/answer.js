// The answer and the next best, with their scores.

import { button, logarithm, make, percent, renew } from "../elements.js";
import { lineMap } from "../drawing/lines.js";
import { readout } from "../readout.js";
import { differing } from "../differing.js";
import { pathPicture } from "../drawing/paths.js";
import { pictureStrip } from "../drawing/strip.js";
import { FUTURES } from "../controls.js";
import { marksOf, pathsOf } from "../pad.js";
import { pointsOf, pointText } from "../series.js";
import { sourceOf, taskOf } from "../tasks.js";

export const answerView = {
  id: "answer",
  title: (model) => taskOf(model).verb,
  // No more than the beam is wide: a search for more would be another one, with another answer.
  wants: ({ state, model }) => ({ best: model.answer.kind === "series" ? Math.min(state.best ?? FUTURES, model.limits.best)
    : Math.min(state.best ?? 3, state.beam ?? model.search.beam, model.limits.best) }),

  mount(context) {
    const said = readout(context, () => (!context.answer ? sourceOf(context.model).resting : !context.looks ? "This model looks at nothing: it answers from one fixed vector."
      : context.model.answer.kind === "series" ? "Circles show what all steps looked at. Point at a step to see its own look." : `Point at a word to see where it ${context.model.source.kind === "picture" ? "looked" : "came from"}.`));
    const list = make("ol", { class: "answers" });
    const examples = make("div", { class: "examples" });
    const element = make("div", {}, said.element, list, examples);

    const drawn = { list: null, examples: null };

    function drawList() {
      const answers = context.question.prediction?.answers ?? [], [best] = answers;
      const series = context.model.answer.kind === "series";
      const key = JSON.stringify([series, context.state.answer, answers.map(({ text, score, rank }) => [text, score, rank])]);
      if (key === drawn.list) return;
      drawn.list = key;
      list.classList.toggle("futures", series);
      list.hidden = answers.length < 2 || (series && answers.every((one) => one.text === best.text)); // a model that is sure draws no others
      renew(list, answers.map(series ? future : (answer, place) => {
        const chosen = place === context.state.answer;
        const bar = make("i", { class: "bar", "aria-hidden": "true" });
        bar.style.setProperty("--share", Math.exp(answer.score - best.score).toFixed(3));
        const row = rowOf(place, chosen);
        const text = make("span", { class: "text", dir: "auto" }, ...(place ? differing(answer.text, best.text) : [answer.text || "nothing"]));
        row.append(bar, text, make("span", { class: "share" }, percent(Math.exp(answer.score))), make("span", { class: "score" }, `log p ${logarithm(answer.score)}`, make("br"), `rank ${logarithm(answer.rank)}`));
        return make("li", {}, row);
      }));
    }

    const rowOf = (place, chosen) => button("", () => context.change({ answer: place, step: null }),
      { class: chosen ? "row chosen" : "row", "aria-pressed": String(chosen), "data-key": place });

    // The first takes the likeliest point at every step, the others draw theirs.
    function future(answer, place) {
      const chosen = place === context.state.answer, end = pointsOf(answer.text).at(-1);
      const row = rowOf(place, chosen);
      row.append(make("span", { class: "text" }, place ? `Drawn by chance, ${place}` : "Expected"), make("span", { class: "share" }, end ? `to ${pointText(end)}` : ""),
        make("span", { class: "score" }, `log-likelihood ${logarithm(answer.score)}`));
      return make("li", {}, row);
    }

    function drawExamples() {
      const all = context.model.examples ?? [], known = all.filter((text) => text !== context.state.input), source = sourceOf(context.model);
      const key = JSON.stringify([known, Boolean(context.state.input)]);
      if (key === drawn.examples) return;
      drawn.examples = key;
      const shown = known.slice(0, 4).map((text) => {
        const { example, name } = source, place = all.indexOf(text), label = name(text, place);
        const one = button("", () => context.change({ input: text, prefix: "", require: [], forbid: [], answer: 0, step: null }), { class: "example", dir: "auto", "aria-label": label, "data-key": place });
        one.append(example(text));
        return one;
      });
      renew(examples, shown.length ? [make("h2", {}, context.state.input ? "Or try" : "Try one of these"), ...shown] : []);
    }

    return { element, leave: said.leave, update() { said.update(); drawList(); drawExamples(); } };
  },

  picture: (context) => context.answer && PICTURES[context.model.source.kind](context),
};

const PICTURES = {
  // Source and answer side by side, with lines between the words.
  text: (context) => context.looks && lineMap(context.matrix(false), { room: 760, threshold: 0.08, stretch: true }).svg,
  picture: (context) => context.looks && pictureStrip(context, context.matrix(false), { room: 1100 }).svg,
  series(context) {
    const paths = pathsOf(context), { model, pointing: { at } } = context;
    const picture = pathPicture(model, paths);
    picture.show(marksOf(context, at?.row ?? -1), at?.row ?? -1);
    return picture.svg;
  },
};
