"use strict";

// Every key is answered at once. Labels are kept in this browser as soon as they are given, so that a
// reload or a crash loses none; "Download" writes them to a file. A label is for the map that is next in
// the order of annotator and pass, so that no map is labelled unseen or twice.

const find = (id) => document.getElementById(id);
const canvas = find("map");
const buttons = [...document.querySelectorAll("button[data-key]")];
const WITH_COLUMNS = ["vertical", "vertical+diagonal"];
const WITH_DIAGONAL = ["diagonal", "vertical+diagonal"];
const KINDS = { s: "special", p: "punctuation", w: "word" };
const STRENGTHS = ["no diagonal", "weak diagonal", "plain diagonal"];

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const CONTENT = JSON.parse(find("content").textContent);
const shades = bytes(CONTENT.colours);
const maps = new Map(CONTENT.maps.map((map) => [map.name, { ...map, levels: bytes(map.levels) }]));
const COLUMNS = ["map", "label", "columns", "number", "diagonal", "annotator", "pass", "tokens", "time"];
const SHOWN_AGAIN = 5; // labels and skips

let annotator = "";
let pass = 1;
let key = ""; // where this browser keeps the labels of this set, annotator and pass
let order = []; // names of all maps of the pass, in the annotator's order
let labels = []; // those that are kept, the last one last
let history = []; // labels and skips, the last one last; skips are forgotten by a reload
let answer = null; // answers to the map on the screen, so far
let showTokens = true;
let first = null; // a map that was taken back comes before all others

const isSkip = (one) => !one.label;
const recent = () => history.slice(-SHOWN_AGAIN);

// Maps without a label: skipped ones come last.
function waiting() {
  const known = new Set(labels.map((one) => one.map));
  const skipped = history.filter(isSkip).map((one) => one.map).filter((name) => !known.has(name));
  const last = [...new Set(skipped.reverse())].reverse();
  const found = [...order.filter((name) => !known.has(name) && !last.includes(name)), ...last];
  return found.includes(first) ? [first, ...found.filter((name) => name !== first)] : found;
}

// --- what this browser keeps

function stored() {
  return JSON.parse(localStorage.getItem(key) ?? "[]");
}

// Keep labels; returns whether that was possible.
function keep(changed) {
  if (JSON.stringify(stored()) !== JSON.stringify(labels)) {
    adopt();
    say("Another window was ahead: nothing was changed.", true);
    return false;
  }
  try {
    localStorage.setItem(key, JSON.stringify(changed));
  } catch (error) {
    say(`This browser keeps no more labels (${error.name}): nothing was changed. Download them first.`, true);
    return false;
  }
  labels = changed;
  return true;
}

// Take over what this browser keeps, after a start or when another window has changed it.
function adopt() {
  labels = stored();
  history = [...labels];
  first = null;
  answer = null;
  show();
}

// An order of its own for every annotator and pass, the same at every start (Fisher and Yates).
function shuffled(names, text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0), 16777619);
  const random = () => { // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const found = [...names];
  for (let last = found.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [found[last], found[other]] = [found[other], found[last]];
  }
  return found;
}

