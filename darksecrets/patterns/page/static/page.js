"use strict";

// The server decides which map is labelled next. The page shows it and sends the annotator's label
// with the name of the map on the screen. The server accepts no label for another map, and keys are
// ignored until the next map is drawn, so no map is labelled unseen.

const find = (id) => document.getElementById(id);
const pictures = new Map(); // name of a map -> promise of a URL: the one shown and the next
const buttons = [...document.querySelectorAll("button[data-key]")];

let state = null;
let busy = true;

async function picture(name) {
  if (!pictures.has(name)) {
    const load = async () => {
      const response = await fetch(`/maps/${encodeURIComponent(name)}.png`);
      if (!response.ok) throw new Error(`The map ${name} cannot be drawn.`);
      return URL.createObjectURL(await response.blob());
    };
    pictures.set(name, load());
  }
  try {
    return await pictures.get(name);
  } catch (error) {
    pictures.delete(name); // so that it can be tried again
    throw error;
  }
}

async function send(path, content) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(content),
  });
  const answer = await response.json();
  if (response.status === 409) {
    answer.behind = true;
  } else if (!response.ok) {
    throw new Error(answer.error);
  }
  return answer;
}

function say(text, isError = false) {
  find("status").textContent = text;
  find("status").classList.toggle("error", isError);
}

function enable() {
  for (const button of buttons) {
    const possible = button.id === "undo" ? state.undo : state.map !== null;
    button.disabled = !possible;
  }
}

async function show(now) {
  state = now;
  const finished = state.map === null;
  find("progress").max = state.total;
  find("progress").value = state.labelled;
  find("count").textContent = `${state.labelled} of ${state.total} labelled`;
  find("done").hidden = !finished;
  find("map").hidden = finished;
  if (finished) {
    find("done").textContent =
      `All ${state.total} maps of this pass are labelled and saved. ` +
      "You can close this page and stop the server.";
    return;
  }
  const map = find("map");
  map.src = await picture(state.map);
  await map.decode();
  map.alt = `Attention map ${state.labelled + 1} of ${state.total}`;
  map.dataset.name = state.map;
  for (const [name, url] of pictures) {
    if (name !== state.map && name !== state.next) {
      pictures.delete(name);
      url.then((old) => URL.revokeObjectURL(old)).catch(() => {});
    }
  }
  if (state.next) picture(state.next).catch(() => {});
}

async function act(path, content, done) {
  if (busy) return;
  busy = true;
  find("map").classList.add("old");
  try {
    const now = await send(path, content);
    await show(now);
    say(now.behind ? "Another window was ahead: nothing was changed." : done);
  } catch (error) {
    const lost = error instanceof TypeError; // fetch throws it if there is no answer
    say(lost ? "The server does not answer. Start it again and reload." : error.message, true);
  }
  find("map").classList.remove("old");
  busy = false;
  enable();
}

function press(button) {
  if (busy || button.disabled) return;
  if (button.id === "undo") {
    act("/undo", {}, "Taken back.");
  } else if (button.id === "skip") {
    act("/skip", { map: find("map").dataset.name }, "Skipped: it comes again at the end.");
  } else {
    const label = button.dataset.label;
    button.classList.add("given");
    setTimeout(() => button.classList.remove("given"), 250);
    act("/label", { map: find("map").dataset.name, label }, `Saved: ${label}.`);
  }
}

for (const button of buttons) button.addEventListener("click", () => press(button));

document.addEventListener("keydown", (event) => {
  // A held key gives one label, even on a focused button.
  if (event.repeat && event.target.closest("button")) event.preventDefault();
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  const button = buttons.find((one) => one.dataset.key === event.key.toLowerCase());
  if (button) {
    event.preventDefault();
    press(button);
  }
});

(async () => {
  try {
    await show(await (await fetch("/state")).json());
    say("");
  } catch (error) {
    say("The server does not answer. Start it again and reload.", true);
    return;
  }
  busy = false;
  enable();
})();
