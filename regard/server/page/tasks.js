// What a task calls things, and how its sources are given. A task that is not here is about texts.

import { textComposer } from "./composer.js";

const TEXTS = { verb: "Answer", source: "Source", answer: "Answer", hint: "Type something", words: true, composer: textComposer };

const TASKS = {
  translation: { ...TEXTS, verb: "Translate", hint: "Type a sentence" },
  multilingual: { ...TEXTS, verb: "Translate", hint: "Type a sentence" },
  dates: { ...TEXTS, source: "Date", answer: "ISO date", hint: "Type a date, in any way you like", words: false },
  pronounce: { ...TEXTS, verb: "Pronounce", source: "Spelling", answer: "Sounds", hint: "Type a word", words: false },
};

export const taskOf = (model) => TASKS[model?.task] ?? TEXTS;

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });
export function languageName(code) {
  try { return names.of(code); } catch { return code; }
}

export const sourceName = (model, state) => {
  const known = model.languages.source;
  const language = model.to.length ? state.from : known.length === 1 ? known[0] : null;
  return language ? languageName(language) : taskOf(model).source;
};
export const answerName = (model, state) => {
  const language = model.to.length ? state.to : model.languages.target[0];
  return language ? languageName(language) : taskOf(model).answer;
};