function download() {
  const quoted = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
  const rows = labels.map((one) => COLUMNS.map((name) => quoted({ annotator, pass, ...one }[name])));
  const text = [COLUMNS, ...rows].map((row) => `${row.join(",")}\n`).join("");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `labels-${annotator}-${pass}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
  say(`Downloaded: ${labels.length} labels, in ${link.download}.`);
}

// --- what is shown

function say(text, isError = false) {
  find("status").textContent = text;
  find("status").classList.toggle("error", isError);
}

function showProgress() {
  find("progress").max = order.length;
  find("progress").value = labels.length;
  find("count").textContent = `${labels.length} of ${order.length} labelled`;
}

function show() {
  const [name] = waiting();
  const finished = name === undefined;
  showProgress();
  find("done").hidden = !finished;
  find("frame").hidden = finished;
  canvas.hidden = finished;
  find("name").textContent = name ?? "";
  find("readout").textContent = "";
  find("download").disabled = labels.length === 0;
  if (finished) {
    find("done").textContent = `All ${order.length} maps of this pass are labelled. Download the labels.`;
    delete canvas.dataset.name;
  } else {
    drawMap();
    canvas.dataset.name = name;
    canvas.setAttribute("aria-label", `Attention map ${labels.length + 1} of ${order.length}`);
  }
  drawRecent();
  showAnswer();
}

function describe(given) {
  if (!given.label) return "skipped";
  const kinds = given.columns === "-" ? [] : [...given.columns].map((kind) => KINDS[kind]);
  const columns = kinds.length ? `${given.number > 1 ? "columns" : "column"}: ${kinds.join(", ")}` : "no column";
  return `${given.label} · ${columns} · ${STRENGTHS[given.diagonal]}`;
}

function showAnswer() {
  for (const button of buttons) {
    const { label, kind, diagonal } = button.dataset;
    const chosen =
      answer !== null &&
      (answer.label === label ||
        (kind && answer.presses.includes(kind)) ||
        (diagonal && answer.diagonal === Number(diagonal)));
    button.classList.toggle("given", Boolean(chosen));
    if (label || kind || diagonal) button.setAttribute("aria-pressed", String(Boolean(chosen)));
    button.disabled = button.id === "undo" ? history.length === 0 && answer === null
      : button.id === "tokens" ? false
      : button.id === "save" ? problem() !== null
      : kind || diagonal ? answer === null
      : waiting().length === 0;
  }
  find("answer").textContent = answer === null ? "" : describe(given());
}

function drawRecent() {
  find("recent").replaceChildren(...recent().map((one, place) => {
    const button = document.createElement("button");
    const picture = document.createElement("canvas");
    paint(picture, maps.get(one.map).levels);
    button.type = "button";
    button.append(picture, one.label ? `${one.label} ${one.columns}` : "skipped");
    button.setAttribute("aria-label", `Go back to ${one.map}, ${describe(one)}`);
    button.title = button.getAttribute("aria-label");
    button.addEventListener("click", () => takeBack(recent().length - place));
    return button;
  }));
}

// Colour the cells, one pixel each.
function paint(target, levels) {
  const side = Math.sqrt(levels.length);
  target.width = target.height = side;
  const context = target.getContext("2d");
  const pixels = context.createImageData(side, side);
  levels.forEach((level, cell) => {
    for (let part = 0; part < 3; part++) pixels.data[4 * cell + part] = shades[3 * level + part];
    pixels.data[4 * cell + 3] = 255;
  });
  context.putImageData(pixels, 0, 0);
}

function drawMap() {
  const { clientWidth, clientHeight } = find("frame");
  const narrow = window.matchMedia("(max-width: 850px)").matches; // the page scrolls
  const size = narrow ? clientWidth : Math.min(clientWidth, clientHeight);
  draw(canvas, maps.get(waiting()[0]), size, showTokens);
}

// Draw a map with its tokens, the kinds of its columns, and where the second sentence starts.
function draw(target, map, height, tokens) {
  const cells = document.createElement("canvas");
  paint(cells, map.levels);
  const count = map.tokens.length;
  const scale = window.devicePixelRatio || 1;
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const context = target.getContext("2d");
  const setFont = (pixels) => { context.font = `${pixels}px system-ui, "DejaVu Sans", sans-serif`; };
  const strip = Math.max(6, height * 0.016);
  let margin = 0;
  let size = height;
  let font = 0;
  for (let round = 0; round < 3; round++) { // the font depends on the map's size, and that on the font
    font = Math.max(Math.min((0.8 * size) / count, 13), 5);
    setFont(font);
    const longest = Math.max(...map.tokens.map((token) => context.measureText(token).width));
    margin = tokens ? Math.min(longest + 6, height * 0.25) : 4;
    size = Math.max(Math.floor(height - margin - strip - 6), 40);
  }
  const cell = size / count;
  target.width = Math.round((size + margin + 2) * scale);
  target.height = Math.round((size + margin + strip + 6) * scale);
  target.style.width = `${target.width / scale}px`;
  target.style.height = `${target.height / scale}px`;
  context.setTransform(scale, 0, 0, scale, margin * scale, scale);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, 0, 0, size, size);
  context.strokeStyle = colour("grey");
  context.lineWidth = 1;
  context.strokeRect(0, 0, size, size);
  const colours = { s: colour("special"), p: colour("punctuation"), w: colour("word") };
  [...map.kinds].forEach((kind, place) => {
    context.fillStyle = colours[kind];
    context.fillRect(place * cell, size + 2, cell + 0.3, strip);
  });
  if (map.second > 0) {
    const place = map.second * cell;
    context.strokeStyle = "#333333"; // as on sheets; the map's ground is pale in dark mode, too
    context.lineWidth = 0.8;
    context.beginPath();
    context.moveTo(place, 0);
    context.lineTo(place, size);
    context.moveTo(0, place);
    context.lineTo(size, place);
    context.stroke();
  }
  Object.assign(target, { margin, cell, count });
  if (!tokens) return;
  setFont(font); // setting the canvas's size has reset it
  context.fillStyle = colour("ink");
  context.textBaseline = "middle";
  context.textAlign = "right";
  const step = Math.ceil((1.05 * font) / cell); // of a long map, every second or third token
  for (let place = 0; place < count; place += step) {
    const middle = (place + 0.5) * cell;
    context.fillText(map.tokens[place], -3, middle, margin - 4);
    context.save();
    context.translate(middle, size + strip + 5);
    context.rotate(-Math.PI / 2);
    context.fillText(map.tokens[place], 0, 0, margin - 4);
    context.restore();
  }
}

function redraw() {
  if (order.length && waiting().length) drawMap();
  for (const drawing of document.querySelectorAll("#borderline canvas")) {
    draw(drawing, drawing.map, drawing.parentElement.clientWidth, false);
  }
}

// --- what the annotator does

function given() {
  const kinds = [...new Set(answer.presses)].join("");
  return {
    label: answer.label,
    columns: kinds || "-",
    number: Math.min(answer.presses.length, 2),
    diagonal: answer.diagonal,
  };
}

// Why the answers cannot be saved; null if they can.
function problem() {
  if (answer === null) return "Give the class first.";
  if (WITH_COLUMNS.includes(answer.label) && !answer.presses) {
    return `${answer.label}: what are the columns? s, p or w`;
  }
  if (WITH_DIAGONAL.includes(answer.label) && answer.diagonal === 0) {
    return `${answer.label}: how plain is the diagonal? 1 or 2`;
  }
  return null;
}

function save() {
  const wrong = problem();
  if (wrong !== null) {
    say(wrong, true);
    return;
  }
  const time = `${new Date().toISOString().slice(0, 19)}Z`;
  const tokens = showTokens ? "shown" : "hidden";
  const label = { map: waiting()[0], ...given(), tokens, time };
  if (!keep([...labels, label])) return;
  history.push(label);
  answer = null;
  say(`Saved: ${describe(label)}.`);
  show();
}

function skip() {
  history.push({ map: waiting()[0] });
  first = null;
  answer = null;
  say("Skipped: it comes again at the end.");
  show();
}

// Take back the last labels and skips; the first of their maps is then on the screen.
function takeBack(count) {
  if (history.length < count) {
    say("There is nothing to take back yet.", true);
    return;
  }
  const back = history.slice(-count);
  const gone = new Set(back.filter((one) => !isSkip(one)).map((one) => one.map));
  if (!keep(labels.filter((one) => !gone.has(one.map)))) return;
  history = history.slice(0, -count);
  first = back[0].map;
  answer = null;
  say(count > 1 ? `Taken back: ${count}.` : "Taken back.");
  show();
}

function press(letter, isLast = false) {
  const button = buttons.find((one) => one.dataset.key === letter);
  if (!button) return;
  const { label, kind, diagonal } = button.dataset;
  if (button.id === "tokens") {
    showTokens = !showTokens;
    button.setAttribute("aria-pressed", String(showTokens));
    say(showTokens ? "Tokens are shown." : "Tokens are hidden; labels say so.");
    redraw();
  } else if (button.id === "undo") {
    if (answer === null) takeBack(1);
    else clear();
  } else if (waiting().length === 0) {
    return;
  } else if (button.id === "skip") {
    skip();
  } else if (button.id === "save") {
    save();
  } else if (label) {
    answer = { label, presses: "", diagonal: WITH_DIAGONAL.includes(label) ? 2 : 0 };
  } else if (answer === null) {
    say(problem(), true);
    return;
  } else if (kind) {
    answer.presses += kind;
  } else {
    answer.diagonal = Number(diagonal);
  }
  if (isLast && (label || kind)) save();
  showAnswer();
}

function clear() {
  answer = null;
  say("");
  showAnswer();
}

// Take back one key: the last column, or else the class.
function backspace() {
  if (answer === null) return;
  if (answer.presses) answer.presses = answer.presses.slice(0, -1);
  else answer = null;
  showAnswer();
}

for (const button of buttons) {
  button.addEventListener("click", (event) => {
    if (event.detail > 0) button.blur(); // after a click of the mouse, Enter saves
    press(button.dataset.key);
  });
}

document.addEventListener("keydown", (event) => {
  const onButton = event.target.closest?.("button, summary");
  // A held key counts once, even on a focused button.
  if (event.repeat && onButton) event.preventDefault();
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!order.length || event.target.tagName === "INPUT") return; // the name is not given yet
  const letter = event.key.toLowerCase();
  if (onButton && (letter === "enter" || letter === " ")) return; // presses that button
  if (letter === "escape") clear();
  else if (letter === "backspace") backspace();
  else if (buttons.some((one) => one.dataset.key === letter)) press(letter, event.shiftKey);
  else return;
  event.preventDefault();
});

canvas.addEventListener("mousemove", (event) => {
  const column = Math.floor((event.offsetX - canvas.margin) / canvas.cell);
  const row = Math.floor((event.offsetY - 1) / canvas.cell);
  const inside = Math.min(row, column) >= 0 && Math.max(row, column) < canvas.count;
  const { tokens } = maps.get(waiting()[0]) ?? {};
  find("readout").textContent = inside && tokens && showTokens ? `${tokens[row]} → ${tokens[column]}` : "";
});

find("guide").addEventListener("toggle", () => {
  const box = find("borderline");
  if (!find("guide").open || box.children.length) return;
  for (const map of CONTENT.borderline) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const drawing = document.createElement("canvas");
    caption.textContent = describe(map);
    drawing.map = { ...map, levels: bytes(map.levels) };
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", describe(map));
    figure.append(drawing, caption);
    box.append(figure);
  }
  redraw();
});

// Begin or go on with the pass that the address names: #annotator=ada&pass=1
function start() {
  const asked = new URLSearchParams(window.location.hash.slice(1));
  annotator = (asked.get("annotator") ?? "").trim();
  pass = Number(asked.get("pass") ?? 1);
  const settles = pass === CONTENT.settled;
  order = shuffled(settles ? CONTENT.disputed : [...maps.keys()], `${annotator} ${pass}`);
  const wrong = !annotator || /[",\n]/.test(annotator) ? "Open the address that `make label` prints: it names annotator and pass."
    : ![1, 2, CONTENT.settled].includes(pass) ? `There is no pass ${pass}.`
    : settles && !order.length ? "There is nothing to settle."
    : "";
  find("who").textContent = wrong ? "" : `Pass ${pass} · ${annotator}`;
  if (wrong) {
    order = [];
    for (const button of buttons) button.disabled = true;
    say(wrong, true);
    return;
  }
  key = `labels ${CONTENT.set} ${annotator} ${pass}`;
  say("");
  adopt();
}

for (const example of document.querySelectorAll("canvas.example")) {
  paint(example, bytes(example.dataset.levels));
}
find("download").addEventListener("click", download);
new ResizeObserver(redraw).observe(find("frame"));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
window.addEventListener("hashchange", start);
window.addEventListener("storage", (event) => { if (event.key === key) adopt(); });
start();
