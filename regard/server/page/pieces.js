// Pieces as the text that they make. A piece may be part of a character: its bytes are named, as <0xE6>.

const BYTE = /<0x([0-9A-F]{2})>/; // as regard/text/bytelevel.py names it
const END = "</s>";
const UNTYPED = new Set(["<pad>", "<unk>", "<s>"]); // with the end the special pieces of regard/core/pieces.py: no text has them

function bytesOf(pieces) {
  const utf8 = new TextEncoder();
  const parts = pieces.filter((piece) => piece !== END).flatMap((piece) => piece.replaceAll("▁", " ").split(BYTE)
    .map((part, at) => (at % 2 ? [parseInt(part, 16)] : utf8.encode(part))));
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

// Without the character that is not whole yet at their end: more pieces only ever make it longer.
export const textOfPieces = (pieces) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytesOf(pieces), { stream: true });

// Whether they could be typed: all stand for text, and every character of theirs is whole.
export function typed(pieces) {
  if (pieces.some((piece) => UNTYPED.has(piece))) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(pieces));
    return true;
  } catch {
    return false;
  }
}
