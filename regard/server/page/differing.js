// A text with the words marked that another one has not, in the order of both.

import { make } from "./elements.js";

export function differing(text, other) {
  const words = text.split(/(\s+)/), others = other.split(/(\s+)/);
  const kept = common(words, others);
  return words.map((word, at) => (kept.has(at) || !word.trim() ? word : make("mark", {}, word)));
}

// The longest sequence that both have: the places of its words in the first.
function common(first, second) {
  const lengths = Array.from({ length: first.length + 1 }, () => new Uint16Array(second.length + 1));
  for (let a = first.length - 1; a >= 0; a--) {
    for (let b = second.length - 1; b >= 0; b--) {
      lengths[a][b] = first[a] === second[b] ? lengths[a + 1][b + 1] + 1 : Math.max(lengths[a + 1][b], lengths[a][b + 1]);
    }
  }
  const kept = new Set();
  for (let a = 0, b = 0; a < first.length && b < second.length;) {
    if (first[a] === second[b]) { kept.add(a); a += 1; b += 1; }
    else if (lengths[a + 1][b] >= lengths[a][b + 1]) a += 1;
    else b += 1;
  }
  return kept;
}
