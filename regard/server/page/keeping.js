// A word that the browser keeps for this page: for a tab or for good. Where storage is blocked, the page itself keeps it.

// `store` is asked for when it is needed: where storage is blocked, even its name throws.
export function kept(name, store) {
  let word; // as it is now
  return {
    get() {
      if (word === undefined) {
        try { word = store().getItem(name); } catch { word = null; }
      }
      return word;
    },
    set(next) {
      word = next;
      try {
        if (next === null) store().removeItem(name);
        else store().setItem(name, next);
      } catch { /* it holds as long as the page is open */ }
    },
  };
}
