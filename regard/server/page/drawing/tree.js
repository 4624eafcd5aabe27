// The beam as a tree, drawn as regard/viewing/tree_places.py places it: steps from left to right, the answer on top.

import { draw, labelOf, letters, logarithm, percent } from "../elements.js";
import { textOfPieces } from "../pieces.js";

const MOST = 1000; // hypotheses that are drawn, besides the answer
const ROW = 29, BOX = 22, PAD = 9, TOP = 34, MARGIN = 6, RADIUS = 5, LETTER = 12.8;

const pathTo = (nodes, number) => {
  const path = [];
  for (let at = number; at !== null; at = nodes[at].parent) path.unshift(at);
  return path;
};

export class Tree {
  constructor(nodes, answer) {
    this.nodes = nodes;
    this.answer = this.#answer(answer);
    this.best = new Map();
    for (const { step, score } of nodes) this.best.set(step, Math.max(score ?? -Infinity, this.best.get(step) ?? -Infinity));
    this.shown = nodes.length <= MOST ? new Set(nodes.keys()) : this.#foremost();
    const order = [...this.shown].sort((a, b) => this.answer.includes(b) - this.answer.includes(a) || a - b);
    this.children = Map.groupBy(order, (number) => nodes[number].parent);
    this.columns = [this.children.get(null)];
    while (true) {
      const next = this.columns.at(-1).flatMap((number) => this.children.get(number) ?? []);
      if (!next.length) break;
      this.columns.push(next);
    }
    this.rows = this.#rows();
  }

  // Of several paths with its pieces, that with its score.
  #answer({ pieces, score, finished }) {
    const wanted = JSON.stringify(finished ? [...pieces, "</s>"] : pieces);
    const ends = [...this.nodes.keys()].sort((a, b) => Math.abs(this.nodes[a].score - score) - Math.abs(this.nodes[b].score - score));
    const length = pieces.length + (finished ? 1 : 0);
    for (const end of ends) {
      if (this.nodes[end].step !== length) continue;
      const path = pathTo(this.nodes, end);
      if (JSON.stringify(path.map((number) => this.nodes[number].piece)) === wanted) return path;
    }
    return [];
  }

  #foremost() {
    const behind = ({ fate, rank, step, score }) => (fate === "finished" ? -1e9 - rank : this.best.get(step) - score);
    const shown = new Set(this.answer);
    for (const number of [...this.nodes.keys()].sort((a, b) => behind(this.nodes[a]) - behind(this.nodes[b]))) {
      const missing = pathTo(this.nodes, number).filter((one) => !shown.has(one));
      if (shown.size + missing.length <= MOST) missing.forEach((one) => shown.add(one));
    }
    return shown;
  }

  // A hypothesis goes on in the row of its parent where that is free; no edges cross.
  #rows() {
    const height = Math.max(...this.columns.map((column) => column.length)) + 3;
    const rows = new Map();
    for (const column of this.columns) {
      let row = -1;
      column.forEach((number, place) => {
        const { parent } = this.nodes[number];
        row = Math.max(row + 1, Math.min(parent === null ? 0 : rows.get(parent), height - (column.length - place)));
        rows.set(number, row);
      });
    }
    return rows;
  }

  path(number) {
    return pathTo(this.nodes, number);
  }

  text(number) {
    return textOfPieces(this.path(number).map((one) => this.nodes[one].piece)).trim();
  }

  closeness(number) {
    const { score, step } = this.nodes[number];
    return Math.exp((score ?? -Infinity) - this.best.get(step));
  }

  kind(number) {
    return `${this.nodes[number].fate}${this.answer.includes(number) ? " answer" : ""}`;
  }

  told(number) {
    const { parent, piece, score, rank, fate, step } = this.nodes[number];
    const where = this.answer.at(-1) === number ? "the answer" : this.answer.includes(number) ? "in the answer" : fate;
    const share = Math.exp(score - (parent === null ? 0 : this.nodes[parent].score));
    return `“${labelOf(piece)}”, step ${step}, ${where}: log-probability ${logarithm(score)}, rank ${logarithm(rank)}; probability of this piece here ${percent(share)}`;
  }

  get summary() {
    const count = (fate) => this.nodes.filter((node) => node.fate === fate).length;
    const left = this.nodes.length - this.shown.size;
    return `${this.nodes.length} hypotheses in ${this.best.size} steps: ${count("kept")} kept, ${count("finished")} finished, ${count("pruned")} pruned.`
      + (left ? ` The ${left} least likely are not drawn.` : "");
  }
}

