// The page: its controls stay, its panels are drawn anew.

const VIEWS = [["grid", "Grid"], ["maps", "Mean maps"], ["table", "Table"]];

function drawBar() {
  const seeds = [...(SEEDS.length > 1 ? [["mean", "Mean of seeds"]] : []), ...SEEDS.map((seed) => [seed, `Seed ${seed}`])];
  return h("div", { id: "bar", role: "toolbar", "aria-label": "What is shown" },
    menu("task", "Task", CONTENT.tasks.map(({ name }) => [name, marked(name)]), address.task, (task) => update({ task, example: "" })),
    segmented("state", "State", STATES.map((state) => [state, STATE_NAMES[state]]), address.state, (state) => update({ state })),
    menu("seed", "Seed", seeds, address.seed, (seed) => update({ seed })),
    menu("measure", "Measure", [...usual(), ...CONTENT.measures].map(({ key, name, group }) => [key, name, group]), address.measure, (measure) => update({ measure })),
    drawMeasureSearch());
}

// What most readers look for first. Measures of a run may lack some of them.
const USUAL = [
  "pattern_heads.share", "cosine.similarity", "head_ablation.delta", "head_statistics.value.[SEP]", "head_statistics.value.[CLS]",
  "head_statistics.value.entropy", "stripes.weight.noun", "token_pairs.weight.pronoun to noun", "framenet_heads.weight.predicate_to_element", "equal_words.weight",
];

function usual() {
  const found = USUAL.map((key) => MEASURES.get(key)).filter(Boolean);
  return CONTENT.measures.length > 2 * found.length ? found.map((measure) => ({ ...measure, group: "Usual" })) : [];
}

// A field that names measures as one types; choosing one shows it.
function drawMeasureSearch() {
  const named = new Map(CONTENT.measures.map((measure) => [`${measure.name} · ${measure.group}`, measure.key]));
  const field = h("input", {
    type: "search", id: "measure-search", list: "measure-names", placeholder: "Search measures", autocomplete: "off",
    oninput: ({ target }) => {
      const key = named.get(target.value);
      if (!key) return;
      target.value = "";
      update({ measure: key });
    },
  });
  return h("label", { class: "menu" }, h("span", {}, "Find a measure"), field,
    h("datalist", { id: "measure-names" }, [...named.keys()].map((value) => h("option", { value }))));
}

// A field that takes a head as it is written anywhere: 3.8, 3-8, L3 H8.
function drawGoTo() {
  const go = (field) => {
    const written = field.value.match(/^\D*(\d+)\D+(\d+)\D*$/);
    const i = written && headNumber(`${written[1]}.${written[2]}`);
    field.setCustomValidity(i === null ? `Layer 1 to ${LAYERS} and head 1 to ${HEADS}, such as 1.${HEADS}` : "");
    if (!field.reportValidity()) return;
    field.value = "";
    update({ head: headCode(i) });
    showCard();
  };
  const field = h("input", {
    type: "search", id: "go-to", placeholder: `such as 1.${HEADS}`, autocomplete: "off",
    oninput: () => field.setCustomValidity(""),
    onkeydown: (event) => { if (event.key === "Enter") go(field); },
  });
  return h("label", { class: "menu" }, h("span", {}, "Go to head"), field);
}

// The card of the chosen head, where it is not on the screen.
function showCard() {
  find("#dock .card, #cards .card")?.scrollIntoView({ block: "nearest" });
}

