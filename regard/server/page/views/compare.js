// Two models or two ways to search, side by side on the same input.

import { draw, make } from "../elements.js";
import { searchSettings, select } from "../controls.js";
import { differing } from "../differing.js";
import { heatMap } from "../drawing/heatmap.js";
import { pathPicture } from "../drawing/paths.js";
import { pictureStrip } from "../drawing/strip.js";
import { Looks } from "../looks.js";
import { marksOf, pathsOf } from "../pad.js";
import { Question } from "../question.js";
import { fact } from "../reply.js";
import { distance, known, pointsOf } from "../series.js";
import { answerOf, comparable, taskOf } from "../tasks.js";

export const compareView = {
  id: "compare",
  title: () => "Compare",
  wants: () => ({}),
  mount,
  picture: (context) => both(context),
  data: () => ({ other: other?.answered ? { asked: JSON.parse(other.answered), prediction: other.prediction } : null }),
};

let other = null; // the question to the second one
const rivals = ({ models, model }) => models.filter((one) => comparable(one, model));
const otherModel = (context) => rivals(context).find((one) => one.name === context.state.other_model) ?? context.model;

function ask(context) {
  const { state } = context, model = otherModel(context);
  const own = Object.fromEntries(["beam", "length_penalty", "no_repeat", "penalty"].map((name) => [name, state[`other_${name}`]]));
  return context.asking(model, { ...state, ...own, to: model.to.includes(state.to) ? state.to : model.to[0] ?? null }, {});
}

function sides(context) {
  const second = other?.prediction?.answers[0] ?? null;
  const looksOf = (answer) => (answer?.attention ? new Looks(answer.attention, { numbered: context.model.answer.kind === "series" }) : null);
  return [
    { model: context.model, question: context.question, answer: context.answer, looks: context.looks },
    { model: otherModel(context), question: other, answer: second, looks: looksOf(second) },
  ];
}

function look(context, { model, looks, answer, question }, room) {
  if (model.answer.kind === "series") return answer && pathLook({ ...context, state: context.state, model, looks, answer, question }, room);
  if (!looks?.kinds.includes("cross")) return null;
  if (model.source.kind === "picture") {
    const matrix = looks.matrix({ kind: "cross", words: taskOf(model).words, special: false });
    const side = { model, looks, state: context.state, framed: context.framed };
    return matrix.rows.length ? pictureStrip(side, matrix, { room, most: 120 }).svg : null;
  }
  const matrix = looks.matrix({ kind: "cross", words: taskOf(model).words, special: false });
  return matrix.rows.length && matrix.columns.length ? heatMap(matrix, { room, stretch: true, most: 36 }).svg : null;
}

function pathLook(side, room) {
  const paths = { ...pathsOf(side), futures: [] };
  if (!paths.series.length) return null;
  const picture = pathPicture(side.model, paths, { room });
  picture.show(marksOf(side), -1);
  return picture.svg;
}

// How both differ, in a sentence.
function compared(context, mine, theirs) {
  if (mine === undefined || theirs === undefined) return "";
  if (mine === theirs) return "Both say the same.";
  if (context.model.answer.kind === "text") return "Marked is what only one of them says.";
  const [ours, others] = [mine, theirs].map(pointsOf), steps = Math.min(ours.length, others.length);
  const away = ours.slice(0, steps).flatMap((point, at) => (known(point) && known(others[at]) ? [distance(point, others[at])] : []));
  const mean = away.reduce((sum, one) => sum + one, 0) / (away.length || 1);
  return `Their points are ${Number(mean.toPrecision(3))} apart in the mean, the last ones ${Number((away.at(-1) ?? 0).toPrecision(3))}.`;
}

