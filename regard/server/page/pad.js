// A pad to draw a path on, and how the model goes on with it. Points can be typed as well.

import { button, draw, make } from "./elements.js";
import { light } from "./lighting.js";
import { pathPicture } from "./drawing/paths.js";
import { reply } from "./reply.js";
import { plausible, pointsOf, readSource, resampled, writeSource } from "./series.js";
import { sourceTold, taskOf } from "./tasks.js";

const SHORTEST = 12; // pixels of a path; a shorter one is a click

// What there is to draw: of an answer that comes, what is there of it.
export function pathsOf({ question, state, answer, model }) {
  const read = readSource(state.input), source = read?.series[0].length === model.source.values ? read : null;
  if (!source) return { series: [], target: null, predicted: [], futures: [] };
  const answered = question.answered && JSON.parse(question.answered).inputs[0] === state.input; // and not to what was there before
  const others = question.growing !== null || !answered ? [] : (question.prediction?.answers ?? []).filter((one) => one.text !== answer?.text);
  return {
    series: source.series, target: source.target,
    predicted: pointsOf(question.growing ?? (answered ? answer?.text ?? "" : "")), futures: others.map((one) => pointsOf(one.text)),
  };
}

// How much each observed point was looked at: by a step, or by all in the mean.
export function marksOf({ looks, state }, row = -1) {
  if (!looks?.kinds.includes("cross")) return null;
  const { weights } = looks.matrix({ kind: "cross", layer: state.layer, head: state.head });
  return row >= 0 ? weights[row] : weights[0]?.map((_, at) => weights.reduce((sum, one) => sum + one[at], 0) / weights.length);
}

export function seriesComposer(context) {
  const { change, pointing } = context;
  const input = make("textarea", {
    id: "input", rows: 6, spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-describedby": "counter",
    input: () => change({ input: input.value, answer: 0, step: null }, { wait: true }),
  });
  const name = make("h2", { class: "name" });
  const pad = make("div", { class: "pad" });
  const legend = make("p", { class: "legend" });
  const counter = make("p", { id: "counter", class: "counter", role: "status" });
  const clear = button("Clear", () => { change({ input: "", answer: 0 }); }, { class: "plain" });
  const answer = reply(context);
  answer.answer.classList.add("points");
  answer.element.append(make("div", { class: "json" }, make("label", { for: "input" }, "Observed points, as JSON"), input));
  const element = make("div", { class: "sides drawn" },
    make("div", { class: "side source" }, make("div", { class: "bar" }, name, legend, clear), pad, counter), answer.element);

  // ---- drawing by hand

  let picture = null, path = null, needed = false;
  const drawable = () => context.model.source.values === 2;
  pad.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !drawable()) return;
    pad.setPointerCapture(event.pointerId);
    path = { points: [picture.point(event)], from: [event.clientX, event.clientY], length: 0, line: draw("path", { class: "pen" }) };
  });
  pad.addEventListener("pointermove", (event) => {
    if (!path) { hover(event); return; }
    for (const one of event.getCoalescedEvents?.() ?? []) path.points.push(picture.point(one));
    path.points.push(picture.point(event));
    path.length = Math.max(path.length, Math.hypot(event.clientX - path.from[0], event.clientY - path.from[1]));
    if (path.length < SHORTEST) return;
    if (!path.line.parentNode) { picture.svg.classList.add("old"); picture.svg.append(path.line); }
    path.line.setAttribute("d", `M${path.points.map((point) => picture.place(point).map((value) => value.toFixed(1)).join(" ")).join("L")}`);
  });
  const lifted = (event) => {
    const done = path;
    path = null;
    if (!done) return;
    if (done.length >= SHORTEST && event.type === "pointerup") take(done.points);
    else {
      done.line.remove();
      picture.svg.classList.remove("old");
      const step = picture.step(event);
      if (step !== null && context.looks) pointing.hold(context.here("target", step));
    }
  };
  pad.addEventListener("pointerup", lifted);
  pad.addEventListener("pointercancel", lifted);
  pad.addEventListener("pointerleave", () => { if (!path) pointing.point(null); });

  // The context stays as it is, or is that of an example: nobody can draw one.
  function take(points) {
    const { model, state } = context, now = readSource(state.input), [example] = model.examples.map(readSource).filter(Boolean);
    const count = model.source.steps ?? example?.series.length ?? 8;
    const beside = model.source.context === null ? null : now?.context ?? example?.context ?? null;
    needed = model.source.context !== null && !beside;
    change({ input: writeSource(resampled(points, Math.min(count, model.limits.pieces), plausible(model)), beside), answer: 0, step: null });
  }

  function hover(event) {
    if (!context.looks || event.pointerType === "touch") return;
    const step = picture.step(event), seen = step === null ? picture.seen(event) : null;
    pointing.point(step !== null ? context.here("target", step) : seen !== null ? context.here("source", seen) : null);
  }

  // ---- showing

  function lit(at) {
    light(context, at, { target: answer.spans });
    const matrix = context.matrix(), here = at && matrix && at.kind === context.kind();
    const row = here && matrix.rowSide === "target" ? matrix.rows.findIndex((unit) => unit.at === at.row) : -1;
    picture?.show(context.question.growing === null ? marksOf(context, row) : null, row);
  }
  pointing.listeners.add(lit);

  const resized = () => context.changed();
  addEventListener("resize", resized);

  let drawn = null;
  function drawPad() {
    const { model } = context, paths = pathsOf(context), room = pad.clientWidth;
    const key = JSON.stringify([paths, model.name, room]);
    if (key === drawn || path) return;
    drawn = key;
    if (!paths.series.length && !drawable()) {
      picture = null;
      pad.replaceChildren(make("p", { class: "invite" }, `A point has ${model.source.values === 1 ? "one value" : `${model.source.values} values`} here: give points as JSON.`));
      return;
    }
    picture = pathPicture(model, paths, { room });
    pad.replaceChildren(picture.svg, ...(paths.series.length ? [] : [make("p", { class: "invite" }, "Draw a path here")]));
    const kinds = [["observed", paths.series.length], ["predicted", paths.predicted.length], ["true", paths.target], ["future", paths.futures.length]];
    const words = { future: `${paths.futures.length} other ${paths.futures.length === 1 ? "future" : "futures"}` };
    legend.replaceChildren(...kinds.filter(([, there]) => there).map(([kind]) => make("span", { class: kind }, words[kind] ?? kind)));
  }

  function update() {
    const { state, model } = context;
    name.textContent = taskOf(model).source;
    if (input.value !== state.input) input.value = state.input;
    input.placeholder = JSON.stringify([0.1, 0.3].map((value) => Array.from({ length: model.source.values }, (_, at) => Number((value + at / 10).toFixed(1)))));
    pad.classList.toggle("drawable", drawable());
    clear.hidden = !state.input;
    answer.update();
    drawPad();
    sourceTold(context, counter, state.input || !drawable() ? "" : model.source.steps ? `${model.source.steps} points are made of what you draw` : "");
    if (needed && state.input) {
      counter.textContent = "This model needs a context beside the points. Give it as JSON: {\"series\": [[…]], \"context\": [[…]]}.";
      counter.classList.add("over");
    }
    if (readSource(state.input)?.context) needed = false;
    lit(pointing.at);
  }

  return { element, update, leave: () => { pointing.listeners.delete(lit); removeEventListener("resize", resized); } };
}
