"use strict";

// Every key is answered at once. Maps are loaded ahead and drawn here, so the next map is on the
// screen as soon as a label is given. Labels are sent one after the other. The server accepts a label
// only for the map that is next in its own order, so no map is labelled unseen or twice. If it
// refuses one, the page goes back to the last state that the server confirmed.

const find = (id) => document.getElementById(id);
const canvas = find("map");
const buttons = [...document.querySelectorAll("button[data-key]")];
const WITH_COLUMNS = ["vertical", "vertical+diagonal"];
const WITH_DIAGONAL = ["diagonal", "vertical+diagonal"];
const KINDS = { s: "special", p: "punctuation", w: "word" };
const STRENGTHS = ["no diagonal", "weak diagonal", "plain diagonal"];

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const shades = bytes(canvas.dataset.colours);

let confirmed = null; // the last state that the server sent
let upcoming = []; // names of the maps to label; the first is on the screen
let done = []; // the last maps, with the answers given to them
let labelled = 0;
let pending = []; // actions that the server has not confirmed
let answer = null; // answers to the map on the screen, so far
let ready = false; // the map on the screen is drawn
let showTokens = true;
let sending = Promise.resolve();
const loaded = new Map(); // name of a map -> its content
const loading = new Map(); // name of a map -> promise of its content

// --- the server

async function load(name) {
  if (loaded.has(name)) return loaded.get(name);
  if (!loading.has(name)) {
    const fetched = fetch(`maps/${encodeURIComponent(name)}`)
      .then((response) => {
        if (!response.ok) throw new Error(`The map ${name} cannot be read.`);
        return response.json();
      })
      .then((map) => {
        map.levels = bytes(map.levels);
        loaded.set(name, map);
        return map;
      })
      .finally(() => loading.delete(name)); // so that it can be tried again
    loading.set(name, fetched);
  }
  return loading.get(name);
}

function prefetch() {
  const wanted = [...upcoming, ...done.map((one) => one.map)];
  for (const name of wanted) load(name).then(drawRecent).catch(() => {});
  if (loaded.size > 60) {
    for (const name of loaded.keys()) if (!wanted.includes(name)) loaded.delete(name);
  }
}

async function post(path, content) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  });
  const state = await response.json();
  if (response.status === 409) state.behind = true;
  else if (!response.ok) throw new Error(state.error);
  return state;
}

function send(path, content, said) {
  const action = { path, name: content.map };
  pending.push(action);
  sending = sending.then(async () => {
    if (!pending.includes(action)) return; // an action before it failed
    try {
      const state = await post(path, content);
      confirmed = state;
      pending.shift();
      if (state.behind) {
        pending = [];
        adopt(state);
        say("Another window was ahead: nothing was changed.", true);
      } else if (pending.length === 0) {
        adopt(state);
        say(said);
      } else if (pending.every((one) => one.path !== "undo")) {
        const sent = pending.map((one) => one.name);
        upcoming = state.maps.filter((one) => !sent.includes(one));
        prefetch();
        if (!ready) show();
      }
    } catch (error) {
      const lost = error instanceof TypeError; // fetch throws it if there is no answer
      const count = pending.filter((one) => one.path === "label").length;
      pending = [];
      adopt(confirmed);
      say(
        (lost
          ? "The server does not answer. Start it again and open the address that it prints."
          : error.message) + (count ? ` Not saved: ${count}.` : ""),
        true,
      );
    }
  });
}

function adopt(state) {
  const same = state.maps[0] === upcoming[0] && ready;
  confirmed = state;
  upcoming = [...state.maps];
  done = [...state.done];
  labelled = state.labelled;
  prefetch();
  if (same) {
    showProgress(); // and keep the answers that the annotator may have begun to give
    drawRecent();
    showAnswer();
  } else {
    answer = null;
    show();
  }
}

// --- what is shown

function say(text, isError = false) {
  find("status").textContent = text;
  find("status").classList.toggle("error", isError);
}

function showProgress() {
  find("progress").max = confirmed.total;
  find("progress").value = labelled;
  find("count").textContent = `${labelled} of ${confirmed.total} labelled`;
}

