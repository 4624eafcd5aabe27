// Series of points: read, written, and made of what somebody drew.

import { draw, logarithm, make, minus } from "./elements.js";
import { fact } from "./reply.js";

const isPoint = (point) => Array.isArray(point) && point.every((value) => value === null || Number.isFinite(value));
const isSeries = (points) => Array.isArray(points) && points.length > 0 && points.every((point) => isPoint(point) && point.length === points[0].length);
export const known = (point) => point.every((value) => value !== null);

// What a source says, { series, context, target }; null where it is none that can be drawn.
export function readSource(text) {
  let found;
  try { found = JSON.parse(text); } catch { return null; }
  const source = Array.isArray(found) ? { series: found } : found;
  return source && isSeries(source.series) ? { series: source.series, context: source.context ?? null, target: isSeries(source.target) ? source.target : null } : null;
}

export function pointsOf(text) {
  try { const points = JSON.parse(text); return isSeries(points) ? points : []; } catch { return []; }
}

export const writeSource = (series, context) => JSON.stringify(context ? { series, context } : series);

export const numberText = (value) => (value === null ? "?" : minus(String(Number(value.toPrecision(3)))));
export const pointText = (point) => `(${point.map(numberText).join(", ")})`;
export const pointWords = (text) => pointsOf(text).map(pointText).join("  ");

// For each step of the answer an element to point at.
export function stepUnits(context, text, element) {
  const points = pointsOf(text);
  return context.looks.units("target", false).flatMap((unit) => {
    const span = element(unit, unit.label);
    span.append(make("small", {}, points[unit.at] ? pointText(points[unit.at]) : ""));
    return [span, " "];
  });
}

export const seriesFacts = ({ score, text }) => [
  fact("points", String(pointsOf(text).length)), ...(score === null || score === undefined ? [] : [fact("log-likelihood", logarithm(score))]),
];

// ---- drawn by hand

const apart = (a, b) => Math.hypot(...a.map((value, axis) => value - b[axis]));

// So many points on the drawn path, evenly apart and no farther than `stride` allows: then its last part counts.
export function resampled(path, count, stride) {
  const lengths = [0];
  for (let at = 1; at < path.length; at++) lengths.push(lengths[at - 1] + apart(path[at], path[at - 1]));
  const whole = lengths.at(-1), gap = Math.min(whole / Math.max(1, count - 1), stride ?? Infinity);
  return Array.from({ length: count }, (_, step) => {
    const wanted = whole - gap * (count - 1 - step);
    const at = Math.max(1, lengths.findIndex((length) => length >= wanted - 1e-12));
    const part = (wanted - lengths[at - 1]) / (lengths[at] - lengths[at - 1] || 1);
    return path[at].map((value, axis) => Number((path[at - 1][axis] + (value - path[at - 1][axis]) * part).toPrecision(5)));
  });
}

// How far a step of the model's series goes at most, by what was trained with or by the examples.
export function plausible(model) {
  if (model.source.stride) return 2.5 * model.source.stride;
  const steps = model.examples.map(readSource).filter(Boolean)
    .flatMap(({ series }) => series.slice(1).map((point, at) => (known(point) && known(series[at]) ? apart(point, series[at]) : 0)));
  return steps.length ? 1.2 * Math.max(...steps) : null;
}

export const distance = apart;

// ---- examples

const ICON = 72;

// A path in the plane, or its first value over time.
export function exampleOf(text) {
  const { series = [] } = readSource(text) ?? {}, plane = series[0]?.length === 2;
  const points = series.map((point, at) => (plane ? point : [at, point[0]])).filter(known);
  if (!points.length) return text.slice(0, 40);
  const side = ICON - 20, axis = (one) => {
    const values = points.map((point) => point[one]), low = Math.min(...values), high = Math.max(...values);
    return { middle: (low + high) / 2, span: high - low };
  };
  const across = axis(0), down = axis(1), both = Math.max(across.span, down.span);
  const share = (value, { middle, span }) => side * (value - middle) / ((plane ? both : span) || 1);
  const place = ([x, y]) => [ICON / 2 + share(x, across), ICON / 2 - share(y, down)].map((value) => value.toFixed(1));
  const [x, y] = place(points.at(-1));
  return draw("svg", { class: "icon", width: ICON, height: ICON, viewBox: `0 0 ${ICON} ${ICON}`, "aria-hidden": "true" },
    draw("path", { class: "observed", d: `M${points.map((point) => place(point).join(" ")).join("L")}` }), draw("circle", { class: "seen-point", cx: x, cy: y, r: 3.4 }));
}
