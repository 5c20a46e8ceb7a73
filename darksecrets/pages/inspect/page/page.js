// The page of an inspection. Layers and heads count from 1; weights are [query, key] of one example.

const CONTENT = JSON.parse(document.getElementById("content").textContent);
const SVG = "http://www.w3.org/2000/svg";
const PARTS = {
  all: ["all tokens", () => true],
  first: ["within the first sentence", (query, key) => query === 0 && key === 0],
  across: ["from the first sentence to the second", (query, key) => query === 0 && key === 1],
  back: ["from the second sentence to the first", (query, key) => query === 1 && key === 0],
  second: ["within the second sentence", (query, key) => query === 1 && key === 1],
};
const MANY = 128; // tokens
const LETTERS = 12; // height of a line of text
const FITS = 40; // tokens of a map that a small window shows whole; longer ones are scrolled
const state = { example: 0, layer: 1, head: 1, part: "all", least: 0, words: false, chosen: new Set() };

// --- Elements -----------------------------------------------------------------------------------

function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

function s(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// --- Weights ------------------------------------------------------------------------------------

const decoded = new Map();

function weightsOf(number) {
  if (!decoded.has(number)) {
    decoded.set(number, Uint8Array.from(atob(CONTENT.examples[number].maps), (letter) => letter.charCodeAt(0)));
  }
  return decoded.get(number);
}

// One map, [query, key] from 0 to 1, in one array.
function mapOf(example, layer, head) {
  const size = CONTENT.examples[example].tokens.length ** 2;
  const place = ((layer - 1) * CONTENT.heads + head - 1) * size;
  return Float32Array.from(weightsOf(example).subarray(place, place + size), (level) => (level / 255) ** 2);
}

const greatest = (weights) => weights.reduce((most, weight) => Math.max(most, weight), 0) || 1;

// What is shown of a map: word pieces, or words, whose pieces attend as their mean and are attended
// to as their sum; without what the filters leave out.
function shown() {
  const { tokens, words, segments } = CONTENT.examples[state.example];
  const weights = mapOf(state.example, state.layer, state.head);
  const group = state.words ? words : tokens.map((_, place) => place);
  const n = Math.max(...group) + 1;
  const names = Array(n).fill("");
  const sizes = Array(n).fill(0);
  const segment = Array(n).fill(0);
  group.forEach((to, place) => {
    names[to] += tokens[place];
    sizes[to] += 1;
    segment[to] = segments[place];
  });
  const cells = new Float32Array(n * n);
  group.forEach((query, i) => group.forEach((key, j) => {
    cells[query * n + key] += weights[i * tokens.length + j] / sizes[query];
  }));
  const [, keeps] = PARTS[state.part];
  const visible = cells.map((weight, place) => (
    weight >= state.least && keeps(segment[Math.floor(place / n)], segment[place % n]) ? weight : 0));
  return { names, n, cells: visible };
}

const patternOf = (layer, head) => CONTENT.examples[state.example].patterns?.[(layer - 1) * CONTENT.heads + head - 1];
const percent = (share) => `${Math.round(100 * share)} %`;

function nameOf(layer, head) {
  const pattern = patternOf(layer, head);
  const certain = pattern ? `: ${pattern[0]}, ${percent(pattern[1])} certain` : "";
  return `Layer ${layer}, head ${head}${certain}`;
}

// --- The grid of all heads ----------------------------------------------------------------------

function thumbnail(layer, head) {
  const n = CONTENT.examples[state.example].tokens.length;
  const canvas = h("canvas", { width: n, height: n });
  const weights = mapOf(state.example, layer, head);
  const most = greatest(weights);
  const colour = getComputedStyle(document.documentElement).getPropertyValue("--weight").split(",").map(Number);
  const pixels = new ImageData(n, n);
  for (let place = 0; place < n * n; place += 1) {
    const at = 4 * place;
    [pixels.data[at], pixels.data[at + 1], pixels.data[at + 2]] = colour;
    pixels.data[at + 3] = Math.round((255 * weights[place]) / most);
  }
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

function drawGrid() {
  const grid = h("div", { class: "grid", role: "group", "aria-label": "All heads; arrow keys move" });
  grid.style.gridTemplateColumns = `auto repeat(${CONTENT.heads}, max-content)`;
  grid.append(h("span", { class: "name" }, "Layer \\ Head"));
  for (let head = 1; head <= CONTENT.heads; head += 1) grid.append(h("span", { class: "name" }, String(head)));
  for (let layer = 1; layer <= CONTENT.layers; layer += 1) {
    grid.append(h("span", { class: "name" }, String(layer)));
    for (let head = 1; head <= CONTENT.heads; head += 1) {
      const button = h("button", {
        type: "button", "data-place": `${layer}.${head}`, title: nameOf(layer, head),
        "aria-label": nameOf(layer, head), onclick: () => choose(layer, head),
      }, thumbnail(layer, head));
      const pattern = patternOf(layer, head);
      if (pattern) button.style.setProperty("--frame", CONTENT.colours[pattern[0]]);
      grid.append(button);
    }
  }
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const within = (place, most) => Math.min(Math.max(place, 1), most);
    choose(within(state.layer + step[0], CONTENT.layers), within(state.head + step[1], CONTENT.heads), true);
  });
  document.getElementById("grid").replaceChildren(grid, legend());
}

