// Any two measures. Dragging brushes heads, here and in the grid; arrow keys go from head to head.

function drawScatter(colours, scale, width) {
  const [across, up] = [resolve(address.x, address), resolve(address.y, address)];
  const height = Math.round(Math.max(260, Math.min(400, width * 0.72)));
  const box = { left: 46, right: width - 12, top: 12, bottom: height - 34 };
  const svg = s("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "scatter", id: "scatter", tabindex: -1, role: "group", "aria-label": scatterLabel(across, up) });
  if (!across || !up) {
    svg.append(s("text", { x: width / 2, y: height / 2, "text-anchor": "middle", class: "quiet" }, "Not measured on this task"));
    return svg;
  }
  const [x, y] = [axisOf(across.values, box.left, box.right), axisOf(up.values, box.bottom, box.top)];
  svg.append(axes(x, y, box, across, up));
  const known = Array.from({ length: COUNT }, (_, i) => i).filter((i) => Number.isFinite(across.values[i]) && Number.isFinite(up.values[i]));
  const area = s("rect", { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top, class: "ground" });
  const chosen = brush();
  const places = new Map(known.map((i) => [i, [x.at(across.values[i]), y.at(up.values[i])]]));
  const focus = known.includes(opened()) ? opened() : known[0];
  const special = (i) => chosen.has(i) + 2 * (pins().includes(i) || opened() === i);
  const points = [...known].sort((a, b) => special(a) - special(b)).map((i) => {
    const [px, py] = places.get(i);
    const open = special(i) > 1;
    const shape = shapeOf(up, i) || "circle";
    return s("g", {
      role: "button", tabindex: i === focus ? 0 : -1, "data-head": i, class: `point${chosen.size && !chosen.has(i) ? " dim" : ""}${open ? " open" : ""}`,
      "aria-label": `${headTitle(i)}; ${titleOf(across)}: ${spoken(across, i).join("; ")}; ${titleOf(up)}: ${spoken(up, i).join("; ")}`,
    },
    s("circle", { cx: px, cy: py, r: 9, class: "target" }),
    open ? whiskers(across, up, i, x, y, px, py) : null,
    mark(shape, px, py, COUNT > 200 ? 3 : 4.5, { class: "dot", fill: scale ? scale.colour(colours.values[i]) : missing() }),
    open ? s("text", { x: px + 9, y: py - 7, class: "name" }, headName(i)) : null);
  });
  svg.append(area, ...points);
  svg.addEventListener("keydown", (event) => scatterKey(event, places));
  watchHeads(svg, across, up);
  brushScatter(svg, area, box, places);
  return svg;
}

const scatterLabel = (across, up) => (across && up
  ? `${nameOf(up.measure, address.task)} against ${nameOf(across.measure, address.task)}, a point for every head`
  : "Not measured on this task");

function axisOf(values, from, to) {
  const known = [...values].filter(Number.isFinite);
  let [low, high] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  [low, high] = [low - room, high + room];
  return { low, high, at: (value) => from + ((value - low) / (high - low)) * (to - from) };
}

function axes(x, y, box, across, up) {
  const name = (shown) => `${titleOf(shown)}${unitOf(shown.measure) && !shown.measure.unit.includes("share") ? ` (${unitOf(shown.measure)})` : ""}`;
  const short = (text, room) => (text.length * 6 > room ? `${text.slice(0, Math.floor(room / 6) - 1)}…` : text);
  return s("g", { class: "axis", "aria-hidden": "true" },
    ticks(x.low, x.high, 5).map((value) => [
      s("path", { d: `M${x.at(value)} ${box.top}V${box.bottom}`, class: value === 0 ? "zero" : "guide" }),
      s("text", { x: x.at(value), y: box.bottom + 14, "text-anchor": "middle" }, tickText(value)),
    ]),
    ticks(y.low, y.high, 5).map((value) => [
      s("path", { d: `M${box.left} ${y.at(value)}H${box.right}`, class: value === 0 ? "zero" : "guide" }),
      s("text", { x: box.left - 6, y: y.at(value), dy: "0.35em", "text-anchor": "end" }, tickText(value)),
    ]),
    s("text", { x: (box.left + box.right) / 2, y: box.bottom + 30, "text-anchor": "middle", class: "title" }, short(name(across), box.right - box.left)),
    s("text", { transform: `translate(11 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, short(name(up), box.bottom - box.top)));
}

// The 95% intervals of an open head.
function whiskers(across, up, i, x, y, px, py) {
  const paths = [];
  const clip = (value) => Math.max(0, Math.min(2000, value));
  if (across.low && Number.isFinite(across.low[i])) paths.push(`M${clip(x.at(across.low[i]))} ${py}H${clip(x.at(across.high[i]))}`);
  if (up.low && Number.isFinite(up.low[i])) paths.push(`M${px} ${clip(y.at(up.low[i]))}V${clip(y.at(up.high[i]))}`);
  return paths.length ? s("path", { d: paths.join(""), class: "whisker" }) : null;
}

function scatterKey(event, places) {
  const point = event.target.closest("[data-head]");
  if (!point || event.ctrlKey || event.metaKey || event.altKey) return;
  const i = Number(point.dataset.head);
  const axis = { ArrowLeft: 0, ArrowRight: 0, ArrowUp: 1, ArrowDown: 1 }[event.key];
  if (axis === undefined) {
    headKey(event, i);
    return;
  }
  event.preventDefault();
  const order = [...places.keys()].sort((a, b) => places.get(a)[axis] - places.get(b)[axis] || a - b);
  const forward = event.key === "ArrowRight" || event.key === "ArrowDown";
  const next = order[order.indexOf(i) + (forward ? 1 : -1)];
  if (next !== undefined) moveTo(next, "#scatter");
}

function brushScatter(svg, area, box, places) {
  let from = null;
  const band = s("rect", { class: "band", visibility: "hidden" });
  svg.append(band);
  const place = (event) => {
    const { left, top } = svg.getBoundingClientRect();
    return [Math.max(box.left, Math.min(box.right, event.clientX - left)), Math.max(box.top, Math.min(box.bottom, event.clientY - top))];
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch") return;
    from = { at: place(event), head: event.target.closest("[data-head]") };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = place(event);
    const [ax, ay] = from.at;
    fill(band, { x: Math.min(x, ax), y: Math.min(y, ay), width: Math.abs(x - ax), height: Math.abs(y - ay), visibility: "visible" }, []);
  });
  const end = (event) => {
    if (!from) return;
    const [[ax, ay], [x, y]] = [from.at, place(event)];
    const start = from.head;
    from = null;
    band.setAttribute("visibility", "hidden");
    if (Math.hypot(x - ax, y - ay) < 5) {
      if (!start) update({ brush: "" });
      else if (event.shiftKey) toggleBrush(Number(start.dataset.head));
      else update({ head: headCode(Number(start.dataset.head)) });
      return;
    }
    const within = (value, a, b) => value >= Math.min(a, b) && value <= Math.max(a, b);
    const chosen = [...places].filter(([, [px, py]]) => within(px, ax, x) && within(py, ay, y)).map(([i]) => i);
    update({ brush: codes(chosen.sort((a, b) => a - b)) });
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("click", (event) => {
    const point = event.target.closest("[data-head]");
    if (point && event.pointerType === "touch") update({ head: headCode(Number(point.dataset.head)) });
  });
}
