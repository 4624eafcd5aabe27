// What went wrong, in a box above everything. It is read out when it comes: while its clock runs, nothing in it changes but
// a number that is not.

import { button, make } from "./elements.js";
import { keepKey } from "./asking.js";

// `again` tries again at once, `keyed` goes on with the key that was given.
export function notice(text, { again = null, keyed = null } = {}) {
  const left = make("span", { "aria-hidden": "true" });
  const box = make("div", { class: "notice" }, make("p", {}, text, again ? [" Trying again", left, "."] : ""));
  if (again) box.append(button("Try now", again, { class: "tool" }));
  if (keyed) {
    const key = make("input", { type: "password", id: "key", autocomplete: "off" }), use = make("button", { type: "submit" }, "Use it");
    const submit = (event) => {
      event.preventDefault();
      keepKey(key.value);
      key.disabled = use.disabled = true; // what comes next is another form: nothing that is typed now would be in it
      keyed();
    };
    box.append(make("form", { class: "with", submit }, make("label", { for: "key" }, "Key"), key, use));
  }
  return { element: box, wait: (seconds) => { left.textContent = ` in ${seconds} s`; } };
}