export function treePicture(tree) {
  const { nodes, columns, rows } = tree;
  const wide = (number) => Math.max(30, letters(labelOf(nodes[number].piece)) * LETTER + 2 * PAD);
  const most = Math.max(...rows.values()), gap = Math.min(80, 28 + 1.5 * most);
  const middle = (row) => TOP + ROW * (row + 0.5);
  const lefts = [MARGIN + 2 * RADIUS + gap];
  for (const column of columns) lefts.push(lefts.at(-1) + Math.max(...column.map(wide)) + gap);
  const left = (number) => lefts[nodes[number].step - 1], y = (number) => middle(rows.get(number));
  const width = Math.ceil(lefts.at(-1) - gap + MARGIN), height = Math.ceil(middle(most + 0.5));

  const course = (number) => {
    const { parent } = nodes[number];
    const [x, from] = parent === null ? [MARGIN + 2 * RADIUS, middle(0)] : [left(parent) + wide(parent), y(parent)];
    const end = left(number), half = end - gap / 2;
    return `M${x} ${from}H${end - gap}C${half} ${from} ${half} ${y(number)} ${end} ${y(number)}`;
  };
  const painted = [...tree.shown].sort((a, b) => tree.answer.includes(a) - tree.answer.includes(b)
    || (nodes[a].fate !== "pruned") - (nodes[b].fate !== "pruned") || a - b);
  const edges = painted.map((number) => draw("path", { class: `edge ${tree.kind(number)}`, d: course(number), "stroke-width": (1 + 2 * tree.closeness(number)).toFixed(2) }));
  const box = (number) => {
    const x = left(number), w = wide(number), parts = [draw("rect", { class: "box", x, y: y(number) - BOX / 2, width: w, height: BOX, rx: 6 })];
    if (nodes[number].fate === "finished") parts.push(draw("rect", { class: "inner", x: x + 3, y: y(number) - BOX / 2 + 3, width: w - 6, height: BOX - 6, rx: 3.5 }));
    return [...parts, draw("text", { x: x + w / 2, y: y(number) + 4.3 }, labelOf(nodes[number].piece))];
  };
  const elements = new Map(), waiting = [...columns[0]].reverse();
  while (waiting.length) {
    const number = waiting.pop();
    elements.set(number, draw("g", { class: `node ${tree.kind(number)}`, role: "treeitem", "aria-level": nodes[number].step, "aria-label": tree.told(number), tabindex: elements.size ? -1 : 0, "data-number": number }, box(number)));
    waiting.push(...[...(tree.children.get(number) ?? [])].reverse());
  }
  const trail = draw("path", { class: "trail" });
  const svg = draw("svg", { class: "picture tree", width, height, viewBox: `0 0 ${width} ${height}` },
    draw("g", { "aria-hidden": "true" },
      columns.map((_, at) => draw("text", { class: "step", x: lefts[at] + 1, y: 14 }, String(at + 1))),
      edges, trail, draw("circle", { class: "start", cx: MARGIN + RADIUS, cy: middle(0), r: RADIUS })),
    draw("g", { role: "tree", "aria-label": "Hypotheses of the beam" }, [...elements.values()]));

  function show(number) {
    const path = number === null ? [] : tree.path(number);
    for (const [one, element] of elements) {
      element.classList.toggle("on", path.includes(one));
      element.classList.toggle("at", one === number);
    }
    trail.setAttribute("d", path.map(course).join(""));
  }

  // Where an arrow key leads.
  function beside(number, key) {
    const column = columns[nodes[number].step - 1], place = column.indexOf(number);
    const moves = {
      ArrowLeft: nodes[number].parent, ArrowRight: tree.children.get(number)?.[0], ArrowUp: column[place - 1], ArrowDown: column[place + 1],
      Home: columns[0][0], End: tree.answer.at(-1),
    };
    return moves[key] ?? null;
  }

  return { svg, show, beside, elements };
}
