// What a task calls things, and how a kind of source or answer is given and shown. A task that is not here is about texts.

import { make } from "./elements.js";
import { textComposer } from "./composer.js";
import { pictureComposer } from "./picture.js";
import { seriesComposer } from "./pad.js";
import { exampleOf as exampleSeries, pointWords, seriesFacts, stepUnits } from "./series.js";
import { tellPicture } from "./light.js";
import { tellSeries } from "./telling.js";
import { located, textFacts, withUnits } from "./reply.js";

const TEXTS = { verb: "Answer", source: "Source", answer: "Answer", hint: "Type something", words: true };

const TASKS = {
  translation: { ...TEXTS, verb: "Translate", hint: "Type a sentence" },
  multilingual: { ...TEXTS, verb: "Translate", hint: "Type a sentence" },
  dates: { ...TEXTS, source: "Date", answer: "ISO date", hint: "Type a date, in any way you like", words: false },
  pronounce: { ...TEXTS, verb: "Pronounce", source: "Spelling", answer: "Sounds", hint: "Type a word", words: false },
  captions: { ...TEXTS, verb: "Describe", source: "Picture", answer: "Caption" },
  forecast: { ...TEXTS, verb: "Forecast", source: "Path", answer: "Predicted", words: false },
};

export const taskOf = (model) => TASKS[model?.task] ?? TEXTS;

// ---- kinds of sources

const SOURCES = {
  text: {
    composer: textComposer,
    empty: "Type something above, and this view fills.",
    resting: "The answer grows while you type. Then point at one of its words to see where it came from.",
    told: (input) => input,
    example: (text) => text,
    name: (text) => text,
    looks: ["cross", "encoder", "decoder"],
  },
  picture: {
    composer: pictureComposer,
    empty: "Choose a picture above, and this view fills.",
    resting: "Drop a picture, paste one or choose a file. Then point at a word to see where it looked.",
    told: () => "a picture",
    example: (url) => (isPicture(url) ? make("img", { src: url, alt: "", width: 72, height: 72 }) : "a picture"),
    name: (url, place) => `Example ${place + 1}`,
    looks: ["cross", "decoder"], // what cells make of each other can't be read
    tell: tellPicture,
    heavy: "A picture does not fit into a link: this one holds all else.",
  },
  series: {
    composer: seriesComposer,
    empty: "Draw a path above, and this view fills.",
    resting: "Draw a path, or give its points. Then point at a predicted step to see what it looked at.",
    told: (input) => input,
    example: exampleSeries,
    name: (text, place) => `Example ${place + 1}`,
    looks: ["cross", "context", "encoder", "decoder"],
    tell: tellSeries,
  },
};

export const sourceOf = (model) => SOURCES[model.source.kind];
export const isPicture = (url) => /^data:image\/[\w.+-]+;base64,/i.test(url);

// ---- kinds of answers

const ANSWERS = {
  text: {
    unit: "Words",
    shape: (text) => [text],
    units: (context, text, element) => withUnits(text, located(context, "target", text), element),
    facts: textFacts,
  },
  series: { unit: "Steps", shape: (text) => [pointWords(text)], units: stepUnits, facts: seriesFacts },
};

export const answerOf = (model) => ANSWERS[model.answer.kind];
export const comparable = (one, other) => one.source.kind === other.source.kind && one.answer.kind === other.answer.kind
  && one.source.values === other.source.values && one.source.context === other.source.context;

// How much of the source there is, or what is wrong with it.
export function sourceTold({ question, model, state }, counter, about = "") {
  const problem = question.problem?.field === "inputs.0" ? question.problem : null, wrong = problem?.message ?? null;
  const { limits: { pieces: most }, source: { unit } } = model;
  const found = problem?.most === most ? problem.found : undefined; // its letters and its phrases have other limits
  const count = state.input ? question.prediction?.source_pieces : 0;
  counter.classList.toggle("over", wrong !== null);
  counter.textContent = found !== undefined ? `${found} of ${most} ${unit}: too long. Make it shorter.`
    : wrong ? wrong.replace(/^Input 0: (.)/, (_, first) => first.toUpperCase())
      : about || (count === undefined || count === null ? `at most ${most} ${unit}` : `${count} of ${most} ${unit}`);
}

// ---- languages

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
