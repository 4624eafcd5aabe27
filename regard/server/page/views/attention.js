// Where the model looked: a heat map, lines or all heads; and how the answer came, step by step.

import { button, labelOf, logarithm, make, percent, renew } from "../elements.js";
import { textOfPieces } from "../pieces.js";
import { choices, slider, toggle } from "../controls.js";
import { heatMap } from "../drawing/heatmap.js";
import { headGrid } from "../drawing/heads.js";
import { lineMap } from "../drawing/lines.js";
import { pictureHeads, pictureStrip } from "../drawing/strip.js";
import { stepColumn } from "../drawing/steps.js";
import { pointsOf, pointText } from "../series.js";
import { sourceOf } from "../tasks.js";
import { KINDS, plainKind } from "../looks.js";
import { readout } from "../readout.js";

const DRAWINGS = [["map", "Heat map"], ["lines", "Lines"], ["heads", "All heads"]];
const ON_PICTURE = [["map", "On the picture"], ["heads", "All heads"]];
const BEAT = 800; // milliseconds of a step when it plays

export const attentionView = {
  id: "attention",
  title: () => "Attention",
  wants: () => ({ attention: "all" }),
  missing: ({ model }) => (model.returns.includes("attention") ? null : model.engine === "native" ? "This model has no attention to draw: it answers from one fixed vector." : `The ${model.engine} engine records no attention to draw.`),
  mount,
  picture: (context) => drawing(context, 1100)?.svg,
};

const threshold = ({ state }) => state.threshold ?? (state.drawing === "lines" ? 0.05 : 0);

// Looks at a picture are drawn on it.
const onPicture = ({ model, kind }) => model.source.kind === "picture" && plainKind(kind()) === "cross";

function drawingOnPicture(context, room, pick) {
  const { state } = context, matrix = context.matrix(Boolean(state.special));
  if (!matrix?.rows.length) return null;
  const step = stepUnit(context, context.matrix(false));
  if (state.drawing === "heads") return { svg: pictureHeads(context, { room, step, pick }) };
  const row = stepUnit(context, matrix);
  return { matrix, ...pictureStrip(context, matrix, { room, until: row === null ? null : row + 1 }) };
}

// The chosen drawing, at most so wide.
function drawing(context, room, pick = () => {}) {
  const { looks, state } = context;
  if (!looks) return null;
  if (onPicture(context)) return drawingOnPicture(context, room, pick);
  const options = { room, threshold: threshold(context), stretch: Boolean(state.stretch) };
  if (state.drawing === "heads") {
    return { svg: headGrid(looks, { ...options, kind: context.kind(), words: context.words, special: Boolean(state.special), layer: state.layer, head: state.head, pick }) };
  }
  const matrix = context.matrix(Boolean(state.special));
  if (!matrix?.rows.length || !matrix.columns.length) return null;
  const step = stepUnit(context, matrix);
  if (state.drawing === "lines") return { matrix, ...lineMap(matrix, { ...options, only: step }) };
  return { matrix, ...heatMap(matrix, { ...options, until: step === null ? null : step + 1 }) };
}

// The row of the step that is shown, where the answer looks.
function stepUnit({ state, looks }, matrix) {
  if (state.step === null || matrix.rowSide !== "target") return null;
  const piece = Math.min(state.step, looks.record.target_pieces.length) - 1;
  const row = matrix.rows.findIndex(({ members }) => members.includes(piece));
  return row < 0 ? null : row;
}