function legend() {
  const list = h("p", { class: "patterns" });
  if (!CONTENT.examples[state.example].patterns) return list;
  for (const [pattern, colour] of Object.entries(CONTENT.colours)) {
    const box = h("i", { "aria-hidden": "true" });
    box.style.setProperty("--frame", colour);
    list.append(h("span", {}, box, pattern));
  }
  return list;
}

function choose(layer, head, focus = false) {
  Object.assign(state, { layer, head });
  for (const button of document.querySelectorAll("[data-place]")) {
    const own = button.dataset.place === `${layer}.${head}`;
    if (button.closest(".grid")) {
      button.setAttribute("aria-pressed", own);
      button.tabIndex = own ? 0 : -1;
      if (own && focus) button.focus();
    }
  }
  drawCard();
}

// --- One head -----------------------------------------------------------------------------------

function drawMap({ names, n, cells }) {
  const cell = Math.max(LETTERS, Math.min(40, 520 / n));
  const edge = 8 + 7 * Math.max(...names.map((name) => Math.min(name.length, 18)));
  const side = edge + n * cell + 2;
  const drawing = s("svg", { viewBox: `0 0 ${side} ${side}`, width: side, height: side, role: "img", "aria-label": `${nameOf(state.layer, state.head)}: rows attend to columns` });
  const most = greatest(cells);
  cells.forEach((weight, place) => {
    if (weight < most / (n > MANY ? 50 : 255)) return; // too pale to be seen, and many elements
    const [query, key] = [Math.floor(place / n), place % n];
    const box = s("rect", { class: "cell", x: edge + key * cell, y: edge + query * cell, width: cell, height: cell, "fill-opacity": (weight / most).toFixed(3) });
    box.append(s("title", {}, `${names[query]} → ${names[key]}: ${weight.toFixed(3)}`));
    drawing.append(box);
  });
  drawing.append(s("rect", { class: "frame", x: edge, y: edge, width: n * cell, height: n * cell }));
  names.forEach((name, place) => {
    const middle = edge + (place + 0.5) * cell;
    const text = name.length > 18 ? `${name.slice(0, 17)}…` : name;
    const row = s("text", { class: state.chosen.has(place) ? "token chosen" : "token", x: edge - 5, y: middle + 4, "text-anchor": "end" }, text);
    row.addEventListener("click", () => toggle(place));
    drawing.append(row, s("text", { x: 0, y: 0, transform: `translate(${middle + 4},${edge - 5}) rotate(-90)` }, text));
  });
  return drawing;
}

function toggle(place) {
  if (!state.chosen.delete(place)) state.chosen.add(place);
  drawCard();
}

// The greatest weights, or what the chosen tokens attend to on average.
function reading({ names, n, cells }) {
  const chosen = [...state.chosen].filter((place) => place < n);
  let title = "Greatest weights";
  let count = n * n;
  let value = (place) => cells[place];
  let name = (place) => `${names[Math.floor(place / n)]} → ${names[place % n]}`;
  if (chosen.length) {
    title = `Attention of ${chosen.map((place) => names[place]).join(", ")}${chosen.length > 1 ? ", mean" : ""}`;
    count = n;
    value = (key) => chosen.reduce((sum, query) => sum + cells[query * n + key], 0) / chosen.length;
    name = (key) => names[key];
  }
  const places = [...Array(count).keys()].filter((place) => value(place) > 0);
  const most = places.sort((one, other) => value(other) - value(one)).slice(0, 8);
  const items = most.map((place) => h("li", {}, `${name(place)} ${value(place).toFixed(2)}`));
  return [h("h3", {}, title), h("ol", { class: "pairs" }, ...items)];
}

