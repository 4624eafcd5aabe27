// The scale of weights, white to blue to ink, even to the eye: regard/viewing/colours.py in the colours of the page.

import { kept } from "./keeping.js";

const CONES = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]];
const LAB = [[0.2104542553, 0.793617785, -0.0040720468], [1.9779984951, -2.428592205, 0.4505937099], [0.0259040371, 0.7827717662, -0.808675766]];
const UNLAB = [[1, 0.3963377774, 0.2158037573], [1, -0.1055613458, -0.0638541728], [1, -0.0894841775, -1.291485548]];
const UNCONES = [[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965], [-0.0041960863, -0.7034186147, 1.707614701]];

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, factor, at) => sum + factor * vector[at], 0));
const toLinear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const fromLinear = (c) => (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055);

const oklab = (hex) =>
  times(LAB, times(CONES, [1, 3, 5].map((at) => toLinear(parseInt(hex.slice(at, at + 2), 16) / 255))).map(Math.cbrt));

function hexadecimal(lab) {
  const linear = times(UNCONES, times(UNLAB, lab).map((cone) => cone ** 3));
  return "#" + linear.map((c) => Math.round(255 * fromLinear(Math.min(1, Math.max(0, c)))).toString(16).padStart(2, "0")).join("");
}

export const LEVELS = 64;
let scale = [];

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const level = (share) => (Number.isFinite(share) ? Math.round(Math.min(1, Math.max(0, share)) * LEVELS) : -1);
export const shade = (step) => (step < 0 ? colour("bad") : scale[step]);

function read() {
  const anchors = ["low", "middle", "high"].map((name) => oklab(colour(name)));
  scale = Array.from({ length: LEVELS + 1 }, (_, step) => {
    const place = (2 * step) / LEVELS;
    const [from, to] = place <= 1 ? anchors : anchors.slice(1);
    const part = place <= 1 ? place : place - 1;
    return hexadecimal(from.map((value, axis) => value + (to[axis] - value) * part));
  });
}

// ---- light and dark

const theme = kept("regard-theme", () => localStorage);
const dark = matchMedia("(prefers-color-scheme: dark)");
const chosen = () => theme.get() ?? "system";

export const isDark = () => (chosen() === "system" ? dark.matches : chosen() === "dark");

// Rules for a dark system hold where dark was chosen, and only there.
function apply() {
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      rule.forDark ??= rule.media.mediaText.includes("prefers-color-scheme: dark");
      if (rule.forDark) rule.media.mediaText = isDark() ? "all" : "not all";
    }
  }
  document.documentElement.style.colorScheme = isDark() ? "dark" : "light";
  read();
}

export function themes(toggle, changed) {
  const show = () => {
    apply();
    toggle.textContent = isDark() ? "☀" : "☾";
    toggle.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
    toggle.title = toggle.getAttribute("aria-label");
  };
  toggle.addEventListener("click", () => {
    const other = isDark() ? "light" : "dark";
    theme.set((other === "dark") === dark.matches ? null : other);
    show();
    changed();
  });
  dark.addEventListener("change", () => { show(); changed(); });
  show();
}
