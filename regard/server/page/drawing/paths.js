// What was observed and what was predicted: as a path in the plane, or each value over time. As regard/viewing/path_svg.py draws it.

import { draw, minus } from "../elements.js";
import { known, pointText } from "../series.js";

const WIDEST = 560, FLAT = 0.72, PANEL = 120, LEFT = 46, TOP = 12, RIGHT = 12, BELOW = 26;
const LARGEST = 15, FULL = 0.2; // radius of a mark, and the weight that has it unless another is larger: as in path_data.py
const MOST_PANELS = 6;

// The part of the plane that is shown, { middle, span }: where the model's series lie, and all that is drawn.
export function frameOf(model, paths) {
  const { mean, scale, stride, steps } = model.source;
  const points = [paths.series, paths.predicted, paths.target, ...paths.futures].flatMap((one) => one ?? []).filter(known);
  const usual = stride ? [] : [mean.map((value, axis) => value - 2.2 * scale[axis]), mean.map((value, axis) => value + 2.2 * scale[axis])];
  const all = [...points, ...usual];
  const low = mean.map((value, axis) => (all.length ? Math.min(...all.map((point) => point[axis])) : value));
  const high = mean.map((value, axis) => (all.length ? Math.max(...all.map((point) => point[axis])) : value));
  const least = stride ? stride * ((steps ?? 8) + (model.search.steps ?? 12)) * 0.8 : 1e-9;
  const span = Math.max(1.12 * (high[0] - low[0]), 1.12 * (high[1] - low[1]) / FLAT, least);
  return { middle: [0, 1].map((axis) => (low[axis] + high[axis]) / 2), span };
}

const ticks = (low, high, count) => {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high; at++) found.push(Number((at * step).toPrecision(8)));
  return found;
};

function axes(low, high, x, y, [wide, height]) {
  const text = (value) => minus(String(value));
  return [
    ...ticks(low[0], high[0], wide / 95).flatMap((tick) => [draw("path", { class: "rule", d: `M${x(tick).toFixed(1)} ${TOP}v${height}` }),
      draw("text", { class: "tick", x: x(tick).toFixed(1), y: TOP + height + 16, "text-anchor": "middle" }, text(tick))]),
    ...ticks(low[1], high[1], Math.max(3, Math.round(height / 90))).flatMap((tick) => [draw("path", { class: "rule", d: `M${LEFT} ${y(tick).toFixed(1)}h${wide}` }),
      draw("text", { class: "tick", x: LEFT - 8, y: (y(tick) + 4).toFixed(1), "text-anchor": "end" }, text(tick))]),
  ];
}

// Broken where a point is missing.
function course(places) {
  let pen = "M", d = "";
  for (const place of places) {
    if (!place) { pen = "M"; continue; }
    d += `${pen}${place[0].toFixed(1)} ${place[1].toFixed(1)}`;
    pen = "L";
  }
  return d;
}

// `paths` are { series, predicted, target, futures }; the result shows marks and can be pointed at.
export function pathPicture(model, paths, { frame = frameOf(model, paths), room = Infinity } = {}) {
  const wide = Math.max(200, Math.min(WIDEST, room - LEFT - RIGHT));
  const panels = model.source.values === 2 ? [inPlane(paths, frame, wide)] : overTime(model, paths, wide);
  const height = panels.reduce((sum, panel) => sum + panel.height, 0), width = LEFT + wide + RIGHT;
  let top = 0;
  const groups = panels.map((panel) => { const group = draw("g", { transform: `translate(0 ${top})` }, panel.parts); panel.top = top; top += panel.height; return group; });
  const svg = draw("svg", { class: "picture paths", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `${paths.series.length} observed and ${paths.predicted.length} predicted points` }, groups);
  const [first] = panels;
  let unread = 0;

  // In the picture's own pixels.
  const inside = (event) => {
    const bounds = svg.getBoundingClientRect();
    return [(event.clientX - bounds.left) * width / bounds.width, (event.clientY - bounds.top) * height / bounds.height];
  };
  const nearest = (event, lists, reach) => {
    const [x, y] = inside(event);
    let best = null;
    panels.forEach((panel) => lists(panel).forEach((place, at) => {
      const away = place ? Math.hypot(place[0] - x, place[1] + panel.top - y) : Infinity;
      if (away < reach && away < (best?.away ?? Infinity)) best = { at, away };
    }));
    return best?.at ?? null;
  };
  return {
    svg,
    point: (event) => first.back(inside(event)),
    place: (point) => first.place(point),
    step: (event) => nearest(event, (panel) => panel.predicted, 14),
    seen(event) {
      const at = nearest(event, (panel) => panel.observed, 12);
      return at === null || at < unread ? null : at - unread;
    },
    // How much each observed point was looked at, and the step that is pointed at.
    show(weights, step) {
      const most = Math.max(FULL, ...(weights ?? []));
      if (weights) unread = Math.max(0, panels[0].marks.length - weights.length); // the first points of a series that is too long
      for (const panel of panels) {
        panel.marks.forEach((mark, at) => mark?.setAttribute("r", (LARGEST * Math.sqrt(Math.max(0, weights?.[at - unread] ?? 0) / most)).toFixed(2)));
        panel.dots.forEach((dot, at) => { dot?.classList.toggle("on", at === step); dot?.setAttribute("r", at === step ? 6 : 3.4); });
      }
    },
  };
}

