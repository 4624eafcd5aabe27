// What somebody points at, shared by all that shows it: a row and a column of a kind of look, by their units' numbers.

export class Pointing {
  constructor() {
    this.at = null;
    this.held = null;
    this.listeners = new Set();
  }

  #tell() {
    for (const listener of this.listeners) listener(this.at);
  }

  point(at) {
    this.at = at ?? this.held;
    this.#tell();
  }

  // A click holds, a second one lets go.
  hold(at) {
    const same = this.held && at && this.held.kind === at.kind && this.held.row === at.row && this.held.column === at.column;
    this.held = same ? null : at;
    this.at = this.held ?? at;
    this.#tell();
  }

  clear() {
    this.at = this.held = null;
    this.#tell();
  }
}
