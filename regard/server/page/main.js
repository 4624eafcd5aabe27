// The page: its state, the question to the server, and the views that show the answer.

import { hasKey, models as fetchModels } from "./asking.js";
import { themes } from "./colours.js";
import { menu, searchSettings, select } from "./controls.js";
import { button, byId, make, renew } from "./elements.js";
import { Looks, plainKind, sidesOf } from "./looks.js";
import { notice } from "./notice.js";
import { textOfPieces } from "./pieces.js";
import { Pointing } from "./pointing.js";
import { Question } from "./question.js";
import { copy, FORMATS, save } from "./saving.js";
import { fromLink, keptBeside, toLink } from "./state.js";
import { languageName, sourceOf, taskOf } from "./tasks.js";
import { answerView } from "./views/answer.js";
import { attentionView } from "./views/attention.js";
import { beamView } from "./views/beam.js";
import { compareView } from "./views/compare.js";
import { whatIfView } from "./views/whatif.js";

const VIEWS = [answerView, attentionView, whatIfView, beamView, compareView];
const ALTERNATIVES = 6;

class Page {
  constructor(models) {
    this.models = models;
    this.state = fromLink(location.search, history.state);
    this.inputs = {}; // the last one of each kind of source
    this.pointing = new Pointing();
    this.change = (patch, options) => this.set(patch, options);
    this.instead = (step, piece) => this.takeInstead(step, piece);
    this.kind = () => this.shownKind();
    this.question = new Question(() => this.changed());
    this.settle();
  }

  get model() {
    return this.models.find(({ name }) => name === this.state.model) ?? this.models[0];
  }

  get views() {
    return VIEWS.filter((view) => view.fits?.(this.model) ?? true);
  }

  get view() {
    return this.views.find(({ id }) => id === this.state.view) ?? answerView;
  }

  get words() {
    return this.state.words ?? taskOf(this.model).words;
  }

  get answer() {
    const answers = this.question.prediction?.answers;
    return this.question.prediction?.problem ? null : answers?.[this.state.answer] ?? answers?.[0] ?? null;
  }

  get looks() {
    const record = this.answer?.attention;
    if (!record || !Object.keys(record.attention).length) return null;
    if (this.known?.record !== record) this.known = new Looks(record, { numbered: this.model.answer.kind === "series" });
    return this.known;
  }

  // The kind of looks that is shown: those at the source, unless others are asked for or there are no such.
  shownKind() {
    const kinds = (this.looks?.kinds ?? []).filter((kind) => sourceOf(this.model).looks.includes(plainKind(kind)));
    if (this.state.view === "attention" && kinds.includes(this.state.kind)) return this.state.kind;
    return this.state.view !== "attention" || kinds.includes("cross") ? "cross" : kinds[0] ?? "cross";
  }

  // The weights that are shown, of the chosen layer and head or their mean.
  matrix(special = true) {
    const { looks, state } = this;
    if (!looks?.kinds.includes(this.kind())) return null;
    return looks.matrix({ kind: this.kind(), layer: state.layer, head: state.head, words: this.words, special });
  }

  // A unit of a side, as something to point at; null where the looks that are shown have no such side.
  here(side, at) {
    const kind = this.kind(), [rowSide, columnSide] = sidesOf(kind);
    if (at === undefined) return null;
    if (rowSide === side) return { kind, row: at };
    return columnSide === side ? { kind, column: at } : null;
  }

  // ---- changes

  set(patch, { wait = false } = {}) {
    const moved = patch.view !== undefined && patch.view !== this.state.view;
    this.state = { ...this.state, ...patch };
    this.settle();
    const link = toLink(this.state) || location.pathname;
    const kept = keptBeside(this.state, new URL(link, location.href).search);
    if (moved) history.pushState(kept, "", link);
    else history.replaceState(kept, "", link);
    if ("input" in patch) this.pointing.clear();
    this.ask(wait);
    this.changed();
  }

  // What depends on the model fits it.
  settle() {
    const { state, model } = this;
    if (model.to.length && !model.to.includes(state.to)) state.to = model.to[0];
    if (model.to.length && !model.languages.source.includes(state.from)) {
      state.from = model.directions.find(([, to]) => to === state.to)?.[0] ?? model.languages.source[0];
    }
    if (!model.to.length) state.to = state.from = null;
  }

  choose(name) {
    const next = this.models.find((one) => one.name === name), { kind } = this.model.source;
    this.inputs[kind] = this.state.input;
    const other = next.source.kind === kind ? {} : { input: this.inputs[next.source.kind] ?? "", prefix: "", require: [], forbid: [], kind: "cross", words: null };
    this.set({ ...other, model: name, answer: 0, layer: null, head: null, step: null, beam: null, length_penalty: null, penalty: null, no_repeat: null });
  }