function save(drawing) {
  const copy = drawing.cloneNode(true);
  copy.setAttribute("xmlns", SVG);
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue("--ink");
  copy.prepend(s("style", {}, `text{font:11px sans-serif;fill:${ink}}.cell{fill:rgb(${style.getPropertyValue("--weight")})}.frame{fill:none;stroke:${ink}}`));
  const address = URL.createObjectURL(new Blob([copy.outerHTML], { type: "image/svg+xml" }));
  h("a", { href: address, download: `layer-${state.layer}-head-${state.head}.svg` }).click();
  URL.revokeObjectURL(address);
}

function drawCard() {
  const map = shown();
  const drawing = drawMap(map);
  document.getElementById("card").replaceChildren(
    h("h2", { "aria-live": "polite" }, nameOf(state.layer, state.head)),
    h("p", { class: "quiet" }, "Rows attend to columns; the stronger the colour, the more. Choose tokens of rows to read what they attend to."),
    h("div", { class: map.n > FITS ? "scroll" : "" }, drawing),
    ...reading(map),
    h("p", {}, h("button", { type: "button", onclick: () => save(drawing) }, "Save as SVG")),
  );
}

// --- What the page says of all heads ------------------------------------------------------------

function drawStrongest() {
  const rows = Object.entries(CONTENT.strongest).flatMap(([measure, heads]) => [
    h("span", {}, measure, h("span", { class: "quiet" }, ` uniform ${CONTENT.uniform[measure]}`)),
    h("div", {}, ...heads.map(([layer, head, value]) => h("button", {
      type: "button", onclick: () => choose(layer, head, true), title: nameOf(layer, head),
    }, `${layer}.${head} (${value})`))),
  ]);
  document.getElementById("strong").replaceChildren(h("h3", {}, "Strongest heads: layer.head, mean over examples"), h("div", { class: "strong" }, ...rows));
}

function drawControls() {
  const isPair = CONTENT.examples.some(({ segments }) => segments.includes(1));
  const controls = [];
  if (CONTENT.examples.length > 1) {
    const menu = h("select", { id: "example", onchange: (event) => { state.example = Number(event.target.value); state.chosen.clear(); drawAll(); } });
    CONTENT.examples.forEach(({ text }, number) => menu.append(h("option", { value: number }, `${number + 1}: ${text}`)));
    controls.push(h("label", {}, "Example", menu));
  }
  if (isPair) {
    const menu = h("select", { id: "part", onchange: (event) => { state.part = event.target.value; drawCard(); } });
    for (const [key, [words]] of Object.entries(PARTS)) menu.append(h("option", { value: key }, words));
    controls.push(h("label", {}, "Attention", menu));
  }
  controls.push(
    h("label", {}, h("input", { type: "checkbox", id: "words", onchange: (event) => { state.words = event.target.checked; state.chosen.clear(); drawCard(); } }), "words instead of pieces"),
    h("label", {}, "at least", h("input", { type: "range", id: "least", min: 0, max: 0.5, step: 0.01, value: 0, oninput: (event) => {
      state.least = Number(event.target.value);
      document.getElementById("least-read").textContent = state.least.toFixed(2);
      drawCard();
    } }), h("output", { id: "least-read", for: "least" }, "0.00")),
  );
  document.getElementById("controls").replaceChildren(...controls);
}

function drawAll() {
  const example = CONTENT.examples[state.example];
  document.getElementById("text").textContent = example.text;
  document.getElementById("cut").textContent = example.cut ? `${example.cut} tokens at the end are cut off.` : "";
  drawGrid();
  choose(state.layer, state.head);
}

document.getElementById("page").replaceChildren(
  h("h1", { id: "text" }),
  h("p", { class: "quiet" }, CONTENT.label, " ", h("span", { id: "cut" })),
  h("div", { id: "controls", class: "controls" }),
  h("div", { class: "columns" },
    h("div", {}, h("div", { id: "grid" }), h("div", { id: "strong" })),
    h("section", { id: "card", class: "card", "aria-label": "One head" })),
);
drawControls();
drawStrongest();
drawAll();