function show() {
  const name = upcoming[0];
  const finished = name === undefined && pending.length === 0;
  ready = false;
  showProgress();
  find("done").hidden = !finished;
  find("frame").hidden = finished;
  find("name").textContent = name === undefined ? "" : name;
  find("readout").textContent = "";
  if (finished) {
    find("done").textContent =
      `All ${confirmed.total} maps of this pass are labelled and saved. ` +
      "You can close this page and stop the server.";
    delete canvas.dataset.name;
  } else if (name !== undefined && loaded.has(name)) {
    canvas.hidden = false;
    ready = true;
    drawMap();
    canvas.dataset.name = name;
    canvas.setAttribute("aria-label", `Attention map ${labelled + 1} of ${confirmed.total}`);
  } else {
    canvas.hidden = true;
    delete canvas.dataset.name;
    if (name !== undefined) {
      const again = () => { if (!ready && upcoming[0] === name) show(); };
      load(name).then(again).catch((error) => say(error.message, true));
    }
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
    button.disabled = button.id === "undo" ? done.length === 0 && answer === null
      : button.id === "tokens" ? false
      : button.id === "save" ? problem() !== null
      : kind || diagonal ? answer === null || !ready
      : !ready;
  }
  find("answer").textContent = answer === null ? "" : describe(given());
}

function drawRecent() {
  const wanted = done.map((one) => `${one.map}${one.label}${one.columns}${one.diagonal}${loaded.has(one.map)}`);
  const box = find("recent");
  if (box.dataset.shown === wanted.join()) return;
  box.dataset.shown = wanted.join();
  box.replaceChildren(...done.map((one, place) => {
    const button = document.createElement("button");
    const picture = document.createElement("canvas");
    const map = loaded.get(one.map);
    if (map) paint(picture, map.levels);
    button.type = "button";
    button.append(picture, one.label ? `${one.label} ${one.columns}` : "skipped");
    button.setAttribute("aria-label", `Go back to ${one.map}, ${describe(one)}`);
    button.title = button.getAttribute("aria-label");
    button.addEventListener("click", () => takeBack(done.length - place));
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
  draw(canvas, loaded.get(upcoming[0]), size, showTokens);
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
  if (ready) drawMap();
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
  if (!ready) return "The map is not drawn yet: press the key again.";
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
  const saved = given();
  const name = upcoming.shift();
  done = [...done, { map: name, ...saved }].slice(-5);
  labelled += 1;
  answer = null;
  say("");
  send("label", { map: name, ...saved, tokens: showTokens ? "shown" : "hidden" }, `Saved: ${describe(saved)}.`);
  show();
}

function skip() {
  const name = upcoming.shift();
  done = [...done, { map: name }].slice(-5);
  answer = null;
  say("");
  send("skip", { map: name }, "Skipped: it comes again at the end.");
  show();
}

function takeBack(count) {
  if (done.length < count) {
    say("There is nothing to take back yet.", true);
    return;
  }
  answer = null;
  say("");
  for (let one = 0; one < count; one++) {
    const last = done.pop();
    upcoming = [last.map, ...upcoming.filter((name) => name !== last.map)];
    if (last.label) labelled -= 1;
    send("undo", {}, count > 1 ? `Taken back: ${count}.` : "Taken back.");
  }
  show();
}

function press(key, isLast = false) {
  const button = buttons.find((one) => one.dataset.key === key);
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
  } else if (!ready) {
    if (upcoming.length || pending.length) say(problem(), true);
    if (upcoming.length && !loading.has(upcoming[0])) show(); // loading it has failed: try again
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
  const key = event.key.toLowerCase();
  if (onButton && (key === "enter" || key === " ")) return; // presses that button
  if (key === "escape") clear();
  else if (key === "backspace") backspace();
  else if (buttons.some((one) => one.dataset.key === key)) press(key, event.shiftKey);
  else return;
  event.preventDefault();
});

canvas.addEventListener("mousemove", (event) => {
  const column = Math.floor((event.offsetX - canvas.margin) / canvas.cell);
  const row = Math.floor((event.offsetY - 1) / canvas.cell);
  const inside = Math.min(row, column) >= 0 && Math.max(row, column) < canvas.count;
  const { tokens } = (ready && loaded.get(upcoming[0])) || {};
  find("readout").textContent = inside && tokens && showTokens ? `${tokens[row]} → ${tokens[column]}` : "";
});

find("guide").addEventListener("toggle", async () => {
  const box = find("borderline");
  if (!find("guide").open || box.children.length) return;
  const maps = await (await fetch("borderline")).json();
  for (const map of maps) {
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

for (const example of document.querySelectorAll("canvas.example")) {
  paint(example, bytes(example.dataset.levels));
}
new ResizeObserver(redraw).observe(find("frame"));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

(async () => {
  try {
    adopt(await (await fetch("state")).json());
    say("");
  } catch (error) {
    say("The server does not answer. Start it again and open the address that it prints.", true);
  }
})();
