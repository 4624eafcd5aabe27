
(() => {
  "use strict";
  const nodes = [...document.querySelectorAll(".branches .node")];
  const trail = document.querySelector(".branches .trail");  // over all other lines
  const readout = document.getElementById("branch");
  const summary = readout.textContent;
  const edges = new Map([...document.querySelectorAll(".branches .edge")].map((edge) => [edge.dataset.number, edge]));
  const byNumber = new Map(nodes.map((node) => [node.dataset.number, node]));
  const parent = (node) => byNumber.get(node.dataset.parent);
  const level = (node) => node.getAttribute("aria-level");
  const height = (node) => node.querySelector(".box").y.baseVal.value;
  const column = (node) => nodes.filter((other) => level(other) === level(node)).sort((a, b) => height(a) - height(b));

  // The node with its path from the start, and its title as a sentence; or neither.
  function show(node) {
    for (const other of nodes) other.classList.remove("on", "at");
    readout.textContent = node ? node.querySelector("title").textContent : summary;
    node?.classList.add("at");
    const path = [];
    for (let at = node; at; at = parent(at)) path.push(at);
    for (const one of path) one.classList.add("on");
    trail.setAttribute("d", path.map((one) => edges.get(one.dataset.number).getAttribute("d")).join(""));
  }
  const nodeOf = (target) => (target instanceof Element ? target.closest(".branches .node") : null);
  const focused = () => nodeOf(document.activeElement);

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "touch") show(nodeOf(event.target) ?? focused());
  });
  document.addEventListener("focusin", (event) => show(nodeOf(event.target)));
  document.addEventListener("focusout", () => show(null));
  document.addEventListener("keydown", (event) => {
    const node = nodeOf(event.target);
    if (!node || event.altKey || event.ctrlKey || event.metaKey) return;
    const beside = (step) => { const all = column(node); return all[all.indexOf(node) + step]; };
    const moves = {
      ArrowLeft: () => parent(node),
      ArrowRight: () => nodes.find((other) => parent(other) === node),
      ArrowUp: () => beside(-1),
      ArrowDown: () => beside(1),
      Home: () => nodes[0],
      End: () => nodes.filter((other) => other.classList.contains("answer")).at(-1),
    };
    if (event.key === "Escape") { node.blur(); return; }
    if (!(event.key in moves)) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (!next) return;
    node.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
    next.querySelector(".box").scrollIntoView({ block: "nearest", inline: "nearest" });
  });
})();
