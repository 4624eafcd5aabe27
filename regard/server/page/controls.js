// Controls that follow the state: each has an element and an update.

import { button, make } from "./elements.js";

export const FUTURES = 6; // of a series, unless another number is chosen

let count = 0;

// A row of radio buttons. `options()` gives [value, title] pairs; with fewer than two there is nothing to choose.
export function choices(title, { options, get, set }) {
  const name = `choice-${count++}`;
  const box = make("div", { class: "choices" });
  const element = make("fieldset", {}, make("legend", {}, title), box);
  let known = "";
  return {
    element,
    update() {
      const all = options(), signature = JSON.stringify(all);
      element.hidden = all.length < 2;
      if (signature !== known) {
        known = signature;
        box.replaceChildren(...all.map(([value, label]) => make("label", {},
          make("input", { type: "radio", name, autocomplete: "off", value: String(value), change: () => set(value) }), make("span", {}, label))));
      }
      box.querySelectorAll("input").forEach((input, at) => { input.checked = all[at][0] === get(); });
    },
  };
}

export function toggle(title, { get, set, fits = () => true }) {
  const input = make("input", { type: "checkbox", autocomplete: "off", change: () => set(input.checked) });
  const element = make("label", { class: "switch" }, input, make("span", {}, title));
  return { element, update: () => { input.checked = get(); element.hidden = !fits(); } };
}

export function slider(title, { get, set, max, step, shown, fits = () => true }) {
  const output = make("output", {});
  const input = make("input", { type: "range", min: 0, max, step, autocomplete: "off", input: () => set(Number(input.value)) });
  const element = make("label", { class: "slider" }, make("span", {}, title), input, output);
  return {
    element,
    update() {
      element.hidden = !fits();
      input.value = get();
      output.textContent = shown(get());
    },
  };
}

// A number that may be left empty: then the model's own holds.
export function number(title, { get, set, fallback, min, max, step = 1 }) {
  const input = make("input", {
    type: "number", min, step, autocomplete: "off",
    change: () => set(input.value === "" || !input.validity.valid ? null : Number(input.value)),
  });
  return {
    element: make("label", { class: "number" }, make("span", {}, title), input),
    update() {
      input.max = max();
      input.placeholder = String(fallback());
      if (document.activeElement !== input) input.value = get() ?? "";
    },
  };
}

export function select(title, { options, get, set, attributes = {} }) {
  const input = make("select", { autocomplete: "off", ...attributes, change: () => set(options()[input.selectedIndex][0]) });
  let known = "";
  return {
    element: make("label", { class: "pick" }, make("span", {}, title), input),
    update() {
      const all = options(), signature = JSON.stringify(all);
      if (signature !== known) {
        known = signature;
        input.replaceChildren(...all.map(([, label]) => make("option", {}, label)));
      }
      input.selectedIndex = all.findIndex(([value]) => value === get());
    },
  };
}

// A button with a panel that opens below it.
export function menu(title, id, ...content) {
  const panel = make("div", { popover: "auto", class: "panel", id }, ...content);
  const opener = button(title, () => {}, { popovertarget: id, class: "tool" });
  panel.addEventListener("beforetoggle", (event) => {
    if (event.newState !== "open") return;
    const place = opener.getBoundingClientRect();
    panel.style.setProperty("top", `${place.bottom + scrollY + 6}px`);
    panel.style.setProperty("right", `${Math.max(8, document.documentElement.clientWidth - place.right)}px`);
  });
  return { element: make("div", { class: "menu" }, opener, panel), panel };
}

// What changes how a model searches; `other_` for the second of two.
export function searchSettings(context, { prefix = "", several = true, modelOf = () => context.model } = {}) {
  const { change } = context;
  const of = (name) => ({ get: () => context.state[prefix + name], set: (value) => change({ [prefix + name]: value, answer: 0 }) });
  const ofPieces = (control) => ({ ...control, fits: () => modelOf().answer.kind === "text" });
  const beam = () => Math.min(context.state[`${prefix}beam`] ?? modelOf().search.beam, modelOf().limits.best);
  const futures = {
    ...number("Futures", { ...of("best"), fallback: () => FUTURES, min: 1, max: () => modelOf().limits.best }), fits: () => several && modelOf().answer.kind === "series",
  };
  const all = [
    number("Beam", { ...of("beam"), fallback: () => modelOf().search.beam, min: 1, max: () => modelOf().limits.beam }),
    ...(!several ? [] : [number("Answers", { ...of("best"), fallback: () => Math.min(3, beam()), min: 1, max: beam })]),
    number("Length penalty", { ...of("length_penalty"), fallback: () => modelOf().search.length_penalty, min: 0, max: () => 10, step: 0.1 }),
    select("Lengths are compared", {
      ...of("penalty"),
      options: () => [[null, `as configured (${modelOf().search.penalty})`], ["gnmt", "gnmt"], ["average", "average"]],
    }),
    number("Never repeat pieces", { ...of("no_repeat"), fallback: () => modelOf().search.no_repeat, min: 0, max: () => 20 }),
  ];
  const both = [...all.map(ofPieces), futures];
  const none = make("p", { class: "quiet" }, "Nothing to choose: points are said one after the other.");
  return {
    element: make("div", { class: "settings" }, both.map(({ element }) => element), none),
    update() {
      const fitting = both.filter((one) => one.fits());
      both.forEach((one) => { one.element.hidden = !one.fits(); });
      none.hidden = fitting.length > 0 || !several;
      fitting.forEach((one) => one.update());
    },
  };
}
