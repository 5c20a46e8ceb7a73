// The mean maps of all heads.

function drawThumbnails(shown, width) {
  const size = Math.max(18, Math.min(76, Math.floor((width - LEFT) / HEADS) - 3));
  const chosen = brush();
  const focus = opened() ?? 0;
  const box = h("div", {
    class: "thumbnails", id: "thumbnails", role: "grid", "aria-label": "Mean maps of all heads: columns are heads, rows are layers",
    css: { "grid-template-columns": `${LEFT - 8}px repeat(${HEADS}, ${size}px)` },
  });
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const row = h("div", { role: "row", class: "row" }, h("span", { class: "axis", "aria-hidden": "true" }, `L${layer + 1}`));
    for (let head = 0; head < HEADS; head += 1) {
      const i = layer * HEADS + head;
      row.append(h("div", {
        role: "gridcell", "data-head": i, tabindex: i === focus ? 0 : -1, "aria-label": label(shown, i), "aria-selected": String(chosen.has(i)),
        class: `thumbnail${chosen.size && !chosen.has(i) ? " dim" : ""}${opened() === i || pins().includes(i) ? " open" : ""}`, onclick: () => update({ head: headCode(i) }),
      }, h("canvas", { width: size, height: size, "aria-hidden": "true" }), badge(shown, i)));
    }
    box.append(row);
  }
  box.addEventListener("keydown", (event) => thumbnailKey(event));
  watchHeads(box, shown);
  paintThumbnails(box);
  return box;
}

function badge(shown, i) {
  const shape = shapeOf(shown, i);
  return shape ? s("svg", { viewBox: "-6 -6 12 12", class: "badge", "aria-hidden": "true" }, mark(shape, 0, 0, 4)) : null;
}

function thumbnailKey(event) {
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -HEADS, ArrowDown: HEADS };
  const cell = event.target.closest("[data-head]");
  if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const i = Number(cell.dataset.head);
  const next = i + (steps[event.key] ?? 0);
  if (!steps[event.key]) headKey(event, i);
  else if (next >= 0 && next < COUNT) {
    event.preventDefault();
    moveTo(next, "#thumbnails");
  }
}

async function paintThumbnails(box) {
  const means = await meansOf(address.task, address.state, address.seed);
  for (const cell of all("[data-head]", box)) {
    if (means) paint(find("canvas", cell), means.of(Number(cell.dataset.head)), means.size, means.difference);
  }
  box.dataset.painted = "yes";
}
