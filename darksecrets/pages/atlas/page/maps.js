// Maps: decoded when they are first seen. Colour is proportional to the root of the weight, which
// shows small weights, too.

const decoded = new Map();

function once(key, make) {
  if (!decoded.has(key)) decoded.set(key, make());
  return decoded.get(key);
}

const squares = (bytes, most) => Float32Array.from(bytes, (level) => (level / most) ** 2);
const ofTask = (task) => CONTENT.maps[task];

const packedMeans = (task, model, kind) => once(`${kind} ${task} ${model}`, async () => squares(await inflate(ofTask(task)[kind][model]), 255));

const sizeOf = (frame) => frame.reduce((sum, part) => sum + (part.part < 0 ? 1 : CONTENT.bins), 0);

// Names of the models that a state and seed stand for.
function mapModels(task, state, seed) {
  const models = ofTask(task)?.models ?? [];
  if (state === "pretrained") return models.filter((model) => model === "pretrained");
  const tuned = models.filter((model) => model.startsWith("finetuned/"));
  const own = tuned.filter((model) => seed === "mean" || model === `finetuned/seed-${seed}`);
  return own.length ? own : tuned.slice(0, 1); // tasks may have different seeds
}

async function meanOver(task, models, kind) {
  const arrays = await Promise.all(models.map((model) => packedMeans(task, model, kind)));
  if (arrays.length < 2) return arrays[0] ?? null;
  return arrays[0].map((_, i) => arrays.reduce((sum, array) => sum + array[i], 0) / arrays.length);
}

// Mean maps of all heads; null if the run has none.
async function meansOf(task, state, seed, kind = "means") {
  if (!ofTask(task)) return null;
  const size = kind === "means" ? sizeOf(ofTask(task).frame) ** 2 : CONTENT.offsets;
  const get = async (each) => meanOver(task, mapModels(task, each, seed), kind);
  const own = state === "difference" ? null : await get(state === "pretrained" ? "pretrained" : "finetuned");
  const pair = state === "difference" ? await Promise.all([get("finetuned"), get("pretrained")]) : [];
  const values = own ?? (pair[0] && pair[1] ? pair[0].map((value, i) => value - pair[1][i]) : null);
  if (!values) return null;
  return { size: Math.sqrt(size), difference: state === "difference", of: (i) => values.subarray(i * size, (i + 1) * size) };
}

// Maps of an example before and after fine-tuning: [model, weights of all heads].
const exampleMaps = (task, n) => once(`example ${task} ${n}`, async () => {
  const example = ofTask(task).examples[n];
  const size = COUNT * example.tokens.length ** 2;
  return Promise.all(Object.entries(example.maps).map(async ([model, packed]) => {
    const bytes = await inflate(packed);
    const levels = new Uint8Array(2 * bytes.length);
    bytes.forEach((byte, i) => { levels[2 * i] = byte >> 4; levels[2 * i + 1] = byte & 15; });
    return [model, squares(levels.subarray(0, size), 15)];
  }));
});

const rgbOf = (weight, difference) => (difference
  ? at("effect", 0.5 + 0.5 * Math.sign(weight) * Math.sqrt(Math.abs(weight)))
  : at("map", Math.sqrt(weight)));

// Draw n × n weights into a rectangle of a canvas.
function paint(canvas, weights, n, difference, box = { x: 0, y: 0, size: canvas.width }) {
  const small = new OffscreenCanvas(n, n);
  const pixels = new ImageData(n, n);
  for (let k = 0; k < n * n; k += 1) pixels.data.set([...rgbOf(weights[k], difference), 255], 4 * k);
  small.getContext("2d").putImageData(pixels, 0, 0);
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = false;
  context.drawImage(small, box.x, box.y, box.size, box.size);
}

const ordinals = { "first sentence": "first", "second sentence": "second" };

