// One question to the server that follows what is typed: the newest counts, earlier ones are given up.

import { Refused, Unreachable, stream } from "./asking.js";

const KEPT = 24; // answers that need not be asked for again
const PAUSE = 160; // milliseconds without a key before a text is sent
const answers = new Map();

export class Question {
  constructor(changed) {
    this.changed = changed;
    this.asked = null; // as JSON
    this.failures = 0;
    this.forget();
  }

  forget() {
    Object.assign(this, { prediction: null, answered: null, growing: null, problem: null, again: null });
  }

  // Asks, unless it has; with `wait` only when nothing follows for a moment.
  put(ask, wait = false) {
    const text = ask && JSON.stringify(ask);
    if (text === this.asked) return;
    this.stop();
    this.asked = text;
    this.failures = 0;
    if (!ask) this.forget();
    else if (answers.has(text)) this.settle(ask, answers.get(text));
    else this.timer = setTimeout(() => this.send(ask), wait ? PAUSE : 0);
    this.changed();
  }

  stop() {
    clearTimeout(this.timer);
    clearInterval(this.clock);
    this.controller?.abort();
    Object.assign(this, { controller: null, growing: null, problem: null, again: null });
  }

  get busy() {
    return this.asked !== null && !this.problem && this.answered !== this.asked;
  }

  async send(ask) {
    const controller = new AbortController();
    this.stop();
    this.controller = controller;
    try {
      const prediction = await smaller(ask, (one) => stream(one, {
        signal: controller.signal,
        grow: (text) => { if (this.controller === controller) { this.growing = text; this.changed(); } },
      }));
      if (this.controller !== controller) return;
      answers.set(JSON.stringify(ask), prediction);
      if (answers.size > KEPT) answers.delete(answers.keys().next().value);
      this.settle(ask, prediction);
    } catch (error) {
      if (error.name === "AbortError" || this.controller !== controller) return;
      this.fail(ask, error);
    }
    this.changed();
  }

  settle(ask, prediction) {
    Object.assign(this, { prediction, answered: JSON.stringify(ask), growing: null, problem: null, controller: null, failures: 0 });
  }

  // What passes by itself is tried again, later each time.
  fail(ask, error) {
    Object.assign(this, { problem: error, growing: null, controller: null });
    if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
    const passing = error instanceof Unreachable || [429, 502, 503].includes(error.status);
    if (!passing) {
      this.prediction = null; // it was the answer to something else
      return;
    }
    this.failures += 1;
    this.again = { seconds: error.seconds ?? Math.min(15, 2 ** this.failures), now: () => this.send(ask) };
    this.clock = setInterval(() => {
      this.again.seconds -= 1;
      if (this.again.seconds <= 0) this.send(ask);
      else this.changed();
    }, 1000);
  }
}

// A long text can have more weights than a server sends at once: then less is asked for.
async function smaller(ask, send) {
  const less = [ask, { ...ask, attention: "cross", best: 1 }, { ...ask, best: 1, return: ask.return.filter((part) => part !== "attention") }];
  for (const [place, one] of less.entries()) {
    try {
      return await send(one);
    } catch (error) {
      const tooMuch = error.field === "return" && error.found > error.most;
      if (!tooMuch || place === less.length - 1) throw error;
    }
  }
}
