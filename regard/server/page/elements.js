// Elements made of names and texts. A text of anybody's is only ever a text node or the value of an attribute.

const SVG = "http://www.w3.org/2000/svg";

export const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (text, act, attributes = {}) => make("button", { type: "button", click: act, ...attributes }, text);

// Other children in place of those that are there. If one of them had the focus, who has its data-key now gets it, or who
// stands in its place; or `otherwise`.
export function renew(element, children, otherwise = byId("view")) {
  const keyed = () => [...element.querySelectorAll("[data-key]:not(:disabled)")];
  const focused = element !== document.activeElement && element.contains(document.activeElement) ? document.activeElement : null;
  const place = keyed().indexOf(focused);
  element.replaceChildren(...children);
  if (!focused || element.contains(document.activeElement)) return;
  const now = place < 0 ? [] : keyed();
  (now.find(({ dataset }) => dataset.key === focused.dataset.key) ?? now[Math.min(place, now.length - 1)] ?? otherwise).focus({ preventScroll: true });
}

// Numbers as people read them.
export const minus = (text) => text.replace("-", "−");
export const logarithm = (value) => (Number.isFinite(value) ? minus(value.toFixed(3)) : "not finite");
export const percent = (share) =>
  !Number.isFinite(share) ? "not a number" : share >= 0.9995 ? "100 %" : share >= 0.0995 ? `${(100 * share).toFixed(0)} %`
    : share >= 0.0005 ? `${(100 * share).toFixed(1)} %` : "below 0.1 %";
export const weightText = (weight) => (Number.isFinite(weight) ? weight.toFixed(3) : "not a number");

// How wide a label is, in letters of a sans-serif face.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u;
export const letters = (label) => [...label].reduce((sum, letter) => sum + (WIDE.test(letter) ? 1.02 : 0.6), 0);

// A piece with everything in it visible, as the server labels those of an attention record.
export function labelOf(piece) {
  if (!piece) return "∅";
  const shown = piece.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Z}]/gu, (hidden) => `\\u${hidden.codePointAt(0).toString(16).padStart(4, "0")}`);
  const letters = [...shown];
  return letters.length > 32 ? `${letters.slice(0, 24).join("")}…${letters.slice(-7).join("")}` : shown;
}

// Says something to those who listen instead of looking.
let saying;
export function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => { byId("spoken").textContent = text; }, 250);
}
