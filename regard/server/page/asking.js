// The server's API: what it has, what it answers, and what it says when it does not.

import { kept } from "./keeping.js";

// `found` is above `most`, where something is too much.
export class Refused extends Error {
  constructor({ status, error, field, found, most }, seconds = null) {
    super(error ?? `The server answered with status ${status}.`);
    Object.assign(this, { status, field, found, most, seconds });
  }
}

export class Unreachable extends Error {
  constructor() {
    super("The server does not answer.");
  }
}

const own = kept("regard-key", () => sessionStorage);
export const keepKey = (key) => own.set(key);
export const hasKey = () => Boolean(own.get());

async function reach(path, options = {}) {
  const key = own.get();
  const headers = { ...(options.body && { "content-type": "application/json" }), ...(key && { authorization: `Bearer ${key}` }) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable();
  }
  if (response.ok) return response;
  let said = {};
  try { said = await response.json(); } catch { /* a proxy's page, perhaps: the status says enough */ }
  const seconds = Number(response.headers.get("retry-after")) || null;
  throw new Refused({ ...said, status: response.status }, seconds);
}

export async function models() {
  return (await (await reach("v1/models")).json()).models;
}

// The answer to one input; `grow` hears its text while it comes.
export async function stream(ask, { signal, grow }) {
  const response = await reach("v1/stream", { method: "POST", body: JSON.stringify(ask), signal });
  for await (const [name, data] of events(response.body)) {
    if (name === "pieces") grow(data.text);
    else if (name === "prediction") return data.prediction;
    else if (name === "error") throw new Refused(data);
  }
  throw new Unreachable();
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(block) ?? [];
        if (name) yield [name, JSON.parse(data)];
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable();
  } finally {
    reader.cancel().catch(() => {});
  }
}
