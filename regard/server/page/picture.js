// A picture that is dropped, pasted or chosen, beside its caption. Pointing at a word lights up where it looked.

import { button, make } from "./elements.js";
import { daylight, paint, softened } from "./light.js";
import { light } from "./lighting.js";
import { reply } from "./reply.js";
import { shrunk } from "./shrinking.js";
import { pictureStrip } from "./drawing/strip.js";
import { isPicture, sourceTold, taskOf } from "./tasks.js";

const BEAT = 1000, GLIDE = 280; // milliseconds of a word when it plays, and from one look to the next
const FITS = { crop: "cover", stretch: "fill", pad: "contain" }; // how a picture becomes a square, in words of CSS
const SMALL = 224; // pixels a side of a picture in drawings
const still = matchMedia("(prefers-reduced-motion: reduce)");

export function pictureComposer(context) {
  const { change, pointing } = context;
  const file = make("input", { type: "file", id: "input", accept: "image/*", class: "unseen", "aria-describedby": "counter", change: () => take(file.files[0]) });
  const choose = make("label", { class: "tool choose" }, file, "Choose a picture");
  const clear = button("Clear", () => { file.value = ""; change({ input: "", prefix: "", answer: 0 }); file.focus(); }, { class: "plain" });
  const name = make("h2", { class: "name" });
  const image = make("img", { alt: "The picture that is described", draggable: "false" });
  const shade = make("canvas", { "aria-hidden": "true" });
  const cell = make("i", { class: "cell", "aria-hidden": "true" });
  const invite = make("p", { class: "invite" }, "Drop a picture here", make("br"), make("span", { class: "quiet" }, "or paste one, or choose a file"));
  const plate = make("div", { class: "plate" }, image, shade, cell, invite);
  const counter = make("p", { id: "counter", class: "counter", role: "status" });
  const play = button("▶ Play", () => (playing ? stop() : start()), { class: "plain" });
  const answer = reply(context, play);
  const strip = make("div", { class: "frame" });
  answer.element.append(strip);
  const element = make("div", { class: "sides seen" },
    make("div", { class: "side source" }, make("div", { class: "bar" }, name, choose, clear), plate, counter), answer.element);

  // ---- taking a picture

  let known = { url: null, about: "" }, wrong = null, turn = 0;
  async function take(found) {
    if (!found) return;
    turn += 1;
    const mine = turn;
    try {
      const { url, wide, high } = await shrunk(found, { size: context.model.source.size, most: context.model.limits.body_bytes });
      if (mine !== turn) return;
      wrong = null;
      known = { url, about: [found.name, wide ? `${wide} × ${high} pixels` : ""].filter(Boolean).join(" · ") };
      change({ input: url, answer: 0, step: null });
    } catch (error) {
      wrong = { told: error.message, instead: context.state.input };
    }
    context.changed();
  }

  const pasted = (event) => { if (event.clipboardData?.files.length) { event.preventDefault(); take(event.clipboardData.files[0]); } };
  const over = (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault(); // or the browser would leave this page for the picture
    plate.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") take(event.dataTransfer.files[0]);
  };
  const listened = [["paste", pasted], ["dragover", over], ["dragleave", over], ["drop", over]];
  for (const [what, heard] of listened) document.addEventListener(what, heard);

  // ---- light

  let now = null, grid = null, frame = 0;
  function glide(look) {
    cancelAnimationFrame(frame);
    const next = look ? softened(look, grid) : daylight(grid);
    const from = now?.length === next.length ? now : next, start = performance.now();
    const step = (time) => {
      const part = still.matches ? 1 : Math.max(0, Math.min(1, (time - start) / GLIDE));
      now = next.map((value, pixel) => from[pixel] + (value - from[pixel]) * part);
      paint(shade, now, grid);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    step(still.matches ? start + GLIDE : start);
  }

  let shown = null;
  function lit(at) {
    light(context, at, { target: answer.spans });
    const matrix = context.matrix(), here = at && matrix && at.kind === context.kind() && matrix.columnSide === "source";
    const row = here ? matrix.rows.findIndex((unit) => unit.at === at.row) : -1;
    const key = JSON.stringify([row < 0 ? null : matrix.weights[row], grid]);
    if (key !== shown) glide(row < 0 ? null : [...matrix.weights[row]]);
    shown = key;
    panels?.show(row < 0 || !panels.matrix ? -1 : panels.matrix.rows.findIndex((unit) => unit.at === at.row));
    cell.hidden = !(here && row < 0 && at.column !== undefined);
    if (cell.hidden) return;
    const [high, wide] = grid, share = (count) => `${100 * count}%`;
    for (const [side, value] of Object.entries({ left: (at.column % wide) / wide, top: Math.floor(at.column / wide) / high, width: 1 / wide, height: 1 / high })) {
      cell.style.setProperty(side, share(value));
    }
  }
  pointing.listeners.add(lit);

  plate.addEventListener("pointermove", (event) => {
    if (!context.looks || event.pointerType === "touch") return;
    const box = plate.getBoundingClientRect(), [high, wide] = grid;
    const row = Math.floor(high * (event.clientY - box.top) / box.height), column = Math.floor(wide * (event.clientX - box.left) / box.width);
    pointing.point(row >= 0 && row < high && column >= 0 && column < wide ? context.here("source", row * wide + column) : null);
  });
  plate.addEventListener("pointerleave", () => pointing.point(null));

  // Small ones of all words, where no view shows them larger.
  let panels = null, striped = null;
  function drawStrip() {
    const { looks, state, question, view } = context, room = strip.clientWidth - 2;
    const there = view.id === "answer" && looks && question.growing === null && room > 0;
    const key = there && JSON.stringify([looks.record.text, state.input.length, context.framed?.url.length, room, context.words]) + looks.record.source.slice(-99);
    if (key === striped) return;
    striped = key;
    const matrix = there ? context.matrix(false) : null;
    panels = matrix?.rows.length && matrix.columnSide === "source" ? { matrix, ...pictureStrip(context, matrix, { room, most: 104 }) } : null;
    strip.replaceChildren(panels?.svg ?? "");
    panels?.svg.setAttribute("aria-hidden", "true"); // the words are walked above
  }
  strip.addEventListener("pointermove", (event) => {
    const place = event.pointerType === "touch" ? null : panels?.at(event);
    pointing.point(place ? context.here("target", panels.matrix.rows[place.row].at) : null);
  });
  strip.addEventListener("pointerleave", () => pointing.point(null));
  strip.addEventListener("click", (event) => { const place = panels?.at(event); if (place) pointing.hold(context.here("target", panels.matrix.rows[place.row].at)); });

  // ---- playing

  let playing = null;
  function stop() {
    clearInterval(playing);
    playing = null;
    play.textContent = "▶ Play";
    pointing.point(null);
  }
  function start() {
    const order = [...answer.spans.keys()];
    let place = 0;
    const next = () => (place < order.length ? pointing.point(context.here("target", order[place++])) : stop());
    play.textContent = "❚❚ Pause";
    playing = setInterval(next, BEAT);
    next();
  }

  // ---- drawing

  // A small square of it for drawings and files, as the model's own is framed.
  image.addEventListener("load", () => {
    const { naturalWidth: wide, naturalHeight: high } = image;
    const canvas = make("canvas", { width: SMALL, height: SMALL }), pen = canvas.getContext("2d");
    const short = Math.min(wide, high), long = Math.max(wide, high);
    const [w, h] = { cover: [wide / short, high / short], fill: [1, 1], contain: [wide / long, high / long] }[fit()].map((side) => side * SMALL);
    pen.fillStyle = "rgb(127 127 127)";
    pen.fillRect(0, 0, SMALL, SMALL);
    pen.imageSmoothingQuality = "high";
    pen.drawImage(image, (SMALL - w) / 2, (SMALL - h) / 2, w, h);
    const exact = canvas.toDataURL("image/png");
    context.framed = { input: context.state.input, url: exact.length < 60_000 ? exact : canvas.toDataURL("image/jpeg", 0.9) };
    context.changed();
  });
  image.addEventListener("error", () => { // a format that this browser has not: what the model saw is there
    const seen = context.looks?.record.source;
    if (seen && isPicture(seen) && image.src !== seen) image.src = seen;
    else { image.hidden = shade.hidden = true; invite.hidden = false; invite.firstChild.data = "This browser can't show it"; }
  });
  const fit = () => FITS[context.model.source.fit] ?? "cover";

  function update() {
    const { state, model } = context;
    name.textContent = taskOf(model).source;
    if (String(grid) !== String(model.source.grid)) { grid = model.source.grid; now = shown = null; }
    const there = isPicture(state.input);
    image.hidden = shade.hidden = !there;
    invite.hidden = there;
    invite.firstChild.data = "Drop a picture here";
    clear.hidden = !state.input;
    plate.classList.toggle("small", !["answer", "attention"].includes(context.view.id));
    image.style.setProperty("object-fit", fit());
    if (there && image.dataset.of !== String(state.input.length) + state.input.slice(-64)) {
      image.dataset.of = String(state.input.length) + state.input.slice(-64);
      image.src = state.input;
    } else if (there && image.complete && !image.naturalWidth) image.dispatchEvent(new Event("error"));
    answer.update();
    drawStrip();
    play.hidden = !answer.spans.size;
    if (playing && play.hidden) stop();
    sourceTold(context, counter, known.url === state.input && state.input ? known.about : there ? `seen as ${model.source.size} × ${model.source.size} pixels` : "JPEG, PNG, GIF, WebP and others");
    if (wrong?.instead === state.input) { counter.textContent = wrong.told; counter.classList.add("over"); }
    lit(pointing.at);
  }

  function leave() {
    stop();
    cancelAnimationFrame(frame);
    pointing.listeners.delete(lit);
    for (const [what, heard] of listened) document.removeEventListener(what, heard);
  }
  return { element, update, leave };
}