function drawPage() {
  const axis = (name, text) => menu(name, text, plotted.map((measure) => [measure.key, measure.name, measure.group]), address[name], (value) => update({ [name]: value }));
  const save = (id, text, act) => h("button", { type: "button", id, onclick: act }, text);
  const shown = () => resolve(address.measure, address);
  find("#page").replaceChildren(
    drawHead(),
    drawBar(),
    h("main", {},
      h("section", { id: "left", "aria-label": "Heads" },
        h("div", { class: "row" }, segmented("view", "Show heads as", VIEWS, address.view, (view) => update({ view })), drawGoTo(),
          h("div", { class: "tools" }, save("csv", "CSV", () => shown() && download(fileName(shown(), "csv"), "text/csv", csvOf(shown()))),
            save("svg", "SVG", () => find("#grid") && download(fileName(shown(), "svg"), "image/svg+xml", svgText(find("#grid")))))),
        h("h2", { id: "title" }), h("p", { id: "note", class: "quiet small" }), h("div", { id: "stage" }, h("div", { id: "heads" }), h("div", { id: "under" }))),
      h("div", { id: "side" },
        h("section", { id: "dock", "aria-label": "The chosen head" }),
        h("section", { id: "right", "aria-label": "Two measures" },
          h("div", { class: "row" }, axis("y", "Up"), axis("x", "Across"),
            h("div", { class: "tools" }, save("svg-scatter", "SVG", () => download(`${CONTENT.run.name}-scatter.svg`, "image/svg+xml", svgText(find("#scatter")))))),
          h("div", { id: "plot" }), h("div", { id: "brushed" })))),
    h("section", { id: "cards", "aria-label": "Pinned heads" }),
    h("section", { id: "claims", "aria-label": "Claims" }),
    drawHelp());
}

function drawHelp() {
  const keys = [["Arrows", "go from head to head"], ["Enter", "open the head"], ["P", "pin it, or unpin it"], ["Space", "brush it, or not"], ["Shift + arrows", "brush along"], ["Escape", "end the brush"]];
  return h("footer", {}, h("details", {}, h("summary", {}, "Keys, and how to read this page"),
    h("dl", {}, keys.flatMap(([key, what]) => [h("dt", {}, key), h("dd", {}, what)])),
    h("p", {}, "Drag over the grid or the scatter to brush heads; the others fade in both. Click outside of the points to end it. "
      + "On a light ground darker is greater, except for the cosine, where darker is a greater change; on a dark ground brighter is. "
      + `Significant is a corrected p-value below ${CONTENT.level}: for the mean over seeds, of its own test where the run has one, or else the largest of the seeds. `
      + "Of several seeds, values and controls are means; intervals are shown where a table has them.")));
}

function render() {
  const held = focused();
  const shown = resolve(address.measure, address);
  const room = Math.floor(find("#stage").getBoundingClientRect().width) || 320;
  find("#title").textContent = shown ? nameOf(shown.measure, address.task) : "Not measured";
  find("#note").replaceChildren(shown ? noteOf(shown) : "This run has no such numbers for this task.");
  find("#svg").disabled = address.view !== "grid" || !shown;
  find("#csv").disabled = !shown;
  const scale = shown ? scaleOf(shown) : null;
  const views = { grid: () => drawGrid(shown, scale, room), maps: () => drawThumbnails(shown, room), table: () => drawTable(shown) };
  find("#heads").replaceChildren(...(shown ? [views[address.view]()] : []));
  find("#under").replaceChildren(...(shown ? [legend(shown), drawHistogram(shown, scale, widthBeside(room))].filter(Boolean) : []));
  find("#plot").replaceChildren(drawScatter(shown, scale, Math.floor(find("#plot").getBoundingClientRect().width) || 320));
  find("#brushed").replaceChildren(...drawBrushed());
  restore(held);
}

// Beside a small grid there is room for the distribution; else it is below.
function widthBeside(room) {
  const left = room - find("#heads").firstElementChild.getBoundingClientRect().width - 24;
  return address.view !== "table" && left >= 230 ? Math.floor(left) : Math.min(room, 620);
}

