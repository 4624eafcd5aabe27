// What if: another piece at a step, a beginning, words that must or must not be there. The rest is decoded again.

import { button, make, renew } from "../elements.js";
import { textOfPieces } from "../pieces.js";
import { stepColumn, stepsPicture } from "../drawing/steps.js";

export const whatIfView = {
  id: "whatif",
  title: () => "What if",
  fits: (model) => model.answer.kind === "text",
  wants: () => ({}),
  mount,
  picture: ({ answer }) => answer?.alternatives?.length && stepsPicture({ pieces: answer.pieces, alternatives: answer.alternatives, scores: answer.piece_scores }),
};

function mount(context) {
  const { change } = context;
  const prefix = make("input", { type: "text", id: "prefix", autocomplete: "off", spellcheck: "false", dir: "auto", placeholder: "the first words", input: () => change({ prefix: prefix.value, answer: 0 }, { wait: true }) });
  const wish = (name, title, hint) => {
    const field = make("input", { type: "text", autocomplete: "off", spellcheck: "false", dir: "auto", placeholder: hint, id: `wish-${name}` });
    const add = () => {
      const text = field.value.trim();
      if (text && !context.state[name].includes(text)) change({ [name]: [...context.state[name], text], answer: 0 });
      field.value = "";
    };
    return make("form", { class: "wish", submit: (event) => { event.preventDefault(); add(); } },
      make("label", { for: field.id }, title), make("div", { class: "with" }, field, make("button", { type: "submit" }, "Add")));
  };
  const steps = make("ol", { class: "steps" });
  const hint = make("p", { class: "hint" });
  const element = make("div", { class: "card" },
    make("div", { class: "wish-forms" },
      make("div", { class: "wish" }, make("label", { for: "prefix" }, "Begin with"), make("div", { class: "with" }, prefix, button("Clear", () => change({ prefix: "", answer: 0 }), {}))),
      wish("require", "Must have", "a word or phrase"), wish("forbid", "Must not have", "a word or phrase")),
    steps, hint);

  let drawn = null;
  function drawSteps() {
    const { answer, state } = context, wanted = state.prefix.trim().length;
    const all = answer?.alternatives ? { pieces: answer.pieces, alternatives: answer.alternatives, scores: answer.piece_scores } : null;
    const key = JSON.stringify([all, wanted]);
    if (key === drawn) return;
    drawn = key;
    renew(steps, (all?.alternatives ?? []).map((_, step) => {
      const before = textOfPieces(all.pieces.slice(0, step)).trimStart().length;
      return stepColumn(all, step, context.instead, before < wanted ? step + 1 : step);
    }));
    hint.textContent = all ? "Each box is a step with its likeliest pieces. Choose another one, and the answer goes on from there." : "";
  }

  return {
    element,
    leave() {},
    update() {
      if (document.activeElement !== prefix || prefix.value.trim() === "") prefix.value = context.state.prefix;
      drawSteps();
    },
  };
}
