
(() => {
  "use strict";
  const { words, marks, shape, weights, grid, hidden, score, finished } = JSON.parse(document.getElementById("data").textContent);
  const [high, wide] = grid;
  const FINE = 6;                            // pixels of light for each cell
  const SHADE = [16, 19, 27], DEPTH = 0.82;  // as in picture_looks.py
  const STEP = 1100, GLIDE = 280;            // milliseconds
  const state = { layer: null, head: null, special: !hidden, even: false, at: null, held: null, timer: null };
  const still = matchMedia("(prefers-reduced-motion: reduce)");

  const picture = byId("picture"), stage = byId("light"), play = byId("play");
  const shown = () => words.map((_, at) => at).filter((at) => state.special || !marks[at]);

  // ---- numbers

  // The look of a word, cell by cell: of the chosen layer and head, or their mean.
  function lookOf(at) {
    const layers = state.layer === null ? weights : [weights[state.layer]];
    const maps = layers.flatMap((heads) => (state.head === null ? heads : [heads[state.head]]));
    return maps[0][at].map((_, cell) => maps.reduce((sum, map) => sum + (map[at][cell] ?? 0), 0) / maps.length);
  }

  // How much each cell shines on a pixel, as in picture_looks.py.
  function spread(cells) {
    return Array.from({ length: cells * FINE }, (_, pixel) => {
      const place = Math.max(0, Math.min(cells - 1, (pixel + 0.5) / FINE - 0.5));
      return Array.from({ length: cells }, (_, cell) => Math.max(0, 1 - Math.abs(place - cell)));
    });
  }
  const down = spread(high), across = spread(wide);

  function softened(look) {
    const rows = down.map((shares) => Array.from({ length: wide }, (_, column) =>
      shares.reduce((sum, share, row) => sum + share * look[row * wide + column], 0)));
    return Float64Array.from(rows.flatMap((row) => across.map((shares) =>
      shares.reduce((sum, share, column) => sum + share * row[column], 0))));
  }

  let lights = [];  // of each word, from 0 to 1
  function measure() {
    lights = words.map((_, at) => softened(lookOf(at)));
    const tops = lights.map((light) => light.reduce((a, b) => Math.max(a, b), 0));
    const top = Math.max(...shown().map((at) => tops[at]));
    lights = lights.map((light, at) => light.map((value) => value / ((state.even ? top : tops[at]) || 1)));
  }

  // ---- light on the picture

  function paint(canvas, light) {
    canvas.width = wide * FINE;
    canvas.height = high * FINE;
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    light.forEach((value, pixel) => image.data.set([...SHADE, 255 * DEPTH * (1 - value)], pixel * 4));
    context.putImageData(image, 0, 0);
  }

  const whole = new Float64Array(high * wide * FINE * FINE).fill(1);
  let now = whole, frame = 0;
  function glide(light) {
    cancelAnimationFrame(frame);
    const from = now, start = performance.now();
    const step = (time) => {
      const part = still.matches ? 1 : Math.max(0, Math.min(1, (time - start) / GLIDE));
      now = light.map((value, pixel) => from[pixel] + (value - from[pixel]) * part);
      paint(stage, now);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    step(still.matches ? start + GLIDE : start);
  }

  // ---- words

  const buttons = new Map(), thumbs = new Map();  // by the place of a word

  function drawWords() {
    byId("words").replaceChildren();
    byId("strip").replaceChildren();
    buttons.clear();
    thumbs.clear();
    for (const at of shown()) {
      const word = make("button", "word" + (marks[at] ? " mark" : ""), words[at]);
      word.type = "button";
      word.setAttribute("aria-pressed", "false");
      word.dataset.at = at;
      buttons.set(at, word);
      byId("words").append(word, " ");
      const thumb = make("figure"), canvas = make("canvas");
      thumb.dataset.at = at;
      thumb.append(canvas, make("figcaption", "", words[at]));
      thumbs.set(at, thumb);
      byId("strip").append(thumb);
    }
    if (!buttons.size) byId("words").append(make("span", "nothing", "nothing"));
    refresh();
  }

  function refresh() {
    measure();
    const layer = make("canvas");
    for (const [at, thumb] of thumbs) {
      const canvas = thumb.querySelector("canvas");
      canvas.width = 2 * 112;
      canvas.height = Math.round(canvas.width * picture.naturalHeight / picture.naturalWidth) || canvas.width;
      const context = canvas.getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(picture, 0, 0, canvas.width, canvas.height);
      paint(layer, lights[at]);
      context.drawImage(layer, 0, 0, canvas.width, canvas.height);
    }
    show(state.at, false);
  }

  // What is looked at: a word by its place, or null for the whole picture.
  function show(at, spoken) {
    const known = at !== null && buttons.has(at) ? at : null;
    state.at = known;
    for (const [place, word] of buttons) {
      word.classList.toggle("on", place === known);
      word.setAttribute("aria-pressed", String(place === state.held));
      thumbs.get(place).classList.toggle("on", place === known);
    }
    glide(known === null ? whole : lights[known]);
    const readout = byId("readout");
    readout.setAttribute("aria-live", spoken ? "polite" : "off");
    readout.replaceChildren(...(known === null ? [make("span", "quiet", describe())] : said(known)));
  }

  // The cells that hold half of the look, and where their middle is.
  function said(at) {
    const look = lookOf(at);
    const order = [...look.keys()].sort((a, b) => look[b] - look[a]);
    const total = look.reduce((a, b) => a + b, 0);
    let sum = 0, cells = 0, row = 0, column = 0;
    while (cells < order.length && sum < total / 2) {
      const cell = order[cells++];
      sum += look[cell];
      row += look[cell] * (Math.floor(cell / wide) + 0.5) / high;
      column += look[cell] * (cell % wide + 0.5) / wide;
    }
    const third = (place, names) => names[Math.min(2, Math.floor(3 * place / (sum || 1)))];
    const parts = [third(row, ["upper", "", "lower"]), third(column, ["left", "", "right"])].filter(Boolean);
    return [make("q", "", words[at]), ` looked mostly at the ${parts.length === 1 ? `${parts[0]} part` : parts.join(" ") || "middle"}: half of its look lies in `,
      make("b", "", `${cells} of ${look.length} cells`), `, the strongest has ${(look[order[0]] ?? 0).toFixed(3)}.`];
  }

  function describe() {
    const [layers, heads] = shape;
    const parts = [];
    if (layers > 1) parts.push(state.layer === null ? `mean of ${layers} layers` : `layer ${state.layer}`);
    if (heads > 1) parts.push(state.head === null ? `mean of ${heads} heads` : `head ${state.head}`);
    const text = (parts.length ? parts.join(", ") + ": " : "") + "the brighter, the more a word looked there.";
    return text[0].toUpperCase() + text.slice(1);
  }

  // ---- playing

  function stop() {
    clearInterval(state.timer);
    state.timer = null;
    play.textContent = "Play";
  }

  function start() {
    const order = shown();
    if (!order.length) return;
    let place = 0;
    state.held = null;
    play.textContent = "Pause";
    show(order[0], false);
    state.timer = setInterval(() => {
      place += 1;
      if (place < order.length) show(order[place], false);
      else { stop(); show(null, false); }
    }, STEP);
  }

  // ---- pointing

  const placeOf = (target) => {
    const found = target instanceof Element ? target.closest(".word, .strip figure") : null;
    return found ? Number(found.dataset.at) : null;
  };

  function listen() {
    play.addEventListener("click", () => {
      if (state.timer === null) start();
      else { stop(); show(state.held = state.at, true); }  // it stays where it is
    });
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch" || state.timer !== null) return;
      const at = placeOf(event.target) ?? state.held;
      if (at !== state.at) show(at, false);
    });
    document.addEventListener("click", (event) => {
      const at = placeOf(event.target);
      if (at === null) return;
      stop();
      state.held = at === state.held ? null : at;
      show(at, true);
    });
    document.addEventListener("focusin", (event) => {
      const at = placeOf(event.target);
      if (at !== null && state.timer === null && at !== state.at) show(at, true);
    });
    document.addEventListener("focusout", (event) => {
      if (placeOf(event.target) !== null && placeOf(event.relatedTarget) === null && state.timer === null) show(state.held, false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") { stop(); state.held = null; show(null, false); return; }
      if (!event.target.matches(".word")) return;
      const order = shown(), place = order.indexOf(Number(event.target.dataset.at));
      const next = { ArrowLeft: place - 1, ArrowUp: place - 1, ArrowRight: place + 1, ArrowDown: place + 1, Home: 0, End: order.length - 1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      stop();
      buttons.get(order[Math.max(0, Math.min(order.length - 1, next))]).focus();
    });
  }

  // ---- controls

  function drawControls() {
    const { picker, toggle } = controls(byId("controls"), state);
    picker("Layer", "layer", shape[0], refresh);
    picker("Head", "head", shape[1], refresh);
    if (marks.includes(true)) toggle("Special pieces", "special", drawWords);
    toggle("One scale for all words", "even", refresh);
  }

  function drawFacts() {
    const fact = (name, value) => {
      const span = make("span", "", name + " ");
      span.append(make("b", "", value));
      byId("facts").append(span);
    };
    if (score === null) fact("log-probability", "not finite");
    else fact("log-probability", score.toFixed(3).replace("-", "−"));
    if (!finished) fact("cut off at the", "longest length");
  }

  function begin() {
    drawFacts();
    drawControls();
    byId("reading").hidden = byId("strip").hidden = false;
    drawWords();
    listen();
  }

  if (!shape.length) {
    byId("words").append(JSON.parse(byId("data").textContent).text);
    byId("controls").hidden = byId("readout").hidden = document.querySelector(".hint").hidden = true;
    drawFacts();
    byId("reading").hidden = false;
  } else if (picture.complete) begin();
  else picture.addEventListener("load", begin);
})();
