
// What the scripts of stand-alone pages share: elements, and what a reader can choose.
const byId = (id) => document.getElementById(id);
const make = (tag, className, text) => {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

// A form whose choices are kept in `state`; each of them calls `act`.
function controls(form, state) {
  form.addEventListener("submit", (event) => event.preventDefault());
  return {
    // One of `count` layers or heads, or their mean; nothing where there is one alone.
    picker(title, key, count, act) {
      if (count < 2) return;
      const set = make("fieldset"), choices = make("div", "choices");
      set.append(make("legend", "", title), choices);
      [null, ...Array(count).keys()].forEach((value) => {
        const choice = make("label"), radio = make("input");
        Object.assign(radio, { type: "radio", name: key, checked: value === null, autocomplete: "off" });
        radio.addEventListener("change", () => { state[key] = value; act(); });
        choice.append(radio, make("span", "", value === null ? "Mean" : String(value)));
        choices.append(choice);
      });
      form.append(set);
      form.hidden = false;
    },
    toggle(title, key, act) {
      const choice = make("label", "switch"), box = make("input");
      Object.assign(box, { type: "checkbox", checked: state[key], autocomplete: "off" });
      box.addEventListener("change", () => { state[key] = box.checked; act(); });
      choice.append(box, make("span", "", title));
      form.append(choice);
    },
  };
}