function drawn({ observed, predicted, target, futures }, paths) {
  const last = observed.findLast(Boolean), from = (places) => (last ? [last, ...places] : places);
  const marks = observed.map((place) => place && draw("circle", { class: "mark", cx: place[0].toFixed(1), cy: place[1].toFixed(1), r: 0 }));
  const seen = observed.map((place) => place && draw("circle", { class: "seen-point", cx: place[0].toFixed(1), cy: place[1].toFixed(1), r: 2.8 }));
  const dots = predicted.map((place, at) => place && draw("circle", { class: "said", cx: place[0].toFixed(1), cy: place[1].toFixed(1), r: 3.4 }, draw("title", {}, `+${at + 1} ${pointText(paths.predicted[at])}`)));
  const line = (kind, places) => draw("path", { class: kind, d: course(places) });
  const parts = [
    ...futures.map((places) => line("future", from(places))), line("observed", observed), ...(target.length ? [line("true", from(target))] : []), line("predicted", from(predicted)),
    ...marks.filter(Boolean), ...seen.filter(Boolean), ...dots.filter(Boolean),
  ];
  return { parts, marks, dots, observed, predicted };
}

function inPlane(paths, { middle, span }, wide) {
  const scale = wide / span, height = Math.round(wide * FLAT);
  const x = (value) => LEFT + wide / 2 + (value - middle[0]) * scale, y = (value) => TOP + height / 2 - (value - middle[1]) * scale;
  const place = (point) => (known(point) ? [x(point[0]), y(point[1])] : null);
  const all = (points) => (points ?? []).map(place);
  const low = [middle[0] - span / 2, middle[1] - height / scale / 2], high = [middle[0] + span / 2, middle[1] + height / scale / 2];
  const made = drawn({ observed: all(paths.series), predicted: all(paths.predicted), target: all(paths.target), futures: paths.futures.map(all) }, paths);
  const back = ([px, py]) => [middle[0] + (px - LEFT - wide / 2) / scale, middle[1] - (py - TOP - height / 2) / scale];
  return { ...made, parts: [...axes(low, high, x, y, [wide, height]), ...made.parts], height: TOP + height + BELOW, place, back };
}

function overTime(model, paths, wide) {
  const first = 1 - paths.series.length, last = Math.max(1, paths.predicted.length, model.search.steps ?? 1);
  return Array.from({ length: Math.min(model.source.values, MOST_PANELS) }, (_, value) => {
    const heights = [paths.series, paths.predicted, paths.target, ...paths.futures].flatMap((one) => one ?? []).map((point) => point[value]).filter((height) => height !== null);
    const bottom = Math.min(...heights), top = Math.max(...heights), margin = 0.12 * (top - bottom) || 0.5;
    const low = bottom - margin, high = top + margin;
    const x = (step) => LEFT + wide * (step - first) / Math.max(1, last - first), y = (height) => TOP + PANEL * (1 - (height - low) / (high - low));
    const all = (points, start) => (points ?? []).map((point, at) => (point[value] === null ? null : [x(start + at), y(point[value])]));
    const made = drawn({ observed: all(paths.series, first), predicted: all(paths.predicted, 1), target: all(paths.target, 1), futures: paths.futures.map((one) => all(one, 1)) }, paths);
    const name = draw("text", { class: "tick", x: LEFT + 6, y: TOP + 12 }, `value ${value + 1}`);
    return { ...made, parts: [...axes([first, low], [last, high], x, y, [wide, PANEL]), ...made.parts, name], height: TOP + PANEL + BELOW, place: () => null, back: () => null };
  });
}
