// The weights of an answer as matrices: of a kind, a layer and a head or their mean, by pieces or by words.

import { minus } from "./elements.js";
import { textOfPieces } from "./pieces.js";

const MARKS = ["<pad>", "<s>", "</s>"];
const SIDES = { cross: ["target", "source"], context: ["target", "context"], encoder: ["source", "source"], decoder: ["target", "fed"] };
export const KINDS = { cross: "Answer at source", context: "Answer at context", encoder: "Source at itself", decoder: "Answer at itself" };
export const plainKind = (kind) => kind.split(".")[0];
export const sidesOf = (kind) => SIDES[plainKind(kind)] ?? SIDES.cross;
export const isMark = (piece) => MARKS.includes(piece);

export class Looks {
  constructor(record, { numbered = false } = {}) {
    this.record = record;
    this.shown = numbered ? minus : (label) => label; // steps are numbers, pieces may only look like some
    this.weights = record.attention;
    this.kinds = Object.keys(KINDS).flatMap((plain) => Object.keys(this.weights).filter((kind) => plainKind(kind) === plain));
    this.known = new Map();
  }

  shape(kind) {
    return this.weights[kind]?.shape ?? [0, 0, 0, 0];
  }

  // The units of a side in their order: pieces or words, each with the pieces it is made of.
  units(side, words) {
    const key = `${side} ${words}`;
    if (!this.known.has(key)) this.known.set(key, side === "fed" ? this.#fed(words) : side === "context" ? this.#beside() : this.#units(side, words));
    return this.known.get(key);
  }

  #units(side, words) {
    const pieces = this.record[`${side}_pieces`], labels = this.record.labels[side], known = this.record[`${side}_words`];
    const piece = (at) => ({ label: this.shown(labels[at]), text: textOfPieces([pieces[at]]), special: isMark(pieces[at]) || known?.of[at] === null, members: [at], word: known?.of[at]?.[0] });
    if (!words || !known) return pieces.map((_, at) => ({ ...piece(at), at }));
    const groups = new Map();
    let blanks = [];
    known.of.forEach((part, at) => {
      if (part?.length === 0) { blanks.push(at); return; }
      for (const word of part ?? [`mark ${at}`]) {
        if (!groups.has(word)) groups.set(word, []);
        groups.get(word).push(...blanks, at);
        blanks = [];
      }
    });
    const all = [...groups];
    all.at(-1)?.[1].push(...blanks);
    return all.map(([word, members], at) =>
      typeof word === "number" ? { label: known.texts[word], text: known.texts[word], special: false, members, word, at } : { ...piece(members[0]), at });
  }

  // What stands beside a source, by numbers.
  #beside() {
    const [, , , count] = this.shape(this.kinds.find((kind) => plainKind(kind) === "context"));
    return Array.from({ length: count }, (_, at) => ({ label: String(at + 1), text: String(at + 1), special: false, members: [at], at }));
  }

  // What a decoder was fed: the begin mark, then the answer without its last piece.
  #fed(words) {
    const last = this.record.target_pieces.length;
    const begin = { label: "<s>", text: "<s>", special: true, members: [0], at: -1 };
    const rest = this.units("target", words).map((unit) => ({ ...unit, members: unit.members.map((at) => at + 1).filter((at) => at < last) }));
    return [begin, ...rest.filter((unit) => unit.members.length)];
  }

  // Rows and columns are units; who looked is averaged over its pieces, what was looked at adds up.
  matrix({ kind, layer = null, head = null, words = false, special = true }) {
    const key = JSON.stringify([kind, layer, head, words]);
    const [rowSide, columnSide] = sidesOf(kind);
    const rows = this.units(rowSide, words), columns = this.units(columnSide, words);
    if (!this.known.has(key)) this.known.set(key, this.#merged(this.#mean(kind, layer, head), rows, columns));
    const every = this.known.get(key);
    const shown = (units) => units.map((_, place) => place).filter((place) => special || !units[place].special);
    const down = shown(rows), across = shown(columns);
    return {
      rowSide, columnSide,
      rows: down.map((place) => rows[place]), columns: across.map((place) => columns[place]),
      weights: down.map((row) => across.map((column) => every[row][column])),
    };
  }

  #mean(kind, layer, head) {
    const { shape: [layers, heads, rows, columns], weights } = this.weights[kind];
    const chosen = (layer === null || layer >= layers ? weights : [weights[layer]])
      .flatMap((one) => (head === null || head >= heads ? one : [one[head]]));
    const mean = Array.from({ length: rows }, () => new Float64Array(columns));
    for (const map of chosen) {
      for (let row = 0; row < rows; row++) for (let column = 0; column < columns; column++) mean[row][column] += (map[row][column] ?? NaN) / chosen.length;
    }
    return mean;
  }

  #merged(mean, rows, columns) {
    const shared = new Map(); // in how many words a piece has a part
    for (const { members } of columns) for (const at of members) shared.set(at, (shared.get(at) ?? 0) + 1);
    return rows.map((row) => columns.map((column) => {
      let sum = 0;
      for (const from of row.members) for (const at of column.members) sum += mean[from][at] / shared.get(at);
      return sum / row.members.length;
    }));
  }
}

// Where each unit stands in the running text: [from, to], or null where it is written differently there.
export function places(units, text) {
  const words = Array.from(text.matchAll(/\S+/g), ({ index }) => index);
  let from = 0;
  return units.map((unit) => {
    from = Math.max(from, words[unit.word] ?? 0); // those before it may not have been read
    const wanted = unit.special ? "" : unit.text.trim() || unit.text;
    const at = wanted ? text.indexOf(wanted, from) : -1;
    if (at < 0 || at - from > 40) return null;
    from = at + wanted.length;
    return [at, from];
  });
}

// The strongest few, with their weights.
export const strongest = (units, weights, count = 4) =>
  units.map((unit, place) => [unit, weights[place]]).filter(([, weight]) => weight >= 0.005).sort((a, b) => b[1] - a[1]).slice(0, count);