function noteOf(shown) {
  const seeds = shown.seeds.filter((seed) => seed !== null);
  const said = shown.state === "difference" ? "" : shown.measure.compares ? "" : STATE_NAMES[shown.state];
  const over = seeds.includes("mean") || seeds.length > 1 ? "mean over seeds" : seeds.length ? `seed ${seeds[0]}` : "";
  const task = shown.measure.tasks.includes("") ? "" : marked(shown.task);
  return [task, said, shown.state === "pretrained" && !shown.measure.kind ? "" : over, shown.note].filter(Boolean).join(" · ");
}

function drawBrushed() {
  const chosen = [...brush()];
  if (!chosen.length) return [h("p", { class: "quiet small" }, "Points have the colours of the grid; shapes mark significance of the upward measure.")];
  return [h("p", { class: "small" }, `${chosen.length} ${chosen.length === 1 ? "head" : "heads"} brushed: ${chosen.slice(0, 12).map(headName).join(", ")}${chosen.length > 12 ? " …" : ""} `,
    h("button", { type: "button", class: "link", id: "unbrush", onclick: () => update({ brush: "" }) }, "End"))];
}

function renderCards() {
  const held = focused();
  const chosen = opened();
  find("#dock").replaceChildren(...(chosen === null || pins().includes(chosen) ? [] : [drawCard(chosen)]));
  const pinned = pins();
  const cards = find("#cards");
  cards.style.setProperty("--cards", Math.max(1, pinned.length));
  cards.replaceChildren(...(pinned.length ? pinned.map(drawCard) : [h("p", { class: "quiet empty" }, "Choose a head above to see its card; pin up to four, to compare them here.")]));
  restore(held);
}

// What has the focus, to give it back after drawing.
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const holder = element.closest("#grid, #scatter, #thumbnails, #table");
  if (holder && element.closest("[data-head]")) return `#${holder.id} [data-head="${element.closest("[data-head]").dataset.head}"]`;
  if (element.id) return `#${CSS.escape(element.id)}`;
  const fields = element.closest("fieldset");
  if (fields) return `#${fields.id} input:checked`;
  const card = element.closest(".card");
  return card && element.className ? `#${card.id} .${element.className.split(" ")[0]}` : null;
}

function restore(selector) {
  const element = selector ? find(selector) : null;
  if (!element || element === document.activeElement) return;
  if (element.tabIndex < 0 && element.dataset.head) moveTo(Number(element.dataset.head), `#${element.closest("[id]").id}`);
  const target = element.matches("tr") ? find("button", element) : element;
  target.focus({ preventScroll: true });
}

function sync() {
  for (const name of ["task", "seed", "measure", "x", "y"]) if (find(`#${name}`)) find(`#${name}`).value = address[name];
  for (const name of ["state", "view"]) for (const input of all(`#${name} input`)) input.checked = input.value === address[name];
  document.documentElement.dataset.theme = address.theme || "auto";
  find("#claims").replaceChildren(...drawClaims().filter(Boolean));
  hideOthers();
}

function changed(before, ...names) {
  return names.some((name) => before[name] !== address[name]);
}

async function start() {
  readAddress();
  await readNumbers();
  drawPage();
  const everything = () => { sync(); render(); renderCards(); };
  listeners.push((before) => {
    const held = focused();
    sync();
    restore(held);
    if (changed(before, ...Object.keys(DEFAULTS).filter((name) => !["example", "maps", "claims"].includes(name)))) render();
    if (changed(before, "task", "state", "seed", "head", "pins", "example", "maps", "theme", "measure")) renderCards();
  });
  addEventListener("hashchange", () => {
    readAddress();
    everything();
    if (address.head) showCard();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", everything);
  let width = innerWidth;
  addEventListener("resize", () => { if (width !== innerWidth) { width = innerWidth; render(); } });
  everything();
  if (address.head) showCard();
  find("#page").removeAttribute("aria-busy");
}

start().catch((error) => {
  find("#page").replaceChildren(h("p", { role: "alert" }, `This page cannot be shown: ${error.message}. It needs a browser of 2023 or later.`));
  throw error;
});
