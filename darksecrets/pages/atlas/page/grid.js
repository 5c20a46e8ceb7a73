// Layers × heads. Arrow keys move, Enter opens a head, P pins it, Space brushes it.

const LEFT = 30;
const TOP = 22;

function label(shown, i) {
  return [headTitle(i), ...spoken(shown, i)].join("; ");
}

function drawGrid(shown, scale, width) {
  const cell = Math.max(8, Math.min(88, Math.floor((width - LEFT - 6) / HEADS)));
  const tall = Math.max(Math.min(cell, 42), 8);
  const size = { width: LEFT + HEADS * cell + 4, height: TOP + LAYERS * tall + 4 };
  const chosen = brush();
  const focus = opened() ?? [...chosen][0] ?? 0;
  const svg = s("svg", {
    ...size, viewBox: `0 0 ${size.width} ${size.height}`, class: "grid", role: "grid", id: "grid", tabindex: -1,
    "aria-label": `${nameOf(shown.measure, address.task)}: heads in columns, layers in rows`,
    "aria-rowcount": LAYERS, "aria-colcount": HEADS,
  });
  const every = Math.ceil(20 / cell);
  svg.append(s("g", { "aria-hidden": "true", class: "axis" },
    Array.from({ length: HEADS }, (_, k) => (k % every === 0
      ? s("text", { x: LEFT + (k + 0.5) * cell, y: TOP - 7, "text-anchor": "middle" }, k ? String(k + 1) : "H1") : null)),
    Array.from({ length: LAYERS }, (_, k) => s("text", { x: LEFT - 8, y: TOP + (k + 0.5) * tall, dy: "0.35em", "text-anchor": "end" }, k ? String(k + 1) : "L1"))));
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const row = s("g", { role: "row", "aria-rowindex": layer + 1 });
    for (let head = 0; head < HEADS; head += 1) {
      row.append(drawCell(shown, scale, layer * HEADS + head, { x: LEFT + head * cell, y: TOP + layer * tall, cell, tall }, chosen, focus));
    }
    svg.append(row);
  }
  svg.addEventListener("keydown", gridKey);
  watchHeads(svg, shown);
  brushGrid(svg);
  return svg;
}

function drawCell(shown, scale, i, { x, y, cell, tall }, chosen, focus) {
  const colour = scale.colour(shown.values[i]);
  const inked = ink(colour);
  const gap = cell > 14 ? 1 : 0.5;
  const content = [s("rect", { x: x + gap, y: y + gap, width: cell - 2 * gap, height: tall - 2 * gap, rx: cell > 14 ? 3 : 1, fill: colour })];
  if (Number.isNaN(shown.values[i])) {
    content.push(s("path", { d: `M${x + cell * 0.35} ${y + tall * 0.65}L${x + cell * 0.65} ${y + tall * 0.35}`, class: "nothing" }));
  } else if (shown.category) {
    const letters = shown.measure.letters;
    const was = shown.was && shown.was[i] !== shown.values[i] && cell > 22 ? `${letters[shown.was[i]]}→` : "";
    const text = was + letters[shown.values[i]];
    content.push(s("text", {
      x: x + cell / 2, y: y + tall / 2, dy: "0.35em", "text-anchor": "middle", css: { fill: inked },
      "font-size": Math.min(tall * 0.5, (cell * 0.8) / text.length * 1.25, 14),
    }, text));
  }
  const choice = cell > 30 ? choiceOf(shown, i).split(",")[0] : "";
  if (choice) {
    content.push(s("text", {
      x: x + cell / 2, y: y + tall / 2, dy: "0.35em", "text-anchor": "middle", css: { fill: inked },
      "font-size": Math.min(12, (cell * 0.9) / choice.length * 1.7),
    }, choice));
  }
  const shape = shapeOf(shown, i);
  const place = choice ? [x + cell - 7, y + 7, 3.5] : [x + cell / 2, y + tall / 2, Math.max(2, Math.min(cell, tall) * 0.17)];
  if (shape) content.push(mark(shape, ...place, { css: { fill: inked } }));
  const dim = chosen.size && !chosen.has(i);
  const open = opened() === i || pins().includes(i);
  return s("g", {
    role: "gridcell", tabindex: i === focus ? 0 : -1, "data-head": i, "aria-label": label(shown, i), "aria-selected": String(chosen.has(i)),
    "aria-colindex": (i % HEADS) + 1, class: `cell${dim ? " dim" : ""}${open ? " open" : ""}`,
  }, content, s("rect", { x: x + 1, y: y + 1, width: cell - 2, height: tall - 2, rx: 3, class: "ring" }));
}

