// A picture that somebody gave as what is sent: no larger than it need be.

import { make } from "./elements.js";

const ENOUGH = 512; // pixels of its short side: more than a model sees, and enough to be looked at
const LIGHT = 400_000; // bytes that need not be made fewer
const PLAIN = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"];

const urlOf = (blob) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.addEventListener("load", () => done(reader.result));
  reader.addEventListener("error", () => failed(reader.error));
  reader.readAsDataURL(blob);
});

// { url, wide, high }; an Error with a sentence where there is no picture, or none that could be sent.
export async function shrunk(file, { size, most }) {
  if (!file.type.startsWith("image/")) throw new Error(`“${file.name}” is no picture.`);
  let image;
  try {
    image = await createImageBitmap(file);
  } catch { // a format that the server may know
    if (file.size * 1.4 > most) throw new Error(`“${file.name}” can't be read here, and is too large to be sent.`);
    return { url: await urlOf(file) };
  }
  const { width: wide, height: high } = image;
  const share = Math.max(ENOUGH, 2 * size) / Math.min(wide, high);
  if (share >= 1 && file.size <= Math.min(LIGHT, most / 1.4) && PLAIN.includes(file.type)) return { url: await urlOf(file), wide, high };
  const scale = Math.min(1, share, 4096 / Math.max(wide, high));
  const canvas = make("canvas", { width: Math.max(1, Math.round(wide * scale)), height: Math.max(1, Math.round(high * scale)) });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "white"; // as the server sees what is transparent
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  const exact = file.type === "image/png" || file.type === "image/gif" ? canvas.toDataURL("image/png") : "";
  return { url: exact && exact.length < LIGHT ? exact : canvas.toDataURL("image/jpeg", 0.92), wide, high };
}