function mount(context) {
  const { change, pointing } = context;
  let shown = null, cursor = { row: 0, column: 0 };
  const leave = () => { pointing.clear(); cursor = { row: 0, column: 0 }; }; // for a picture of other things
  const range = (count) => [[null, "Mean"], ...Array.from({ length: count }, (_, at) => [at, String(at)])];
  const shape = (axis) => (context.looks ? context.looks.shape(context.kind())[axis] : 0);
  const axis = (title, name, at) => choices(title, {
    options: () => (shape(at) > 1 ? range(shape(at)) : []), get: () => context.state[name],
    set: (value) => change({ [name]: value, drawing: context.state.drawing === "heads" ? "map" : context.state.drawing }),
  });
  const controls = [
    choices("Show", {
      options: () => {
        const all = onPicture(context) ? ON_PICTURE : DRAWINGS;
        return shape(0) * shape(1) > 1 ? all : all.slice(0, -1);
      },
      get: () => (onPicture(context) && context.state.drawing === "lines" ? "map" : context.state.drawing), set: (drawing) => change({ drawing }),
    }),
    choices("Looks", {
      options: () => (context.looks?.kinds ?? []).filter((kind) => sourceOf(context.model).looks.includes(plainKind(kind))).map((kind) => [kind, KINDS[plainKind(kind)] + kind.slice(plainKind(kind).length)]),
      get: () => context.kind(), set: (kind) => { leave(); change({ kind, layer: null, head: null }); },
    }),
    axis("Layer", "layer", 0), axis("Head", "head", 1),
    toggle("Whole words", { fits: () => context.model.answer.kind === "text", get: () => context.words, set: (words) => { leave(); change({ words }); } }),
    toggle("Special pieces", { fits: () => context.model.answer.kind === "text", get: () => Boolean(context.state.special), set: (special) => change({ special }) }),
    toggle("Stretch colours", { fits: () => !onPicture(context), get: () => Boolean(context.state.stretch), set: (stretch) => change({ stretch }) }),
    slider("Hide below", { fits: () => !onPicture(context), get: () => threshold(context), set: (value) => change({ threshold: value }), max: 0.5, step: 0.01, shown: (value) => value.toFixed(2) }),
  ];
  const said = readout(context, () => describe(context));
  const frame = make("div", { class: "frame", tabindex: 0, role: "application", "aria-roledescription": "picture" });
  const player = steps(context);
  const element = make("div", { class: "card looks" },
    make("form", { class: "controls", submit: (event) => event.preventDefault() }, controls.map((one) => one.element)),
    said.element, make("div", { class: "beside" }, frame, player.element),
    make("p", { class: "hint" }, "Point at a word, a step or a cell to see where it looked; click or Enter to hold it, Escape to let go. In the picture, arrow keys move."));

  const point = (place) => {
    if (!place || !shown?.matrix) return null;
    const { rows, columns } = shown.matrix;
    return { kind: context.kind(), row: rows[place.row]?.at, column: shown.sideways ? undefined : columns[place.column]?.at };
  };
  const within = ({ row, column }) => {
    const [rows, columns] = [shown.matrix.rows, shown.matrix.columns].map((units) => units.length - 1);
    return { row: Math.max(0, Math.min(rows, row)), column: Math.max(0, Math.min(columns, column)) };
  };
  const follow = (at) => {
    if (!shown?.show) return;
    const { rows, columns } = shown.matrix, here = at && at.kind === context.kind();
    shown.show(here ? rows.findIndex((unit) => unit.at === at.row) : -1, here ? columns.findIndex((unit) => unit.at === at.column) : -1);
  };
  pointing.listeners.add(follow);
  frame.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") pointing.point(point(shown?.at?.(event))); });
  frame.addEventListener("pointerleave", () => pointing.point(null));
  frame.addEventListener("click", (event) => {
    const place = shown?.at?.(event);
    if (!place || !point(place)) return;
    cursor = { ...cursor, ...place }; // from where arrow keys go on
    pointing.hold(point(place));
  });
  frame.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && shown?.show) { event.preventDefault(); pointing.hold(point(cursor)); return; }
    const moves = shown?.sideways ? { ArrowLeft: [-1, 0], ArrowUp: [-1, 0], ArrowRight: [1, 0], ArrowDown: [1, 0] }
      : { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!shown?.show || !(event.key in moves)) return;
    event.preventDefault();
    const [down, across] = moves[event.key];
    cursor = within({ row: cursor.row + down, column: cursor.column + across });
    pointing.point(point(cursor));
    const [x, y, size] = shown.corner(cursor.row, cursor.column);
    if (x < frame.scrollLeft || x + size > frame.scrollLeft + frame.clientWidth) frame.scrollLeft = x - frame.clientWidth / 2;
    if (y < frame.scrollTop || y + size > frame.scrollTop + frame.clientHeight) frame.scrollTop = y - frame.clientHeight / 2;
  });

  function redraw() {
    const room = frame.clientWidth - 4;
    if (room <= 0) return;
    shown = drawing(context, room, (layer, head) => change({ layer, head, drawing: "map" }));
    frame.setAttribute("aria-label", context.looks ? describe(context) : "Nothing to draw");
    frame.setAttribute("role", context.state.drawing === "heads" ? "group" : "application");
    renew(frame, [shown?.svg ?? make("p", { class: "quiet" }, context.question.busy ? "" : "Nothing to draw: there are no pieces.")], frame);
    if (shown?.matrix) cursor = within(cursor);
    follow(pointing.at);
  }
  const resized = () => redraw();
  addEventListener("resize", resized);

  return {
    element,
    update() {
      controls.forEach((one) => one.update());
      said.update();
      player.update();
      redraw();
    },
    leave() {
      removeEventListener("resize", resized);
      pointing.listeners.delete(follow);
      said.leave();
      player.leave();
    },
  };
}