// A mean map with the parts of the frame beside it.
function frameMap(weights, frame, difference, title) {
  const n = sizeOf(frame);
  const scale = 2;
  const [edge, size] = [46, 190];
  const canvas = h("canvas", { width: (edge + size) * scale, height: (edge + size) * scale, role: "img", "aria-label": frameWords(weights, frame, difference, title) });
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  context.scale(scale, scale);
  paint(canvas, weights, n, difference, { x: edge, y: edge, size });
  context.strokeStyle = style.getPropertyValue("--line");
  context.fillStyle = style.getPropertyValue("--quiet");
  context.font = "11px system-ui, sans-serif";
  let start = 0;
  for (const { name, part } of frame) {
    const length = part < 0 ? 1 : CONTENT.bins;
    const [from, to] = [start, start + length].map((k) => edge + (k * size) / n);
    if (start) {
      context.beginPath();
      context.moveTo(from, edge); context.lineTo(from, edge + size);
      context.moveTo(edge, from); context.lineTo(edge + size, from);
      context.stroke();
    }
    const text = fit(context, ordinals[name] ?? name, 42);
    context.textAlign = "right"; context.textBaseline = "middle";
    context.fillText(text, edge - 4, (from + to) / 2);
    context.save();
    context.translate((from + to) / 2, edge - 4);
    context.rotate(part < 0 ? -Math.PI / 2 : 0);
    context.textAlign = part < 0 ? "left" : "center"; context.textBaseline = part < 0 ? "middle" : "alphabetic";
    context.fillText(text, 0, 0);
    context.restore();
    start += length;
  }
  context.strokeRect(edge, edge, size, size);
  const places = frame.flatMap(({ name, part }) => Array.from({ length: part < 0 ? 1 : CONTENT.bins }, (_, k) => (part < 0 ? name : `${name}, part ${k + 1} of ${CONTENT.bins}`)));
  hoverCells(canvas, n, (box) => ({ x: (edge * box.width) / (edge + size), size: (size * box.width) / (edge + size) }), (query, key) => [`${places[query]} → ${places[key]}`, number(weights[query * n + key])]);
  return h("figure", {}, canvas, h("figcaption", {}, title));
}

function fit(context, text, room) {
  let shown = text;
  while (shown.length > 1 && context.measureText(shown).width > room) shown = shown.slice(0, -1);
  return shown === text ? text : `${shown.slice(0, -1)}…`;
}

// Which part of the frame gets most of the attention, in words.
function frameWords(weights, frame, difference, title) {
  const n = sizeOf(frame);
  let start = 0;
  const sums = frame.map(({ name, part }) => {
    const length = part < 0 ? 1 : CONTENT.bins;
    let sum = 0;
    for (let query = 0; query < n; query += 1) for (let key = start; key < start + length; key += 1) sum += weights[query * n + key];
    start += length;
    return [name, sum / n];
  });
  const words = sums.map(([name, sum]) => `${name} ${difference && sum > 0 ? "+" : ""}${percent(sum).replace("-", "−")}`).join(", ");
  return `Mean map, ${title}. ${difference ? "Change of the attention" : "Attention"} to each part: ${words}`;
}

// Say what is under the pointer on a drawn map.
function hoverCells(canvas, n, place, say, enter = () => {}) {
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const { x, y = x, size } = place(box);
    const [key, query] = [event.clientX - box.left - x, event.clientY - box.top - y].map((value) => Math.floor((value / size) * n));
    const inside = key >= 0 && query >= 0 && key < n && query < n;
    if (inside) tip(say(query, key), event.clientX, event.clientY);
    else untip();
    enter(inside ? query : null);
  });
  canvas.addEventListener("pointerleave", () => { untip(); enter(null); });
}

