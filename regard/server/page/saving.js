// What is on the page as files: every picture is an SVG, and the others are made of it.

import { draw, make } from "./elements.js";
import { colour } from "./colours.js";

const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];
const MARGIN = 16;

// A copy that needs no style sheet: what the page's styles say stands in its attributes.
export function alone(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  const gone = [];
  originals.forEach((original, at) => {
    const style = getComputedStyle(original), element = copies[at];
    if (style.display === "none" || original.hasAttribute("hidden")) gone.push(element);
    for (const name of ["class", "tabindex", "role", "aria-pressed", "aria-level", "data-key", "data-number", "data-side", "data-place"]) element.removeAttribute(name);
    for (const name of LOOKS) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
    if (original.tagName === "text") element.setAttribute("xml:space", "preserve");
  });
  gone.forEach((element) => element.remove());
  const [width, height] = ["width", "height"].map((name) => Number(svg.getAttribute(name)) + 2 * MARGIN);
  for (const name of ["width", "height", "x", "y"]) copy.removeAttribute(name);
  const inner = draw("g", { transform: `translate(${MARGIN} ${MARGIN})` }, [...copy.childNodes]);
  return draw("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    draw("rect", { width, height, fill: colour("card") }), inner);
}

const pictured = (svg) => (svg.querySelector("image") ? "; img-src data:" : "");
export const svgText = (svg) => new XMLSerializer().serializeToString(alone(svg));

async function png(svg, scale = 2) {
  const text = svgText(svg), image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const most = Math.min(scale, 8000 / image.width, 8000 / image.height); // larger ones some browsers leave empty
  const canvas = make("canvas", { width: Math.round(image.width * most), height: Math.round(image.height * most) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

const escaped = (text) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

// JSON without a character that could end or open anything in HTML.
const inert = (data) => JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

// One file that holds everything and fetches nothing: the picture, the texts, and the data as they came.
function html(svg, { title, texts, data }) {
  const style = `body{margin:40px auto;max-width:1200px;padding:0 20px;font:16px/1.5 ${colour("sans")};background:${colour("page")};color:${colour("ink")}}`
    + `dt{font-size:12px;color:${colour("quiet")}}dd{margin:0 0 14px;font:22px/1.4 ${colour("serif")};white-space:pre-wrap}figure{margin:24px 0;overflow:auto}`;
  const list = texts.map(([name, text]) => `<dt>${escaped(name)}</dt><dd dir="auto">${escaped(text)}</dd>`).join("\n");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'${pictured(svg)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<dl>
${list}
</dl>
<figure>${svgText(svg)}</figure>
<script type="application/json" id="data">${inert(data)}</script>
</body>
</html>
`;
}

export const FORMATS = {
  svg: { title: "SVG", hint: "picture for print and papers", make: ({ svg }) => new Blob([svgText(svg)], { type: "image/svg+xml" }) },
  png: { title: "PNG", hint: "picture", make: ({ svg }) => png(svg) },
  json: { title: "JSON", hint: "all numbers", make: ({ data }) => new Blob([JSON.stringify(data, null, 1)], { type: "application/json" }) },
  html: { title: "HTML", hint: "one page that needs no server", make: (what) => new Blob([html(what.svg, what)], { type: "text/html" }) },
};

export async function save(format, what) {
  const file = await FORMATS[format].make(what);
  const url = URL.createObjectURL(file);
  const link = make("a", { href: url, download: `${what.name}.${format}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Copies, and says so on the button.
export async function copy(text, opener) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a server that is called by a plain address has no clipboard
    const field = make("textarea", { class: "unseen" });
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  clearTimeout(opener.later);
  opener.before ??= opener.textContent;
  opener.textContent = "Copied";
  opener.later = setTimeout(() => { opener.textContent = opener.before; opener.before = null; }, 1200);
}
