// The source as it is typed, beside the answer. Pointing at a word of one side lights up the other.

import { button, make } from "./elements.js";
import { light } from "./lighting.js";
import { located, reply, withUnits } from "./reply.js";
import { languageName, sourceName, sourceTold, taskOf } from "./tasks.js";
import { select } from "./controls.js";

export function textComposer(context) {
  const { change, pointing } = context;
  const input = make("textarea", {
    id: "input", rows: 1, spellcheck: "false", autocomplete: "off", autocapitalize: "off", dir: "auto", "aria-describedby": "counter",
    input: () => change({ input: input.value, answer: 0, step: null }, { wait: true }),
    pointermove: (event) => pointing.point(overSource(event)),
    pointerleave: () => pointing.point(null),
    keyup: () => pointing.point(underCaret()),
    scroll: () => { shadow.scrollTop = input.scrollTop; },
  });
  const shadow = make("div", { class: "shadow", "aria-hidden": "true", dir: "auto" });
  const counter = make("p", { id: "counter", class: "counter", role: "status" });
  const name = make("label", { for: "input", class: "name" });
  const from = select("From", { options: languages("from"), get: () => context.state.from, set: (value) => change({ from: value }) });
  const to = select("Into", { options: languages("to"), get: () => context.state.to, set: (value) => change({ to: value, answer: 0 }) });
  const swap = button("⇄", () => context.swap(), { class: "plain swap", "aria-label": "Swap the languages", title: "Swap the languages" });
  const clear = button("Clear", () => { change({ input: "", prefix: "", answer: 0 }); input.focus(); }, { class: "plain" });
  const answer = reply(context, to.element);
  const element = make("div", { class: "sides" },
    make("div", { class: "side source" }, make("div", { class: "bar" }, name, from.element, clear), make("div", { class: "field" }, shadow, input), counter),
    swap, answer.element);

  function languages(side) {
    return () => {
      const known = side === "to" ? context.model.to : context.model.languages.source;
      return known.map((code) => [code, languageName(code)]);
    };
  }

  // ---- pointing

  let units = []; // of the source, with their places in the text

  function overSource(event) {
    const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    return caret && caret.offsetNode === input ? inSource(caret.offset) : null;
  }

  const underCaret = () => inSource(input.selectionStart);

  function inSource(offset) {
    const found = units.find(({ place }) => place && place[0] <= offset && offset <= place[1]);
    return found ? context.here("source", found.at) : null;
  }

  const marks = new Map(); // of the source, by unit
  const lit = (at) => light(context, at, { source: marks, target: answer.spans });
  pointing.listeners.add(lit);

  let drawn = null;
  function drawSource() {
    const { looks, state } = context;
    const key = JSON.stringify([looks?.record.source, context.words, state.input]);
    if (key === drawn) return;
    drawn = key;
    marks.clear();
    const fits = looks && (looks.record.source === state.input.trim() || looks.record.source === state.input);
    units = fits ? located(context, "source", state.input) : [];
    shadow.replaceChildren(...withUnits(state.input, units, (unit, text) => {
      const mark = make("mark", {}, text);
      marks.set(unit.at, mark);
      return mark;
    }), "\u200b");
  }

  function update() {
    const { state, model } = context;
    if (input.value !== state.input) input.value = state.input;
    name.textContent = sourceName(model, state);
    input.placeholder = taskOf(model).hint;
    const many = model.to.length > 0;
    answer.update();
    name.classList.toggle("unseen", many);
    answer.name.classList.toggle("unseen", many);
    from.element.hidden = to.element.hidden = !many;
    from.update();
    to.update();
    swap.hidden = !context.canSwap();
    clear.hidden = !state.input;
    drawSource();
    sourceTold(context, counter);
    lit(pointing.at);
  }

  return { element, update, leave: () => pointing.listeners.delete(lit) };
}