// Attention by distance, before and after, and the same of uniform attention.
function profileFigure(before, after, uniform) {
  const [width, height] = [236, 132];
  const most = Math.max(...before ?? [0], ...after ?? [0], ...uniform, 0.05);
  const reach = (CONTENT.offsets - 3) / 2;
  const x = (k) => 30 + (k / (CONTENT.offsets - 1)) * (width - 40);
  const y = (share) => 96 - (share / most) * 86;
  const line = (values, name) => (values ? s("path", { class: `profile ${name}`, d: [...values].map((value, k) => `${k ? "L" : "M"}${x(k)} ${y(value)}`).join("") }) : null);
  const text = (k) => (k === 0 ? `≤−${reach + 1}` : k === CONTENT.offsets - 1 ? `≥${reach + 1}` : tickText(k - reach - 1));
  const peak = (values) => { const k = [...values].indexOf(Math.max(...values)); return `${text(k)} (${percent(values[k])})`; };
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Attention by distance from query to key. Peak ${before ? `before fine-tuning: ${peak(before)}` : ""}${after ? `; after: ${peak(after)}` : ""}`,
  },
  s("g", { class: "axis" },
    ticks(0, most, 3).map((value) => [s("path", { class: "guide", d: `M30 ${y(value)}H${width - 10}` }), s("text", { x: 26, y: y(value), dy: "0.35em", "text-anchor": "end" }, percent(value))]),
    [0, reach + 1 - 4, reach + 1, reach + 1 + 4, CONTENT.offsets - 1].map((k) => s("text", { x: x(k), y: 109, "text-anchor": "middle" }, text(k))),
    s("text", { x: 133, y: 125, "text-anchor": "middle", class: "title" }, "tokens from query to key")),
  line(uniform, "uniform"), line(before, "before"), line(after, "after"));
  return h("figure", { class: "distance" }, svg, h("figcaption", { class: "lines" },
    before ? h("span", { class: "before" }, "before") : null, after ? h("span", { class: "after" }, "after") : null, h("span", { class: "uniform" }, "uniform attention")));
}

// An example's map with its tokens; `mark(query)` shows a row.
function tokenMap(weights, tokens, difference, title) {
  const n = tokens.length;
  const scale = 2;
  const cell = Math.max(5, Math.min(15, 250 / n));
  const edge = cell >= 7 ? 62 : 4;
  const side = edge + n * cell;
  const canvas = h("canvas", { width: side * scale, height: side * scale, role: "img", "aria-label": `${title}: map of ${n} × ${n} tokens; the list of tokens above says what each attends to` });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  const draw = (row) => {
    const style = getComputedStyle(document.documentElement);
    context.clearRect(0, 0, side, side);
    paint(canvas, weights, n, difference, { x: edge, y: edge, size: n * cell });
    context.strokeStyle = style.getPropertyValue("--line");
    context.lineWidth = 1;
    context.strokeRect(edge, edge, n * cell, n * cell);
    if (edge > 4) labels(context, tokens, edge, cell, row, style);
    if (row !== null) {
      context.strokeStyle = style.getPropertyValue("--accent");
      context.lineWidth = 1.5;
      context.strokeRect(edge, edge + row * cell, n * cell, cell);
    }
  };
  draw(null);
  return { canvas, draw, figure: h("figure", {}, canvas, h("figcaption", {}, title)), place: (box) => ({ x: (edge * box.width) / side, size: (n * cell * box.width) / side }) };
}

function labels(context, tokens, edge, cell, row, style) {
  context.font = `${Math.min(11, cell * 0.95)}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  tokens.forEach((token, k) => {
    const text = fit(context, token, edge - 6);
    context.fillStyle = style.getPropertyValue(row === k ? "--accent" : "--quiet");
    context.textAlign = "right";
    context.fillText(text, edge - 4, edge + (k + 0.5) * cell);
    context.save();
    context.translate(edge + (k + 0.5) * cell, edge - 4);
    context.rotate(-Math.PI / 2);
    context.fillStyle = style.getPropertyValue("--quiet");
    context.textAlign = "left";
    context.fillText(text, 0, 0);
    context.restore();
  });
}

// Lines from attending tokens to those attended to, as thick as the weight.
function arcs(weights, tokens, difference, title) {
  const n = tokens.length;
  const [width, line] = [250, 15];
  const y = (k) => 8 + (k + 0.5) * line;
  const lines = s("g", {});
  const svg = s("svg", { viewBox: `0 0 ${width} ${16 + n * line}`, class: "arcs", role: "img", "aria-label": `${title}: lines from each token to those that it attends to` }, lines);
  const short = (token) => (token.length > 11 ? `${token.slice(0, 10)}…` : token);
  const words = (side) => tokens.map((token, k) => s("text", { x: side === "left" ? 78 : width - 78, y: y(k), dy: "0.35em", "text-anchor": side === "left" ? "end" : "start", "data-token": k, class: side }, short(token)));
  const [left, right] = [words("left"), words("right")];
  svg.append(...left, ...right);
  const draw = (row) => {
    const drawn = [];
    for (let query = 0; query < n; query += 1) {
      if (row !== null && row !== query) continue;
      for (let key = 0; key < n; key += 1) {
        const weight = weights[query * n + key];
        const size = Math.abs(weight);
        if (size < (row === null ? 0.06 : 0.01)) continue;
        drawn.push(s("path", {
          d: `M82 ${y(query)}C${width / 2} ${y(query)} ${width / 2} ${y(key)} ${width - 82} ${y(key)}`, opacity: Math.min(1, (row === null ? 0.75 : 1) * Math.sqrt(size)),
          "stroke-width": 0.6 + 3 * size, class: difference ? (weight > 0 ? "more" : "less") : "arc",
        }));
      }
    }
    lines.replaceChildren(...drawn);
    left.forEach((text, k) => text.classList.toggle("active", k === row));
  };
  draw(null);
  return { canvas: svg, draw, figure: h("figure", {}, svg, h("figcaption", {}, title)) };
}