  asking(model, state, { best = 1, attention = "cross", returns = [] }) {
    const can = (part) => model.returns.includes(part);
    const ofPieces = model.answer.kind === "text" && { beam: state.beam, penalty: state.penalty, length_penalty: state.length_penalty, no_repeat: state.no_repeat };
    const own = { to: state.to, ...ofPieces };
    const chosen = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== null && value !== undefined));
    return {
      model: model.name, inputs: [state.input], ...chosen, best,
      ...(ofPieces && { ...(state.prefix.trim() && { prefix: state.prefix.trim() }), require: state.require, forbid: state.forbid }),
      return: ["pieces", "scores", "alternatives", "attention", ...returns].filter(can), attention,
      alternatives: Math.min(ALTERNATIVES, model.limits.alternatives),
    };
  }

  ask(wait = false) {
    this.question.put(this.state.input.trim() ? this.asking(this.model, this.state, this.view.wants(this)) : null, wait);
  }

  // Another piece at a step: the answer up to there and this piece become its beginning.
  takeInstead(step, piece) {
    this.set({ prefix: textOfPieces([...this.answer.pieces.slice(0, step), piece]).trim(), answer: 0, step: null });
  }

  // ---- swapping languages: in one model, or with one that goes back

  swapped() {
    const { model, state } = this;
    if (model.to.length) {
      return model.to.includes(state.from) && model.languages.source.includes(state.to) ? { from: state.to, to: state.from } : null;
    }
    const [pair] = model.directions;
    const back = pair && this.models.find((one) => !one.to.length && one.directions.some(([from, to]) => from === pair[1] && to === pair[0]));
    return back ? { model: back.name } : null;
  }

  canSwap() {
    return this.swapped() !== null;
  }

  swap() {
    this.set({ ...this.swapped(), input: this.answer?.text || this.state.input, prefix: "", require: [], forbid: [], answer: 0, step: null });
  }

  // ---- drawing

  start() {
    this.picker = select("Model", { options: () => this.models.map(({ name }) => [name, name]), get: () => this.model.name, set: (name) => this.choose(name), attributes: { id: "model" } });
    document.querySelector(".top .model").replaceWith(this.picker.element);
    this.picker.element.classList.add("model");
    this.settings = searchSettings(this);
    const saving = Object.entries(FORMATS).map(([format, { title, hint }]) =>
      button("", () => { this.saved.panel.hidePopover(); this.save(format); }, { class: "item", "data-format": format }));
    Object.values(FORMATS).forEach(({ title, hint }, at) => saving[at].append(make("b", {}, title), make("span", { class: "quiet" }, hint)));
    this.saved = menu("Save", "saving", ...saving);
    const link = button("Copy link", () => this.copyLink(link), { class: "tool" });
    byId("actions").replaceChildren(menu("Search", "search", this.settings.element).element, this.saved.element, link);
    this.tabs = VIEWS.map((view) => button("", () => this.set({ view: view.id }), { role: "tab", id: `tab-${view.id}`, "aria-controls": "view" }));
    byId("tabs").replaceChildren(...this.tabs);
    byId("tabs").addEventListener("keydown", (event) => this.alongTabs(event));
    addEventListener("popstate", () => { this.state = fromLink(location.search, history.state); this.settle(); this.ask(); this.changed(); });
    addEventListener("keydown", (event) => { if (event.key === "Escape") this.pointing.clear(); });
    this.ask();
    this.changed();
  }

  // The composer for the model's kind of source.
  compose() {
    const { kind } = this.model.source;
    if (this.composed === kind) return;
    this.composed = kind;
    this.composer?.leave();
    this.pointing.clear();
    this.composer = sourceOf(this.model).composer(this);
    byId("composer").replaceChildren(this.composer.element);
  }

  copyLink(opener) {
    copy(location.href, opener);
    const { heavy } = sourceOf(this.model);
    if (!history.state?.input || !heavy) return;
    this.tell(notice(heavy));
    this.told = null; // it goes with the next drawing
  }

  alongTabs(event) {
    const { views } = this, at = views.findIndex(({ id }) => event.target.id === `tab-${id}`), step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (at < 0 || !step) return;
    const next = views[(at + step + views.length) % views.length];
    this.set({ view: next.id });
    byId(`tab-${next.id}`).focus();
  }

  // Draws once for all changes of a moment.
  changed() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => { this.drawing = false; this.draw(); });
  }

  draw() {
    const { model, view } = this;
    document.title = `${model.name} · Regard`;
    byId("about").textContent = about(model);
    this.picker.update();
    this.settings.update();
    this.compose();
    this.composer.update();
    this.tabs.forEach((tab, at) => {
      const chosen = VIEWS[at] === view;
      tab.hidden = !this.views.includes(VIEWS[at]);
      tab.textContent = VIEWS[at].title(model);
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    });
    this.drawProblem();
    this.drawWishes();
    this.drawView();
  }

  drawView() {
    const { view, question } = this;
    const nothing = view === answerView ? null : view.missing?.(this) ?? (!this.state.input.trim() ? sourceOf(this.model).empty : null);
    const wanted = nothing ?? view.id;
    byId("view").setAttribute("aria-labelledby", `tab-${view.id}`);
    if (this.mounted?.wanted !== wanted) {
      this.mounted?.shown.leave();
      const shown = nothing ? { element: make("p", { class: "card notice" }, nothing), update() {}, leave() {} } : view.mount(this);
      this.mounted = { wanted, shown };
      byId("view").replaceChildren(shown.element);
    }
    byId("view").classList.toggle("old", question.busy);
    this.mounted.shown.update();
  }

  drawProblem() {
    const { problem, again, prediction } = this.question;
    const said = problem && problem.field !== "inputs.0" ? problem.message : this.question.busy ? null : this.remark(prediction);
    const key = JSON.stringify([said, Boolean(again), problem?.status]);
    if (key !== this.told) {
      this.told = key;
      this.tell(said && notice(said, { again: again && (() => this.question.again?.now()), keyed: problem?.status === 401 ? () => this.askAgain() : null }));
    }
    if (again) this.notice?.wait(again.seconds);
  }

  tell(said) {
    this.notice = said;
    renew(byId("problem"), said ? [said.element] : []);
  }

  remark(prediction) {
    if (prediction?.problem) return `No answer: ${prediction.problem}.`;
    return prediction?.unread ? `${prediction.unread} pieces of the source were not read: it is longer than this model reads.` : null;
  }

  askAgain() {
    this.question.asked = null;
    this.ask();
  }

  drawWishes() {
    const { prefix, require, forbid } = this.state, key = JSON.stringify([prefix.trim(), require, forbid]);
    if (key === this.wished) return;
    this.wished = key;
    const chip = (name, text, patch) => make("span", { class: "chip" }, make("span", { class: "quiet" }, name), make("q", { dir: "auto" }, text),
      button("×", () => this.set({ ...patch, answer: 0 }), { "aria-label": `Take back: ${name} ${text}`, "data-key": `${name} ${text}` }));
    renew(byId("wishes"), [
      ...(prefix.trim() ? [chip("begins with", prefix.trim(), { prefix: "" })] : []),
      ...require.map((text) => chip("must have", text, { require: require.filter((one) => one !== text) })),
      ...forbid.map((text) => chip("must not have", text, { forbid: forbid.filter((one) => one !== text) })),
    ]);
  }

  // ---- files

  async save(format) {
    const svg = this.view.picture(this);
    if (!this.answer || (!svg && format !== "json")) {
      this.tell(notice("There is nothing to save in this view yet."));
      this.told = null;
      return;
    }
    const holder = make("div", { class: "unseen", "aria-hidden": "true" }, svg || "");
    document.body.append(holder); // so that the page's styles reach it
    const data = { format: "regard.page/1", link: location.href, asked: JSON.parse(this.question.answered), prediction: this.question.prediction, ...this.view.data?.(this) };
    const texts = [["Model", this.model.name], ["Source", sourceOf(this.model).told(this.state.input)], ["Answer", this.answer.text]];
    try {
      await save(format, { svg, data, texts, name: `${this.model.name}-${this.view.id}`.replace(/[^\w.-]+/g, "_"), title: `${this.answer.text.slice(0, 60)} · Regard` });
    } finally {
      holder.remove();
    }
  }
}

