// Everything that is chosen on the page, as a link holds it.

const texts = ["model", "input", "to", "from", "view", "penalty", "prefix", "kind", "drawing", "other_model", "other_penalty"];
const numbers = ["beam", "best", "length_penalty", "no_repeat", "answer", "layer", "head", "threshold", "step",
  "other_beam", "other_length_penalty", "other_no_repeat"];
const switches = ["words", "special", "stretch"];
const lists = ["require", "forbid"];

export const BEGINNING = Object.freeze({
  ...Object.fromEntries([...texts, ...numbers, ...switches].map((name) => [name, null])),
  input: "", view: "answer", prefix: "", drawing: "map", kind: "cross", answer: 0, require: [], forbid: [],
});

const LONGEST = 6000; // characters of a link, so that every browser and every proxy takes it

// `kept` is what a link could not hold, as the browser's history has it.
export function fromLink(search, kept = null) {
  const given = new URLSearchParams(search);
  const state = { ...BEGINNING };
  for (const name of texts) if (given.has(name)) state[name] = given.get(name);
  for (const name of numbers) {
    const value = Number(given.get(name));
    if (given.get(name) && Number.isFinite(value) && value >= 0) state[name] = value;
  }
  for (const name of switches) if (given.has(name)) state[name] = given.get(name) === "1";
  for (const name of lists) state[name] = given.getAll(name).filter((text) => text.trim()).slice(0, 8);
  if (!state.input && typeof kept?.input === "string") state.input = kept.input;
  return state;
}

export const keptBeside = (state, link) => (state.input && !new URLSearchParams(link).has("input") ? { input: state.input } : null);

export function toLink(state) {
  const link = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) {
    if (lists.includes(name)) value.forEach((text) => link.append(name, text));
    else if (value !== BEGINNING[name] && value !== null) link.set(name, value === true ? "1" : value === false ? "0" : value);
  }
  let text = link.toString();
  if (text.length > LONGEST) {
    link.delete("input");
    text = link.toString();
  }
  return text ? `?${text}` : "";
}
