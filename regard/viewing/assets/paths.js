
(() => {
  "use strict";
  const { looks, observed, predicted, marked, largest, full } = JSON.parse(document.getElementById("data").textContent);
  const kinds = Object.keys(looks);
  const state = { layer: null, head: null, held: null };  // what is held: a predicted step, or nothing
  const drawing = byId("drawing");
  const draw = (tag, attributes, text) => {
    const element = document.createElementNS(document.querySelector("svg").namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // ---- numbers

  let chosen = {};  // kind -> steps by what is looked at, of the chosen layer and head or their mean
  function choose() {
    for (const kind of kinds) {
      const all = looks[kind].weights;
      const layers = state.layer === null || state.layer >= all.length ? all : [all[state.layer]];
      const maps = layers.flatMap((heads) => (state.head === null || state.head >= heads.length ? heads : [heads[state.head]]));
      chosen[kind] = predicted.map((_, step) => looks[kind].columns.map((_, at) =>
        maps.reduce((sum, map) => sum + map[step][at], 0) / maps.length));
    }
  }
  const mean = (kind) => looks[kind].columns.map((_, at) =>
    chosen[kind].reduce((sum, row) => sum + row[at], 0) / Math.max(predicted.length, 1));
  const strongest = (weights, names, count) => weights.map((weight, at) => [names[at], weight])
    .filter(([, weight]) => weight >= 0.0005).sort((a, b) => b[1] - a[1]).slice(0, count);

  // ---- pictures

  function drawMaps() {
    const box = byId("maps");
    box.replaceChildren();
    for (const kind of kinds) {
      const names = looks[kind].columns;
      if (!names.length || !predicted.length) continue;
      const cell = Math.max(5, Math.min(20, Math.floor(460 / names.length), Math.floor(560 / predicted.length)));
      const down = Math.ceil(18 / cell), across = Math.ceil((6 + 7 * Math.max(...names.map((name) => name.length))) / cell);
      const left = 36, top = 22;
      const card = make("section", "map");
      card.append(make("h2", "", `Predicted step over ${looks[kind].name} step`));
      const wide = left + cell * names.length + 2, high = top + cell * predicted.length + 2;
      const grid = draw("svg", { class: "grid", width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img",
        "aria-label": `Weights: ${predicted.length} predicted steps down, ${names.length} ${looks[kind].name} steps across` });
      names.forEach((name, at) => {
        if ((names.length - 1 - at) % across === 0) grid.append(draw("text", { x: left + cell * (at + 0.5), y: top - 7, "text-anchor": "middle" }, name));
      });
      predicted.forEach((name, step) => {
        if (step % down === 0) {
          grid.append(draw("text", { x: left - 7, y: top + cell * (step + 0.5) + 4, "text-anchor": "end", "data-step": step }, name));
        }
        names.forEach((_, at) => grid.append(draw("rect", { class: cell < 9 ? "cell tiny" : "cell", x: left + cell * at, y: top + cell * step,
          width: cell, height: cell, "data-step": step, "data-cell": at })));
      });
      const band = draw("rect", { class: "band", x: left, width: cell * names.length, height: cell, visibility: "hidden" });
      band.dataset.top = top;
      band.dataset.high = cell;
      grid.append(band);
      card.append(grid);
      card.dataset.kind = kind;
      box.append(card);
    }
  }

  function paint() {
    choose();
    for (const card of document.querySelectorAll(".map")) {
      for (const cell of card.querySelectorAll(".cell")) {
        cell.style.setProperty("--w", chosen[card.dataset.kind][cell.dataset.step][cell.dataset.cell]);
      }
    }
    show(state.held);
  }

  function show(step) {
    if (marked) {
      const weights = step === null ? mean("cross") : chosen.cross[step];
      for (const mark of drawing.querySelectorAll(".mark")) {
        const share = Math.max(0, weights[mark.dataset.at]) / Math.max(full, ...weights);
        mark.setAttribute("r", (largest * Math.sqrt(share)).toFixed(2));
      }
    }
    for (const element of document.querySelectorAll(".near, .grid text[data-step]")) {
      element.classList.toggle("chosen", step !== null && Number(element.dataset.step) === step);
    }
    for (const band of document.querySelectorAll(".band")) {
      band.setAttribute("visibility", step === null ? "hidden" : "visible");
      band.setAttribute("y", Number(band.dataset.top) + Number(band.dataset.high) * (step ?? 0));
    }
    const said = tell(step);
    drawing.setAttribute("aria-valuenow", step === null ? 0 : step + 1);
    drawing.setAttribute("aria-valuetext", said);
  }

  function tell(step) {
    const readout = byId("readout");
    readout.replaceChildren();
    const parts = kinds.map((kind) => {
      const weights = step === null ? mean(kind) : chosen[kind][step];
      const top = strongest(weights, looks[kind].columns, 3);
      return [`${looks[kind].name} step`, top];
    }).filter(([, top]) => top.length);
    readout.append(step === null ? "All steps" : "Step " + predicted[step], parts.length ? " looked at " : " looked at nothing that is shown");
    parts.forEach(([name, top], place) => {
      readout.append(place ? "; " : "", name + " ");
      top.forEach(([label, weight], at) => {
        readout.append((at ? ", " : "") + label + " ", make("b", "", weight.toFixed(3)));
      });
    });
    return readout.textContent;
  }

  function tellPoint(at) {
    const readout = byId("readout");
    readout.replaceChildren("Observed step " + observed[at]);
    const top = strongest(chosen.cross.map((row) => row[at]), predicted, 4);
    readout.append(top.length ? " was looked at by step " : " was looked at by no step");
    top.forEach(([label, weight], place) => readout.append((place ? ", " : "") + label + " ", make("b", "", weight.toFixed(3))));
  }

  // ---- pointing

  const pointed = (target) => {
    const step = target instanceof Element ? target.closest("[data-step]")?.dataset.step : undefined;
    return step === undefined ? null : Number(step);
  };

  function listen() {
    document.addEventListener("pointerover", (event) => {
      if (event.pointerType === "touch") return;
      const at = event.target instanceof Element ? event.target.closest(".seen")?.dataset.at : undefined;
      show(pointed(event.target) ?? state.held);
      if (at !== undefined && marked) tellPoint(Number(at));
    });
    document.addEventListener("click", (event) => {
      if (event.target.closest("form, details")) return;
      const step = pointed(event.target);
      state.held = step === state.held ? null : step;
      show(state.held);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { state.held = null; show(null); return; }
      if (event.target !== drawing || event.altKey || event.ctrlKey || event.metaKey) return;
      const last = predicted.length - 1, now = state.held;
      const next = { ArrowRight: now === null ? 0 : Math.min(last, now + 1), ArrowDown: now === null ? 0 : Math.min(last, now + 1),
        ArrowLeft: now === null || now === 0 ? null : now - 1, ArrowUp: now === null || now === 0 ? null : now - 1,
        Home: 0, End: last }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      state.held = next;
      show(next);
    });
  }

  function drawControls() {
    const { picker } = controls(byId("controls"), state);
    picker("Layer", "layer", Math.max(...kinds.map((kind) => looks[kind].weights.length)), paint);
    picker("Head", "head", Math.max(...kinds.map((kind) => looks[kind].weights[0].length)), paint);
  }

  if (!kinds.length || !predicted.length) {
    byId("readout").textContent = kinds.length ? "No points were predicted." : "No attention to draw: none was recorded, or this model has none.";
    return;
  }
  Object.entries({ tabindex: 0, role: "slider", "aria-label": "Predicted step", "aria-valuemin": 0, "aria-valuemax": predicted.length })
    .forEach(([name, value]) => drawing.setAttribute(name, value));
  byId("hint").hidden = false;
  drawControls();
  drawMaps();
  paint();
  listen();
})();
