// What the search considered: the beam as a tree.

import { button, byId, make, say } from "../elements.js";
import { Tree, treePicture } from "../drawing/tree.js";

export const beamView = {
  id: "beam",
  title: () => "Beam",
  fits: (model) => model.answer.kind === "text",
  wants: () => ({ returns: ["beam"] }),
  missing: ({ model }) => (model.returns.includes("beam") ? null : `The ${model.engine} engine does not tell what its search considered.`),
  mount,
  picture: (context) => { const tree = treeOf(context); return tree && treePicture(tree).svg; },
};

const known = new WeakMap();

function treeOf({ question, answer }) {
  const nodes = question.prediction?.beam;
  if (!nodes?.length || !answer) return null;
  if (known.get(answer)?.nodes !== nodes) known.set(answer, new Tree(nodes, answer));
  return known.get(answer);
}

function mount(context) {
  const hypothesis = make("p", { class: "hypothesis", dir: "auto" });
  const numbers = make("p", { class: "readout" });
  const frame = make("div", { class: "frame" });
  const widen = () => { context.change({ beam: Math.min(5, context.model.limits.beam) }); byId("view").focus({ preventScroll: true }); }; // it goes away
  const wider = button("Search with a beam of 5", widen, { class: "tool" });
  const narrow = make("p", { class: "note" }, "A beam of 1 is greedy: one branch and what it passed over. ", wider);
  const kinds = make("ul", { class: "kinds" }, [["answer", "in the answer"], ["kept", "kept"], ["finished", "finished"], ["pruned", "pruned"]]
    .map(([kind, name]) => make("li", {}, make("i", { class: `key ${kind === "answer" ? "chosen" : kind}`, "aria-hidden": "true" }), name)));
  const element = make("div", { class: "card" }, make("div", { class: "bar" }, hypothesis, kinds), numbers, narrow, frame,
    make("p", { class: "hint" }, "Steps go from left to right. The thicker a line, the closer its hypothesis is to the likeliest of its step. Point at a piece for its numbers and its path; arrow keys move."));
  let tree = null, picture = null;

  function show(number) {
    picture?.show(number);
    hypothesis.replaceChildren(...(tree && number !== null
      ? [tree.text(number) || "nothing yet", make("span", { class: "quiet" }, tree.nodes[number].fate === "kept" ? " …" : "")] : [context.answer?.text ?? ""]));
    numbers.textContent = tree ? (number === null ? tree.summary : tree.told(number)) : "";
    if (number !== null) say(`${tree.text(number)}: ${tree.told(number)}`);
  }
  const numberOf = (target) => { const node = target.closest?.(".node"); return node ? Number(node.dataset.number) : null; };
  frame.addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") show(numberOf(event.target) ?? numberOf(document.activeElement)); });
  frame.addEventListener("pointerleave", () => show(numberOf(document.activeElement)));
  frame.addEventListener("focusin", (event) => show(numberOf(event.target)));
  frame.addEventListener("focusout", () => show(null));
  frame.addEventListener("keydown", (event) => {
    const from = numberOf(event.target);
    if (from === null || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") { event.target.blur(); return; }
    const next = picture.beside(from, event.key);
    if (next === null) return;
    event.preventDefault();
    event.target.tabIndex = -1;
    const element = picture.elements.get(next);
    element.tabIndex = 0;
    element.focus();
    element.querySelector(".box").scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  return {
    element,
    leave() {},
    update() {
      const found = treeOf(context);
      narrow.hidden = (context.state.beam ?? context.model.search.beam) > 1;
      if (found === tree && picture) return;
      tree = found;
      picture = tree && treePicture(tree);
      frame.replaceChildren(picture?.svg ?? "");
      show(null);
    },
  };
}
