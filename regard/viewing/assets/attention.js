
(() => {
  "use strict";
  const { prediction, labels, special, hidden, told } = JSON.parse(document.getElementById("data").textContent);
  const look = prediction.attention.cross;
  const isSpecial = (piece) => special.includes(piece);
  const pieces = { source: prediction.source_pieces, target: prediction.target_pieces };
  const isLong = pieces.source.length > 60;  // then it is read as a text, by words, and the map is a second view
  document.querySelector("main").classList.toggle("reading", isLong && Boolean(look));
  const state = { layer: null, head: null, special: !hidden, stretch: isLong, held: null, at: null, zoom: null };
  let weights = [];     // target by source, of the chosen layer and head or their mean
  let largest = 1;
  let cells = new Map();  // "row,column" -> element
  let names = { source: new Map(), target: new Map() };  // index -> header of the map

  const number = (weight) => (weight === null || Number.isNaN(weight) ? "not a number" : weight.toFixed(3));
  const shown = (side) => pieces[side].map((_, at) => at).filter((at) => state.special || !isSpecial(pieces[side][at]));

  // ---- words

  // For each piece the pieces that are shown with it: in a long text those of its word.
  function companions(side) {
    const parts = prediction[side + "_words"]?.of;
    const key = (at) => (isLong && parts?.[at]?.length ? "word " + parts[at][0] : "piece " + at);
    const groups = new Map();
    pieces[side].forEach((_, at) => groups.set(key(at), [...(groups.get(key(at)) ?? []), at]));
    return pieces[side].map((_, at) => groups.get(key(at)));
  }
  const together = { source: companions("source"), target: companions("target") };
  const isFirst = (side, at) => together[side][at][0] === at;
  const spelt = (side, at) => together[side][at].length > 1 || isLong
    ? together[side][at].map((one) => labels[side][one]).join("").replace(/^[▁␣]+/u, "") || labels[side][at]
    : labels[side][at];
  // How much a word of the answer looked at a word of the source: the mean of who looked, the sum of what was seen.
  const weightOf = (row, column) => together.target[row].reduce((sum, r) =>
    sum + together.source[column].reduce((seen, c) => seen + weights[r][c], 0), 0) / together.target[row].length;

  // ---- numbers

  function chosenWeights() {
    const layers = state.layer === null ? look.weights : [look.weights[state.layer]];
    const maps = layers.flatMap((heads) => (state.head === null ? heads : [heads[state.head]]));
    return pieces.target.map((_, row) => pieces.source.map((_, column) => {
      let sum = 0;
      for (const map of maps) sum += map[row][column] === null ? NaN : map[row][column];
      return sum / maps.length;
    }));
  }

  function strongest(indices, weightOf, count) {
    return indices.map((at) => [at, weightOf(at)]).filter(([, w]) => w >= 0.0005)
      .sort((a, b) => b[1] - a[1]).slice(0, count);
  }

  // ---- source and answer as sentences

  function drawTexts() {
    const sides = [["source", "source", prediction.source], ["answer", "target", prediction.text]];
    for (const [id, side, text] of sides) {
      const box = byId(id);
      box.replaceChildren();
      const ordinary = pieces[side].filter((piece) => !isSpecial(piece));
      const running = isLong || ordinary.join("") === text;
      box.classList.toggle("chips", !running);
      box.parentElement.classList.toggle("long", text.length > 110);
      for (const at of shown(side)) {
        const label = labels[side][at];
        const extra = isSpecial(pieces[side][at]);
        let shape = running && !extra ? label.replaceAll("␣", " ") : label;
        if (isLong && !extra && /^[▁ ]/u.test(shape)) {  // the space before a word has no weight to show
          if (box.firstChild) box.append(" ");
          shape = shape.slice(1);
        }
        const item = make("span", "piece" + (extra ? " special" : ""), shape);
        item.setAttribute("role", "option");
        item.setAttribute("aria-label", spelt(side, at));
        item.setAttribute("aria-selected", "false");
        item.dataset.side = side;
        item.dataset.at = at;
        item.tabIndex = -1;
        box.append(item);
      }
      if (box.firstElementChild) {
        box.firstElementChild.tabIndex = look ? 0 : -1;
      } else {
        box.removeAttribute("role");
        box.append(make("span", "nothing", "nothing"));
      }
    }
    const facts = byId("facts");
    facts.replaceChildren();
    const fact = (name, value) => {
      const span = make("span", "", name + " ");
      span.append(make("b", "", value));
      facts.append(span);
    };
    if (prediction.score === null) fact("log-probability", "not finite");
    else {
      fact("log-probability", prediction.score.toFixed(3).replace("-", "−"));
      const percent = 100 * Math.exp(prediction.score);
      fact("probability", percent >= 0.1 ? percent.toFixed(1) + " %" : "below 0.1 %");
    }
    if (!prediction.finished) fact("cut off at the", "longest length");
  }

  // ---- the map

  function drawGrid() {
    const grid = byId("grid");
    const rows = shown("target"), columns = shown("source");
    cells = new Map();
    names = { source: new Map(), target: new Map() };
    grid.setAttribute("aria-label", "Weights: who looked down, what was looked at across");
    grid.setAttribute("aria-rowcount", rows.length + 1);
    grid.setAttribute("aria-colcount", columns.length + 1);

    const name = (side, at, role) => {
      const element = make("div", "name" + (side === "source" ? " column" : "") + (isSpecial(pieces[side][at]) ? " special" : ""));
      element.append(make("span", "", labels[side][at]));
      element.setAttribute("role", role);
      element.dataset.side = side;
      element.dataset.at = at;
      names[side].set(at, element);
      return element;
    };
    const head = make("div", "row head");
    head.setAttribute("role", "row");
    const corner = make("div", "name", "");
    corner.setAttribute("role", "columnheader");
    corner.setAttribute("aria-label", "target");
    head.append(corner, ...columns.map((at) => name("source", at, "columnheader")));
    const lines = rows.map((row) => {
      const line = make("div", "row");
      line.setAttribute("role", "row");
      line.append(name("target", row, "rowheader"));
      for (const column of columns) {
        const box = make("div", "cell");
        box.setAttribute("role", "gridcell");
        box.dataset.row = row;
        box.dataset.column = column;
        box.tabIndex = -1;
        cells.set(row + "," + column, box);
        line.append(box);
      }
      return line;
    });
    grid.replaceChildren(head, ...lines, bands.across, bands.down);
    grid.style.setProperty("--columns", columns.length);
    if (rows.length && columns.length) cells.get(rows[0] + "," + columns[0]).tabIndex = 0;
    const empty = !rows.length || !columns.length;
    grid.hidden = byId("readout").hidden = empty;
    fit();
    byId("hint").textContent = !empty
      ? `Point at a ${isLong ? "word" : "piece"} or a cell to see where it looked; click to hold it, Escape to let go. Arrow keys move.`
      : "Nothing to draw: the " + (columns.length ? "answer" : "source") + " has no pieces.";
    paint();
  }

  // Cells as large as the window allows; below 15 pixels, 5 for a long source, the map scrolls instead. Zoom decides.
  function fit() {
    const rows = shown("target"), columns = shown("source");
    if (!rows.length || !columns.length) return;
    const full = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u;
    const width = (label) => [...label].reduce((sum, letter) => sum + (full.test(letter) ? 1.02 : 0.62), 0);
    const across = columns.map((at) => width(labels.source[at]));
    const down = Math.max(...rows.map((at) => width(labels.target[at])));
    const room = document.querySelector(".frame").clientWidth;
    const side = (letter) => Math.min(room * 0.4, down * letter + 20);
    const fitting = (letter) => (room - side(letter) - 12) / columns.length;
    const wanted = fitting(14) < 20 ? fitting(10) : fitting(14);
    const fine = Math.max(isLong ? 5 : 15, Math.min(44, wanted, Math.max(24, 620 / rows.length)));
    const cell = state.zoom ?? Math.floor(fine);
    const tall = isLong ? Math.max(cell, 20) : cell;
    const letter = isLong ? 12 : Math.max(10, Math.min(15, Math.round(cell * 0.5)));
    const narrow = cell < 12;  // no room for the names of columns: pointing tells them
    byId("grid").classList.toggle("narrow", narrow);
    const slider = byId("zoom");
    if (slider && state.zoom === null) slider.value = cell;
    const long = across.map((wide) => wide * letter > cell - 2);
    const all = long.filter(Boolean).length > columns.length / 4;
    let head = letter * 1.5 + 6, overhang = 0;
    columns.forEach((at, place) => {
      const turned = !narrow && (all || long[place]);
      names.source.get(at).classList.toggle("slant", turned);
      if (!turned) return;
      head = Math.max(head, across[place] * letter * 0.79 + letter + 8);
      overhang = Math.max(overhang, across[place] * letter * 0.62 + letter - (columns.length - place - 0.5) * cell);
    });
    const style = byId("grid").style;
    style.setProperty("--cell", cell + "px");
    style.setProperty("--tall", tall + "px");
    style.setProperty("--letter", letter + "px");
    style.setProperty("--side", side(letter) + "px");
    style.setProperty("--head", (narrow ? 6 : head) + "px");
    style.paddingRight = overhang + "px";
  }

  function paint() {
    weights = chosenWeights();
    largest = 1;
    if (state.stretch) {
      largest = 0;
      for (const key of cells.keys()) {
        const [row, column] = key.split(",");
        largest = Math.max(largest, weights[row][column] || 0);
      }
      largest = largest || 1;
    }
    byId("largest").textContent = largest === 1 ? "1" : largest.toFixed(2);
    for (const [key, box] of cells) {
      const [row, column] = key.split(",");
      const weight = weights[row][column];
      box.textContent = number(weight);
      box.classList.toggle("bad", Number.isNaN(weight));
      box.style.setProperty("--w", Math.min(1, (weight || 0) / largest).toFixed(4));
    }
    show(state.at, false);
  }

  // ---- pointing

  const bands = { across: make("div", "band across"), down: make("div", "band down") };
  for (const band of Object.values(bands)) band.setAttribute("role", "presentation");
  let marked = [];
  function mark(element, ...classes) {
    if (!element) return;
    element.classList.add(...classes);
    marked.push([element, classes]);
  }

  // In a long text the strongest is the darkest, from a tenth of all weight on: among hundreds it is small.
  function light(id, side, weightOf) {
    const most = isLong ? Math.max(0.1, ...shown(side).map((at) => weightOf(at) || 0)) : largest;
    for (const item of byId(id).querySelectorAll(".piece")) {
      const weight = weightOf(Number(item.dataset.at)) / most;
      item.style.setProperty("--w", weight.toFixed(4));
      mark(item, "lit");
      if (weight < 0.02) mark(item, "faint");
      if (weight > 0.6) mark(item, "strong");
    }
  }

  function item(id, at) {
    return byId(id).querySelector(`.piece[data-at="${at}"]`);
  }

  // What is pointed at: {row}, {column} or both, as indices into the pieces.
  function show(at, spoken) {
    for (const [element, classes] of marked) element.classList.remove(...classes);
    for (const option of document.querySelectorAll('[aria-selected="true"]')) option.setAttribute("aria-selected", "false");
    marked = [];
    state.at = at;
    const readout = byId("readout");
    readout.setAttribute("aria-live", spoken ? "polite" : "off");
    readout.replaceChildren();
    if (!look) return;
    const say = (text) => readout.append(text);
    const quote = (side, index) => readout.append(make("q", "", spelt(side, index)));
    const weight = (value) => readout.append(make("b", "", number(value)));
    bands.across.hidden = at?.row === undefined;
    bands.down.hidden = at?.column === undefined;
    if (at === null) {
      readout.append(make("span", "quiet", describe()));
      return;
    }
    const { row, column } = at;
    byId("grid").style.setProperty("--row", shown("target").indexOf(row));
    byId("grid").style.setProperty("--column", shown("source").indexOf(column));
    if (row !== undefined) {
      light("source", "source", (index) => weightOf(row, index));
      const option = item("answer", row);
      for (const one of together.target[row]) mark(item("answer", one), "chosen");
      if (column === undefined && option) option.setAttribute("aria-selected", "true");
      mark(names.target.get(row), "on");
    } else {
      light("answer", "target", (index) => weightOf(index, column));
      item("source", column)?.setAttribute("aria-selected", "true");
    }
    if (column !== undefined) {
      for (const one of together.source[column]) mark(item("source", one), row === undefined ? "chosen" : "pointed");
      mark(names.source.get(column), "on");
    }
    if (row !== undefined && column !== undefined) {
      mark(cells.get(row + "," + column), "chosen");
      quote("target", row); say(" looked at "); quote("source", column); say(" with weight "); weight(weightOf(row, column));
      return;
    }
    const byRow = row !== undefined;
    const top = byRow
      ? strongest(shown("source").filter((index) => isFirst("source", index)), (index) => weightOf(row, index), 4)
      : strongest(shown("target").filter((index) => isFirst("target", index)), (index) => weightOf(index, column), 4);
    if (byRow) { quote("target", row); say(top.length ? " looked at " : " looked at nothing that is shown"); }
    else { quote("source", column); say(top.length ? " was looked at by " : " was looked at by nothing that is shown"); }
    top.forEach(([index, value], place) => {
      if (place) say(", ");
      quote(byRow ? "source" : "target", index); say(" "); weight(value);
    });
  }

  function describe() {
    const [layers, heads] = look.shape;
    const parts = [];
    if (layers > 1) parts.push(state.layer === null ? `mean of ${layers} layers` : `layer ${state.layer}`);
    if (heads > 1) parts.push(state.head === null ? `mean of ${heads} heads` : `head ${state.head}`);
    const which = parts.length ? parts.join(", ") + ": " : "";
    const text = which + "each row shows " + told + ".";
    return text[0].toUpperCase() + text.slice(1);
  }

  function pointed(target) {
    if (!(target instanceof Element)) return null;
    const cell = target.closest(".cell");
    if (cell) return { row: Number(cell.dataset.row), column: Number(cell.dataset.column) };
    const name = target.closest("[data-side]");
    if (!name) return null;
    return name.dataset.side === "target" ? { row: Number(name.dataset.at) } : { column: Number(name.dataset.at) };
  }

  function listen() {
    const same = (a, b) => a && b && a.row === b.row && a.column === b.column;
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch") return;
      show(pointed(event.target) ?? state.held, false);
    });
    document.addEventListener("click", (event) => {
      const at = pointed(event.target);
      if (!at) { if (!event.target.closest("form")) { state.held = null; show(null, false); } return; }
      state.held = same(at, state.held) ? null : at;
      show(state.held ?? at, false);
    });
    document.addEventListener("focusin", (event) => {
      if (!event.target.matches(".cell, .piece")) return;
      show(pointed(event.target), event.target.matches(".piece"));
    });
    document.addEventListener("focusout", (event) => {
      if (event.target.matches(".cell, .piece")) show(state.held, false);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { state.held = null; show(null, false); return; }
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const target = event.target;
      if ((event.key === "Enter" || event.key === " ") && target.matches(".cell, .piece")) {
        event.preventDefault();
        target.click();
        return;
      }
      const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e9], End: [0, 1e9] };
      const step = steps[event.key];
      if (!step) return;
      let next = null;
      const within = (list, place) => list[Math.max(0, Math.min(list.length - 1, place))];
      if (target.matches(".cell")) {
        const rows = shown("target"), columns = shown("source");
        const row = within(rows, rows.indexOf(Number(target.dataset.row)) + step[0]);
        const column = within(columns, columns.indexOf(Number(target.dataset.column)) + step[1]);
        next = cells.get(row + "," + column);
      } else if (target.matches(".piece")) {
        const all = [...target.parentElement.querySelectorAll(".piece")];
        next = within(all, all.indexOf(target) + step[0] + step[1]);
      }
      if (!next) return;
      event.preventDefault();
      target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      next.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }

  // ---- controls

  function drawControls() {
    const form = byId("controls"), { picker, toggle } = controls(form, state);
    picker("Layer", "layer", look.shape[0], paint);
    picker("Head", "head", look.shape[1], paint);
    if ([...pieces.source, ...pieces.target].some(isSpecial)) {
      toggle("Special pieces", "special", () => { state.held = state.at = null; drawTexts(); drawGrid(); });
    }
    toggle("Stretch colours", "stretch", paint);
    if (isLong) drawZoom(form);
  }

  function drawZoom(form) {
    const choice = make("label", "switch", "Zoom");
    const slider = make("input");
    Object.assign(slider, { type: "range", id: "zoom", min: 2, max: 40, step: 1, autocomplete: "off" });
    slider.addEventListener("input", () => {
      const frame = document.querySelector(".frame");
      const middle = (frame.scrollLeft + frame.clientWidth / 2) / frame.scrollWidth;
      state.zoom = Number(slider.value);
      fit();
      frame.scrollLeft = middle * frame.scrollWidth - frame.clientWidth / 2;
    });
    choice.append(slider);
    form.append(choice);
  }

  drawTexts();
  document.querySelector(".texts").hidden = false;
  if (look) {
    drawControls();
    document.querySelector(".map").hidden = false;
    drawGrid();
    addEventListener("resize", fit);
    listen();
    if (isLong) {  // a first word to begin with
      const first = shown("target").find((at) => !isSpecial(pieces.target[at]));
      if (first !== undefined) show(state.held = { row: first }, false);
    }
  } else {
    byId("notice").textContent = "No attention to draw: none was recorded, or this model has none.";
    byId("notice").hidden = false;
  }
})();
