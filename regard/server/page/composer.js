// The source as it is typed and the answer as it comes. Pointing at a word of one side lights up the other.

import { button, logarithm, make, percent } from "./elements.js";
import { copy } from "./saving.js";
import { level, shade } from "./colours.js";
import { places, sidesOf } from "./looks.js";
import { answerName, languageName, sourceName, taskOf } from "./tasks.js";
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
  const answer = make("div", { id: "answer", class: "reply", dir: "auto", "aria-live": "off" });
  const facts = make("p", { class: "facts" });
  const names = { source: make("label", { for: "input", class: "name" }), answer: make("h2", { class: "name", id: "answer-name" }) };
  const from = select("From", { options: languages("from"), get: () => context.state.from, set: (value) => change({ from: value }) });
  const to = select("Into", { options: languages("to"), get: () => context.state.to, set: (value) => change({ to: value, answer: 0 }) });
  const swap = button("⇄", () => context.swap(), { class: "plain swap", "aria-label": "Swap the languages", title: "Swap the languages" });
  const clear = button("Clear", () => { change({ input: "", prefix: "", answer: 0 }); input.focus(); }, { class: "plain" });
  const copying = button("Copy", () => copy(context.answer?.text ?? "", copying), { class: "plain" });
  const element = make("div", { class: "sides" },
    make("div", { class: "side source" }, make("div", { class: "bar" }, names.source, from.element, clear), make("div", { class: "field" }, shadow, input), counter),
    swap,
    make("div", { class: "side target" }, make("div", { class: "bar" }, names.answer, to.element, copying), answer, facts));

  function languages(side) {
    return () => {
      const known = side === "to" ? context.model.to : context.model.languages.source;
      return known.map((code) => [code, languageName(code)]);
    };
  }

  // ---- pointing

  const units = { source: [], target: [] }; // with their places in the texts

  function here(side, at) {
    const [rowSide, columnSide] = sidesOf(context.kind());
    if (rowSide === side) return { kind: context.kind(), row: at };
    return columnSide === side ? { kind: context.kind(), column: at } : null;
  }

  function overSource(event) {
    const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    return caret && caret.offsetNode === input ? inSource(caret.offset) : null;
  }

  const underCaret = () => inSource(input.selectionStart);

  function inSource(offset) {
    const found = units.source.find(({ place }) => place && place[0] <= offset && offset <= place[1]);
    return found ? here("source", found.at) : null;
  }

  const spans = new Map(); // of the answer, by unit
  const marks = new Map(); // of the source
  pointing.listeners.add(light);

  function light(at) {
    for (const element of [...spans.values(), ...marks.values()]) {
      element.classList.remove("chosen");
      element.style.removeProperty("background-color");
      if (element.role === "option") element.setAttribute("aria-selected", "false");
    }
    const matrix = context.matrix();
    if (!at || !matrix || at.kind !== context.kind()) return;
    const { rows, columns, weights } = matrix;
    const row = rows.findIndex((unit) => unit.at === at.row), column = columns.findIndex((unit) => unit.at === at.column);
    const of = (side) => (side === "source" ? marks : spans);
    const choose = (side, unit) => {
      const element = of(side).get(unit.at);
      element?.classList.add("chosen");
      if (element?.role === "option") element.setAttribute("aria-selected", "true");
    };
    if (row >= 0) {
      glow(of(matrix.columnSide), columns, weights[row]);
      choose(matrix.rowSide, rows[row]);
    } else if (column >= 0) glow(of(matrix.rowSide), rows, weights.map((one) => one[column]));
    if (column >= 0) choose(matrix.columnSide, columns[column]);
  }

  // Only the lower half of the scale, on which letters can still be read.
  function glow(elements, others, weights) {
    const largest = Math.max(...weights.filter(Number.isFinite), 0.05);
    others.forEach(({ at }, place) => {
      if (weights[place] > 0.12 * largest) elements.get(at)?.style.setProperty("background-color", shade(level((weights[place] / largest) * 0.5)));
    });
  }

  function movedBy(event) {
    const all = [...answer.querySelectorAll(".unit")], at = all.indexOf(event.target);
    const steps = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const next = all[Math.max(0, Math.min(all.length - 1, steps[event.key]))];
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
  const pointedAt = (event) => (event.target.dataset?.at === undefined ? null : here("target", Number(event.target.dataset.at)));
  answer.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") pointing.point(pointedAt(event)); });
  answer.addEventListener("pointerleave", () => pointing.point(null));
  answer.addEventListener("focusin", (event) => pointing.point(pointedAt(event)));
  answer.addEventListener("focusout", () => pointing.point(null));
  answer.addEventListener("click", (event) => { const at = pointedAt(event); if (at) pointing.hold(at); });
  answer.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && pointedAt(event)) pointing.hold(pointedAt(event));
    movedBy(event);
  });

  // ---- texts

  // The text with an element for each unit that stands in it.
  function withUnits(text, all, element) {
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

  const located = (side, text) => {
    const all = context.looks.units(side, context.words);
    const found = places(all, text);
    return all.map((unit, at) => ({ ...unit, place: found[at] }));
  };

  let drawn = null;
  function drawTexts() {
    const { looks, question, state, answer: shown } = context;
    const key = JSON.stringify([looks?.record.source, shown?.text, context.words, question.growing, question.busy, question.problem?.message, state.input, Boolean(looks)]);
    if (key === drawn) return;
    drawn = key;
    spans.clear();
    marks.clear();
    const fits = looks && looks.record.source === state.input.trim() || looks?.record.source === state.input;
    units.source = fits ? located("source", state.input) : [];
    shadow.replaceChildren(...withUnits(state.input, units.source, (unit, text) => {
      const mark = make("mark", {}, text);
      marks.set(unit.at, mark);
      return mark;
    }), "\u200b");
    answer.classList.toggle("busy", question.busy || question.problem !== null);
    answer.classList.toggle("growing", question.growing !== null);
    for (const name of ["role", "aria-label"]) answer.removeAttribute(name);
    if (question.growing !== null) answer.replaceChildren(question.growing);
    else if (!shown) answer.replaceChildren();
    else if (!looks) answer.replaceChildren(shown.text);
    else {
      units.target = located("target", shown.text);
      answer.replaceChildren(...withUnits(shown.text, units.target, (unit, text) => {
        const span = make("span", { class: "unit", role: "option", "aria-selected": "false", tabindex: spans.size ? -1 : 0, "data-at": unit.at }, text);
        spans.set(unit.at, span);
        return span;
      }));
      if (spans.size) {
        answer.setAttribute("role", "listbox");
        answer.setAttribute("aria-label", "Words of the answer");
      }
    }
  }

  function drawFacts() {
    const { answer: shown, question } = context;
    facts.replaceChildren();
    if (!shown || question.growing !== null) return;
    const fact = (name, value) => facts.append(make("span", {}, `${name} `, make("b", {}, value)));
    if (shown.score !== null && shown.score !== undefined) {
      fact("probability", percent(Math.exp(shown.score)));
      fact("log-probability", logarithm(shown.score));
    }
    if (!shown.finished) fact("cut off at the", "longest length");
  }

  function drawCounter() {
    const { question, model, state } = context;
    const [, found] = (question.problem?.field === "inputs.0" && /has (\d+) pieces/.exec(question.problem.message)) || [];
    const count = found ?? (state.input ? question.prediction?.source_pieces : 0);
    counter.classList.toggle("over", Boolean(found));
    counter.textContent = found ? `${found} of ${model.limits.pieces} pieces: too long. Make it shorter.`
      : count === undefined || count === null ? `at most ${model.limits.pieces} pieces` : `${count} of ${model.limits.pieces} pieces`;
  }

  function update() {
    const { state, model } = context;
    if (input.value !== state.input) input.value = state.input;
    names.source.textContent = sourceName(model, state);
    names.answer.textContent = answerName(model, state);
    input.placeholder = taskOf(model).hint;
    const many = model.to.length > 0;
    names.source.classList.toggle("unseen", many);
    names.answer.classList.toggle("unseen", many);
    from.element.hidden = to.element.hidden = !many;
    from.update();
    to.update();
    swap.hidden = !context.canSwap();
    clear.hidden = !state.input;
    copying.hidden = !context.answer;
    drawTexts();
    drawFacts();
    drawCounter();
    light(pointing.at);
  }

  return { element, update };
}