function mount(context) {
  const { change } = context;
  const pick = select("Model", {
    options: () => rivals(context).map(({ name }) => [name, name]), get: () => otherModel(context).name,
    set: (name) => change({ other_model: name }),
  });
  const first = select("Model", { options: () => rivals(context).map(({ name }) => [name, name]), get: () => context.model.name, set: (model) => context.choose(model) });
  const settings = [searchSettings(context, { several: false }), searchSettings(context, { prefix: "other_", several: false, modelOf: () => otherModel(context) })];
  const columns = [0, 1].map((place) => {
    const text = make("p", { class: "reply", dir: "auto" }), facts = make("p", { class: "facts" }), frame = make("div", { class: "frame" });
    const element = make("section", { class: "card", "aria-label": place ? "Second" : "First" },
      make("div", { class: "bar" }, (place ? pick : first).element), settings[place].element, text, facts, frame);
    return { element, text, facts, frame };
  });
  const verdict = make("p", { class: "readout quiet" });
  const element = make("div", {}, verdict, make("div", { class: "two" }, columns.map((column) => column.element)));
  other ??= new Question(() => context.changed());
  if (context.model.answer.kind === "text" && !Object.entries(context.state).some(([name, value]) => name.startsWith("other_") && value !== null)) {
    const { state, model } = context;
    change({ other_beam: (state.beam ?? model.search.beam) > 1 ? 1 : Math.min(5, model.limits.beam) }); // something to compare with
  }

  function drawSides() {
    const both = sides(context), [mine, theirs] = both.map(({ answer }) => answer?.text);
    verdict.textContent = compared(context, mine, theirs);
    both.forEach(({ answer, question, ...side }, place) => {
      const { text, facts, frame } = columns[place], rival = both[1 - place].answer;
      text.classList.toggle("busy", question.busy);
      if (question.problem) text.replaceChildren(make("span", { class: "quiet" }, question.problem.message));
      else if (question.growing !== null) text.replaceChildren(...answerOf(side.model).shape(question.growing));
      else text.replaceChildren(...(!answer ? [] : rival && side.model.answer.kind === "text" ? differing(answer.text, rival.text) : answerOf(side.model).shape(answer.text)));
      text.classList.toggle("points", side.model.answer.kind === "series");
      facts.replaceChildren(...(answer ? [
        ...answerOf(side.model).facts(answer), ...(side.model.answer.kind === "text" ? [fact("pieces", String(answer.pieces.length))] : []),
        ...(answer.finished ? [] : [make("span", {}, make("b", {}, "cut off"))]),
      ] : []));
      frame.replaceChildren(answer ? look(context, { ...side, answer, question }, frame.clientWidth - 4) ?? make("p", { class: "quiet" }, "No attention to draw.") : "");
    });
  }

  return {
    element,
    leave() { other.put(null); },
    update() {
      other.put(context.state.input.trim() ? ask(context) : null, true);
      pick.update();
      first.update();
      settings.forEach((one) => one.update());
      drawSides();
    },
  };
}

// Both maps in one picture, under their answers.
function both(context) {
  const maps = sides(context).map((side) => ({ side, svg: look(context, side, 560) }));
  if (!maps.some(({ side }) => side.answer)) return null;
  let x = 0, height = 0;
  const parts = maps.map(({ side, svg }) => {
    const name = draw("text", { class: "name special", x, y: 12, "font-size": "12px" }, side.model.name);
    const said = side.model.answer.kind === "text" ? side.answer?.text ?? "" : "";
    const text = draw("text", { class: "name", x, y: 34, "font-size": "15px" }, said);
    const wide = Math.max(Number(svg?.getAttribute("width") ?? 0), said.length * 7.6, 200);
    svg?.setAttribute("x", x);
    svg?.setAttribute("y", 52);
    height = Math.max(height, 60 + Number(svg?.getAttribute("height") ?? 0));
    x += wide + 40;
    return [name, text, svg];
  });
  return draw("svg", { class: "picture", width: Math.ceil(x), height, viewBox: `0 0 ${Math.ceil(x)} ${height}` }, parts.flat());
}
