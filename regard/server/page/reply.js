// The answer as it comes. Its words or steps can be pointed at, and are walked by arrow keys.

import { button, logarithm, make, percent } from "./elements.js";
import { copy } from "./saving.js";
import { places } from "./looks.js";
import { answerName, answerOf } from "./tasks.js";

// The text with an element for each unit that stands in it.
export function withUnits(text, all, element) {
  const parts = [];
  let from = 0;
  for (const unit of all) {
    if (!unit.place) continue;
    if (unit.place[0] > from) parts.push(text.slice(from, unit.place[0]));
    parts.push(element(unit, text.slice(...unit.place)));
    from = unit.place[1];
  }
  return [...parts, text.slice(from)];
}

export function located(context, side, text) {
  const all = context.looks.units(side, context.words);
  const found = places(all, text);
  return all.map((unit, at) => ({ ...unit, place: found[at] }));
}

// `tools` stand in its bar; `update` tells whether the answer was drawn anew.
export function reply(context, ...tools) {
  const { pointing } = context;
  const spans = new Map(); // by unit
  const name = make("h2", { class: "name", id: "answer-name" });
  const answer = make("div", { id: "answer", class: "reply", dir: "auto", "aria-live": "off" });
  const facts = make("p", { class: "facts" });
  const copying = button("Copy", () => copy(context.answer?.text ?? "", copying), { class: "plain" });
  const element = make("div", { class: "side target" }, make("div", { class: "bar" }, name, ...tools, copying), answer, facts);

  function movedBy(event) {
    const all = [...spans.values()], at = all.indexOf(event.target);
    const steps = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const next = all[Math.max(0, Math.min(all.length - 1, steps[event.key]))];
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
  const pointedAt = (event) => (event.target.dataset?.at === undefined ? null : context.here("target", Number(event.target.dataset.at)));
  answer.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") pointing.point(pointedAt(event)); });
  answer.addEventListener("pointerleave", () => pointing.point(null));
  answer.addEventListener("focusin", (event) => pointing.point(pointedAt(event)));
  answer.addEventListener("focusout", () => pointing.point(null));
  answer.addEventListener("click", (event) => { const at = pointedAt(event); if (at) pointing.hold(at); });
  answer.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && pointedAt(event)) pointing.hold(pointedAt(event));
    movedBy(event);
  });

  const unitSpan = (unit, text) => {
    const span = make("span", { class: "unit", role: "option", "aria-selected": "false", tabindex: spans.size ? -1 : 0, "data-at": unit.at }, text);
    spans.set(unit.at, span);
    return span;
  };

  let drawn = null;
  function drawText() {
    const { looks, question, answer: shown, model } = context;
    const key = JSON.stringify([looks?.record.source, shown?.text, context.words, question.growing, question.busy, question.problem?.message, Boolean(looks), model.name]);
    if (key === drawn) return;
    drawn = key;
    spans.clear();
    answer.classList.toggle("busy", question.busy || question.problem !== null);
    answer.classList.toggle("growing", question.growing !== null);
    for (const attribute of ["role", "aria-label"]) answer.removeAttribute(attribute);
    const { shape, units } = answerOf(model);
    if (question.growing !== null) answer.replaceChildren(...shape(question.growing));
    else if (!shown) answer.replaceChildren();
    else if (!looks) answer.replaceChildren(...shape(shown.text));
    else {
      answer.replaceChildren(...units(context, shown.text, unitSpan));
      if (spans.size) {
        answer.setAttribute("role", "listbox");
        answer.setAttribute("aria-label", `${answerOf(model).unit} of the answer`);
      }
    }
  }

  function drawFacts() {
    const { answer: shown, question, model } = context;
    facts.replaceChildren();
    if (!shown || question.growing !== null) return;
    facts.append(...answerOf(model).facts(shown));
    if (!shown.finished) facts.append(fact("cut off at the", "longest length"));
  }

  function update() {
    name.textContent = answerName(context.model, context.state);
    copying.hidden = !context.answer;
    drawText();
    drawFacts();
  }

  return { element, answer, name, spans, update };
}

export const fact = (name, value) => make("span", {}, `${name} `, make("b", {}, value));

export const textFacts = ({ score }) => (score === null || score === undefined ? [] : [
  fact("probability", percent(Math.exp(score))), fact("log-probability", logarithm(score)),
]);