function about(model) {
  const size = model.parameters >= 1e6 ? `${(model.parameters / 1e6).toFixed(1)} M` : `${Math.round(model.parameters / 1e3)} k`;
  const pairs = model.to.length ? model.to.map(languageName).join(", ") : model.directions.map((pair) => pair.map(languageName).join(" to ")).join(", ");
  return [pairs || model.task, `${size} parameters`].join(" · ");
}

// ---- beginning

let page = null;
themes(byId("theme"), () => page?.changed());

let attempt = 0, clock, waiting = null; // waiting: what is told while nothing answers
async function begin(wait = 2) {
  attempt += 1;
  clearInterval(clock);
  const mine = attempt; // the newest counts: an answer to an earlier one may come after it
  try {
    const models = await fetchModels();
    if (mine !== attempt || page) return;
    renew(byId("problem"), []);
    page = new Page(models);
    page.start();
  } catch (error) {
    if (mine !== attempt || page) return;
    if (error.status === 401) {
      const words = hasKey() ? "The server refuses this key." : "This server asks for a key.";
      renew(byId("problem"), [notice(words, { keyed: () => begin() }).element]);
      waiting = null;
      return;
    }
    if (!error.message || error instanceof TypeError) throw error;
    if (waiting?.text !== error.message) {
      waiting = { text: error.message, notice: notice(error.message, { again: () => begin() }) };
      renew(byId("problem"), [waiting.notice.element]);
    }
    let left = wait;
    waiting.notice.wait(left);
    clock = setInterval(() => {
      left -= 1;
      if (left > 0) waiting.notice.wait(left);
      else begin(Math.min(15, wait * 2));
    }, 1000);
  }
}

begin();