function moveTo(i, inside = "#grid") {
  for (const each of all(`${inside} [data-head]`)) each.setAttribute("tabindex", each.dataset.head === String(i) ? "0" : "-1");
  find(`${inside} [data-head="${i}"]`)?.focus();
}

function gridKey(event) {
  const cell = event.target.closest("[data-head]");
  if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const i = Number(cell.dataset.head);
  const [layer, head] = [Math.floor(i / HEADS), i % HEADS];
  const steps = {
    ArrowLeft: [layer, Math.max(0, head - 1)], ArrowRight: [layer, Math.min(HEADS - 1, head + 1)],
    ArrowUp: [Math.max(0, layer - 1), head], ArrowDown: [Math.min(LAYERS - 1, layer + 1), head],
    Home: [layer, 0], End: [layer, HEADS - 1], PageUp: [0, head], PageDown: [LAYERS - 1, head],
  };
  if (steps[event.key]) {
    event.preventDefault();
    const next = steps[event.key][0] * HEADS + steps[event.key][1];
    if (event.shiftKey) update({ brush: codes([...brush().add(i).add(next)].sort((a, b) => a - b)) });
    moveTo(next);
    return;
  }
  headKey(event, i);
}

// What keys do to a head, in the grid, the thumbnails and the scatter.
function headKey(event, i) {
  const actions = {
    Enter: () => update({ head: headCode(i) }),
    " ": () => toggleBrush(i),
    p: () => togglePin(i),
    Escape: () => update({ brush: "" }),
  };
  const action = actions[event.key] ?? actions[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

// The head under the pointer, or with the focus, is marked everywhere.
function hot(i) {
  for (const element of all(".hot")) element.classList.remove("hot");
  if (i === null) return;
  for (const element of all(`[data-head="${i}"]`)) element.classList.add("hot");
  markInHistogram(i);
}

function watchHeads(element, ...shown) {
  const say = (target, x, y) => {
    const cell = target.closest?.("[data-head]");
    if (!cell) {
      hot(null);
      untip();
      return;
    }
    const i = Number(cell.dataset.head);
    hot(i);
    const sentence = sentenceOf(i);
    tip([headTitle(i), ...shown.flatMap((one) => [shown.length > 1 ? `${titleOf(one)}:` : null, ...spoken(one, i)]), sentence], x, y);
  };
  element.addEventListener("pointermove", (event) => say(event.target, event.clientX, event.clientY));
  element.addEventListener("pointerleave", () => { hot(null); untip(); });
  element.addEventListener("focusin", (event) => {
    if (!event.target.matches(":focus-visible")) return;
    const box = event.target.getBoundingClientRect();
    say(event.target, box.right - 10, box.bottom - 10);
  });
  element.addEventListener("focusout", () => { hot(null); untip(); });
}

// A click opens a head; dragging brushes a rectangle of them.
function brushGrid(svg) {
  let from = null;
  let now = null;
  const under = (event) => {
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("#grid [data-head]");
    return cell ? Number(cell.dataset.head) : null;
  };
  const inside = () => {
    const [a, b] = [from, now].map((i) => [Math.floor(i / HEADS), i % HEADS]);
    return Array.from({ length: COUNT }, (_, i) => i).filter((i) => {
      const [layer, head] = [Math.floor(i / HEADS), i % HEADS];
      return layer >= Math.min(a[0], b[0]) && layer <= Math.max(a[0], b[0]) && head >= Math.min(a[1], b[1]) && head <= Math.max(a[1], b[1]);
    });
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch") return;
    from = now = under(event);
    if (from !== null) svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (from === null) return;
    now = under(event) ?? now;
    if (now === from) return;
    const chosen = new Set(inside());
    for (const cell of all("#grid [data-head]")) cell.classList.toggle("dim", !chosen.has(Number(cell.dataset.head)));
  });
  svg.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [first, last] = [from, under(event) ?? now];
    now = last;
    const chosen = inside();
    from = null;
    svg.dragged = first !== last;
    if (svg.dragged) update({ brush: codes(chosen) });
  });
  svg.addEventListener("click", (event) => {
    if (svg.dragged) {
      svg.dragged = false;
      return;
    }
    // With a captured pointer, the click's target is the whole drawing.
    const i = under(event) ?? (event.target.closest("[data-head]") ? Number(event.target.closest("[data-head]").dataset.head) : null);
    if (i === null) update({ brush: "" });
    else if (event.shiftKey) toggleBrush(i);
    else update({ head: headCode(i) });
  });
}
