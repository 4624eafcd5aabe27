// The answer and the next best, with their scores.

import { button, logarithm, make, percent } from "../elements.js";
import { lineMap } from "../drawing/lines.js";
import { readout } from "../readout.js";
import { differing } from "../differing.js";
import { taskOf } from "../tasks.js";

export const answerView = {
  id: "answer",
  title: (model) => taskOf(model).verb,
  // No more than the beam is wide: a search for more would be another one, with another answer.
  wants: ({ state, model }) => ({ best: Math.min(state.best ?? 3, state.beam ?? model.search.beam, model.limits.best) }),

  mount(context) {
    const said = readout(context, () => (!context.answer ? "The answer grows while you type. Then point at one of its words to see where it came from." : context.looks ? "Point at a word to see where it came from." : "This model looks at nothing: it answers from one fixed vector."));
    const list = make("ol", { class: "answers" });
    const examples = make("div", { class: "examples" });
    const element = make("div", {}, said.element, list, examples);

    function drawList() {
      const answers = context.question.prediction?.answers ?? [];
      const [best] = answers;
      list.hidden = answers.length < 2;
      list.replaceChildren(...answers.map((answer, place) => {
        const chosen = place === context.state.answer;
        const bar = make("i", { class: "bar", "aria-hidden": "true" });
        bar.style.setProperty("--share", Math.exp(answer.score - best.score).toFixed(3));
        const row = button("", () => context.change({ answer: place, step: null }), { class: chosen ? "row chosen" : "row", "aria-pressed": String(chosen) });
        const text = make("span", { class: "text", dir: "auto" }, ...(place ? differing(answer.text, best.text) : [answer.text || "nothing"]));
        row.append(bar, text, make("span", { class: "share" }, percent(Math.exp(answer.score))), make("span", { class: "score" }, `log p ${logarithm(answer.score)}`, make("br"), `rank ${logarithm(answer.rank)}`));
        return make("li", {}, row);
      }));
    }

    function drawExamples() {
      const known = (context.model.examples ?? []).filter((text) => text !== context.state.input);
      examples.replaceChildren();
      if (!known.length) return;
      examples.append(make("h2", {}, context.state.input ? "Or try" : "Try one of these"),
        ...known.slice(0, 4).map((text) => button(text, () => context.change({ input: text, prefix: "", require: [], forbid: [], answer: 0 }), { class: "example", dir: "auto" })));
    }

    return { element, leave: said.leave, update() { said.update(); drawList(); drawExamples(); } };
  },

  // Source and answer side by side, with lines between the words.
  picture: (context) => context.looks && lineMap(context.matrix(false), { room: 760, threshold: 0.08, stretch: true }).svg,
};