function describe({ state, looks, kind, model }) {
  if (!looks) return "";
  const [layers, heads] = looks.shape(kind());
  const parts = [];
  if (state.drawing === "heads") return `${layers} ${layers === 1 ? "layer" : "layers"} with ${heads} ${heads === 1 ? "head" : "heads"} each. Pick one to see it large.`;
  if (layers > 1) parts.push(state.layer === null ? `mean of ${layers} layers` : `layer ${state.layer}`);
  if (heads > 1) parts.push(state.head === null ? `mean of ${heads} heads` : `head ${state.head}`);
  const unit = model.answer.kind === "series" ? "step" : "piece";
  const what = { context: "each row shows where one step of the answer looked in the context", cross: model.source.kind === "picture" ? "the brighter, the more a word looked there" : "each row shows where one PIECE of the answer looked in the source", encoder: "each row shows where a PIECE of the source looked in the source", decoder: "each row shows where a step of the answer looked in what was there before" }[plainKind(kind())].replace("PIECE", unit);
  const text = `${parts.length ? `${parts.join(", ")}: ` : ""}${what}.`;
  return text[0].toUpperCase() + text.slice(1);
}

// Plays the decoding: step, its probability, and what else it might have been.
function steps(context) {
  const { change } = context;
  let playing = null;
  const count = () => context.looks?.record.target_pieces.length ?? 0;
  const at = () => Math.min(context.state.step ?? count(), count());
  const stop = () => { if (playing) context.pointing.point(null); clearInterval(playing); playing = null; play.textContent = "▶"; play.setAttribute("aria-label", "Play"); };
  const go = (step) => {
    change({ step: step >= count() ? null : Math.max(1, step) });
    if (context.model.source.kind !== "text") context.pointing.point(context.here("target", unitOf(at() - 1))); // its light, its circles
  };
  const unitOf = (piece) => context.looks?.units("target", context.words).find(({ members }) => members.includes(piece))?.at;
  const play = button("▶", () => {
    if (playing) { stop(); return; }
    go(at() >= count() ? 1 : at() + 1);
    play.textContent = "❚❚";
    play.setAttribute("aria-label", "Pause");
    playing = setInterval(() => { go(at() + 1); if (at() >= count()) stop(); }, BEAT);
  }, { class: "round", "aria-label": "Play" });
  const back = button("‹", () => { stop(); go(at() - 1); }, { class: "round", "aria-label": "A step back" });
  const on = button("›", () => { stop(); go(at() + 1); }, { class: "round", "aria-label": "A step on" });
  const range = make("input", { type: "range", min: 1, step: 1, "aria-label": "Step", autocomplete: "off", input: () => { stop(); go(Number(range.value)); } });
  const soFar = make("p", { class: "so-far", dir: "auto" });
  const column = make("ol", { class: "steps one" });
  const element = make("aside", { class: "player", "aria-label": "Step by step" },
    make("h2", {}, "Step by step"), make("div", { class: "transport" }, back, play, on, range), soFar, column);
  // A point has a density instead of a probability, and no others beside it.
  function drawPoint(answer, step) {
    drawn = null;
    soFar.replaceChildren(make("mark", {}, pointText(pointsOf(answer.text)[step - 1] ?? [])));
    column.replaceChildren(make("li", {}, make("p", { class: "quiet" }, `Step ${step} of ${count()}: log-likelihood ${logarithm(answer.piece_scores[step - 1])}`)));
  }

  let drawn = null;
  function drawStep(answer, pieces, step) {
    const all = { pieces: answer.pieces, alternatives: answer.alternatives, scores: answer.piece_scores };
    const key = JSON.stringify([pieces, all, step]);
    if (key === drawn) return;
    drawn = key;
    const last = pieces[step - 1] ?? "", before = textOfPieces(pieces.slice(0, step - 1));
    const said = textOfPieces(pieces.slice(0, step)).slice(before.length); // nothing, where it is part of a character
    soFar.replaceChildren(before.trimStart(), make("mark", {}, last === "</s>" ? " ∎" : said || labelOf(last)));
    const told = make("p", { class: "quiet" }, `Step ${step} of ${count()}: ${percent(Math.exp(answer.piece_scores[step - 1]))} for this piece here`);
    renew(column, [make("li", {}, told), ...(answer.alternatives?.[step - 1] ? [stepColumn(all, step - 1, context.instead, 0)] : [])]);
  }

  return {
    element,
    leave: stop,
    update() {
      const { answer, looks } = context;
      element.hidden = !answer || !looks;
      if (element.hidden) return;
      const step = at(), pieces = looks.record.target_pieces;
      range.max = count();
      range.value = step;
      range.setAttribute("aria-valuetext", `Step ${step} of ${count()}: ${labelOf(pieces[step - 1] ?? "")}`);
      if (context.model.answer.kind === "series") drawPoint(answer, step);
      else drawStep(answer, pieces, step);
    },
  };
}
