// What is known of one head, in the chosen task, state and seed.

function sentenceOf(i) {
  const state = address.state === "pretrained" ? "pretrained" : "finetuned";
  const name = state === "pretrained" ? state : `finetuned/${address.seed}`;
  const own = SENTENCES.of[address.task] ?? {};
  const other = Object.keys(own).find((each) => each.startsWith(state));
  const found = (own[name] ?? own[other])?.[i];
  return found === undefined || address.state === "random" ? "" : SENTENCES.texts[found];
}

function drawCard(i) {
  const pinned = pins().includes(i);
  const full = !pinned && pins().length >= MOST_PINS;
  const close = () => (pinned ? togglePin(i) : update({ head: "" }));
  return h("article", { class: "card", id: `card-${headCode(i).replace(".", "-")}`, "aria-label": headTitle(i), tabindex: -1 },
    h("header", {},
      h("h3", {}, headTitle(i)),
      h("button", { type: "button", class: "pin", "aria-pressed": String(pinned), disabled: full, title: full ? "Four heads are pinned" : null, onclick: () => togglePin(i) }, pinned ? "Unpin" : "Pin"),
      pinned ? null : h("button", { type: "button", class: "close", "aria-label": `Close ${headTitle(i)}`, onclick: close }, "✕")),
    h("p", { class: "sentence" }, sentenceOf(i) || "Nothing is said of heads of an untrained encoder."),
    noteOnLearning([address.task]),
    h("div", { class: "parts" },
      section("Among all heads", percentiles(i), "ranks"),
      h("div", { class: "stack" }, section("Patterns of its maps", mixes(i)), section("Effect of disabling, by task", effects(i))),
      section(`Layer ${Math.floor(i / HEADS) + 1}`, numbersOfLayer(Math.floor(i / HEADS) + 1)),
      section(`Mean map and distances on ${marked(address.task)}`, meanMaps(i), "means"),
      section("Examples", exampleOf(i), "wide")));
}

const section = (title, content, extra = "") => (content ? h("section", { class: extra }, h("h4", {}, title), content) : null);

// Bars from 0 to 100%: the share of heads with a smaller value; a tick for the control's.
function percentiles(i) {
  const rows = CONTENT.measures.filter((measure) => measure.onCard && measure.palette !== "category" && !(measure.kind && measure.table === "head_ablation.csv")).map((measure) => {
    const shown = resolve(measure.key, address);
    return shown && Number.isFinite(shown.values[i]) ? [measure, shown] : null;
  }).filter(Boolean);
  if (!rows.length) return null;
  return h("div", {}, h("ul", { class: "percentiles" }, rows.map(([measure, shown]) => percentileRow(measure, shown, i))),
    h("p", { class: "quiet small" }, "Bar: share of heads with a smaller value. Tick: the same of the control’s value."));
}

function percentileRow(measure, shown, i) {
  const share = percentile(shown.values, shown.values[i]);
  const control = shown.controls.find(({ values }) => Number.isFinite(values[i]));
  const expected = control ? percentile(shown.values, control.values[i]) : NaN;
  const shape = shapeOf(shown, i);
  const words = spoken(shown, i);
  return h("li", { title: [titleOf(shown), ...words].join("\n"), class: address.measure === measure.key ? "chosen" : "" },
    h("button", { type: "button", class: "link", onclick: () => update({ measure: measure.key }) }, titleOf(shown)),
    h("span", { class: "track", role: "img", "aria-label": `above ${percent(share)} of heads; ${words.join("; ")}` },
      h("span", { class: "share", css: { width: percent(share) } }),
      Number.isFinite(expected) ? h("span", { class: "tick", css: { left: percent(expected) } }) : null),
    h("span", { class: "number" }, number(shown.values[i], 2), shape ? s("svg", { viewBox: "-6 -6 12 12", class: "badge", "aria-hidden": "true" }, mark(shape, 0, 0, 4)) : null));
}

function mixes(i) {
  const measure = CONTENT.measures.find(({ palette }) => palette === "category");
  if (!measure) return null;
  const rows = ["pretrained", "finetuned", "random"].map((state) => {
    const seed = state === "random" ? SEEDS[0] : address.seed;
    const parts = measure.parts.map((key) => inState(MEASURES.get(key), address.task, state, seed));
    return parts.every((part) => part && Number.isFinite(part.values[i])) ? [state, parts.map((part) => part.values[i])] : null;
  }).filter(Boolean);
  return h("div", { class: "mixes" }, rows.map(([state, shares]) => [
    h("span", {}, STATE_NAMES[state]),
    h("span", { class: "mix", role: "img", "aria-label": measure.labels.map((text, k) => `${text} ${percent(shares[k])}`).join(", ") },
      shares.map((share, k) => (share > 0.005 ? h("span", {
        title: `${measure.labels[k]}: ${percent(share)}`, css: { "flex-grow": share, background: measure.colours[k], color: ink(measure.colours[k]) },
      }, share > 0.09 ? measure.letters[k] : "") : null))),
  ]), h("p", { class: "quiet small key" }, measure.labels.map((text, k) => h("span", {}, h("b", { css: { background: measure.colours[k], color: ink(measure.colours[k]) } }, measure.letters[k]), text))));
}

// What is known of a whole layer, of the task's models or of the encoder alone.
function numbersOfLayer(layer) {
  const state = address.state === "difference" ? "finetuned" : address.state;
  const own = CONTENT.ofLayers.filter((row) => row.layer === layer && (row.task === "" || row.task === address.task));
  const names = [...new Set(own.map(({ name }) => name))];
  const states = [state, "pretrained", "finetuned"]; // the first that has the number
  const rows = names.map((name) => states.map((each) => own.find((row) => row.name === name && row.state === each)).find(Boolean)).filter(Boolean);
  if (!rows.length) return null;
  const interval = (row) => ("low" in row ? ` [${number(row.low)}, ${number(row.high)}]` : "");
  return h("dl", { class: "layer" }, rows.map((row) => [
    h("dt", { title: [row.meaning, row.unit].filter(Boolean).join(", ") }, row.name, row.state === state ? "" : ` (${STATE_NAMES[row.state].toLowerCase()})`),
    h("dd", {}, `${number(row.value)}${interval(row)}`, row.control ? h("span", { class: "quiet" }, ` ${row.control.name} ${number(row.control.value)}`) : null)]));
}

// A dot and its interval for every task; shapes as in the grid.
function effects(i) {
  const measure = CONTENT.measures.find((each) => each.palette === "effect" && each.twoSided && Object.keys(each.kinds).length);
  if (!measure) return null;
  const rows = measure.tasks.map((task) => {
    const shown = resolve(measure.key, { ...address, task, state: address.state === "difference" ? "finetuned" : address.state });
    return shown && Number.isFinite(shown.values[i]) ? { task, shown } : null;
  }).filter(Boolean);
  if (!rows.length) return null;
  const [width, line, left] = [300, 20, 128];
  const end = (shown, name) => (shown[name] && Number.isFinite(shown[name][i]) ? shown[name][i] : shown.values[i]);
  const low = Math.min(0, ...rows.map(({ shown }) => end(shown, "low")));
  const high = Math.max(0, ...rows.map(({ shown }) => end(shown, "high")));
  const room = (high - low || 1) * 0.05;
  const x = (value) => left + ((value - low + room) / (high - low + 2 * room)) * (width - left - 8);
  const bottom = rows.length * line + 4;
  return h("div", {}, s("svg", { viewBox: `0 0 ${width} ${bottom + 30}`, class: "effects", role: "img", "aria-label": rows.map(({ task, shown }) => `${marked(task)}: ${spoken(shown, i).join("; ")}`).join(". ") },
    s("g", { class: "axis" }, ticks(low - room, high + room, 4).map((value) => [
      s("path", { d: `M${x(value)} 2V${bottom}`, class: value === 0 ? "zero" : "guide" }), s("text", { x: x(value), y: bottom + 12, "text-anchor": "middle" }, tickText(value))]),
    s("text", { x: (left + width) / 2, y: bottom + 26, "text-anchor": "middle", class: "title" }, "points, 95% interval")),
    rows.map(({ task, shown }, k) => {
      const y = (k + 0.5) * line + 2;
      const shape = shapeOf(shown, i);
      const name = `${marked(task)} ${kindOf(measure, task)}`;
      return [
        s("text", { x: left - 8, y, dy: "0.35em", "text-anchor": "end", class: task === address.task ? "active" : "" }, name.length > 22 ? `${name.slice(0, 21)}…` : name),
        s("path", { d: `M${x(end(shown, "low"))} ${y}H${x(end(shown, "high"))}`, class: "whisker" }),
        mark(shape || "circle", x(shown.values[i]), y, shape ? 5 : 3.5, { class: shape ? "ink" : "hollow" }),
      ];
    })),
  h("p", { class: "quiet small" }, `${rows[0].shown.instead ? `Of the ${STATE_NAMES[rows[0].shown.state].toLowerCase()} models. ` : ""}▲ ▼ significant (corrected p < 0.05); ○ not.`),
  noteOnLearning(rows.map(({ task }) => task).filter((task) => task !== address.task)));
}

function meanMaps(i) {
  const own = ofTask(address.task);
  if (!own) return null;
  const box = h("div", { class: "maps" });
  (async () => {
    const get = (state, kind) => meansOf(address.task, state, address.seed, kind);
    const maps = await Promise.all(["pretrained", "finetuned", "difference"].map((state) => get(state, "means")));
    const [before, after] = await Promise.all(["pretrained", "finetuned"].map((state) => get(state, "profiles")));
    const titles = ["before fine-tuning", "after", "difference"];
    box.append(...maps.map((means, k) => (means ? frameMap(means.of(i), own.frame, means.difference, titles[k]) : null)).filter(Boolean),
      profileFigure(before?.of(i), after?.of(i), own.uniform[Math.floor(i / HEADS)]));
    box.dataset.painted = "yes";
  })();
  return h("div", {}, box, h("p", { class: "quiet small" },
    `Means over ${own.counts.placed} of ${own.counts.examples} examples, each sentence stretched to ${CONTENT.bins} parts; rows attend to columns. Colour is proportional to √weight.`));
}

function exampleOf(i) {
  const own = ofTask(address.task);
  if (!own || !own.examples.length) return null;
  const chosen = Math.max(0, own.examples.findIndex((example) => String(example.idx) === address.example));
  const example = own.examples[chosen];
  const options = own.examples.map((each) => [String(each.idx), `${each.idx}: ${each.rule}${each.flips.includes(i) ? " · flips without this head" : ""}`]);
  const box = h("div", { class: "example" });
  const flips = example.flips.includes(i);
  const seed = Object.keys(example.maps)[1]?.split("/seed-")[1];
  const picker = menu(`example-${headCode(i).replace(".", "-")}`, "Example", options, String(example.idx), (value) => update({ example: value }));
  const facts = h("p", { class: "facts" }, h("span", {}, "label: ", h("b", {}, example.label)), h("span", {}, `prediction${seed ? ` (seed ${seed})` : ""}: `, h("b", {}, example.prediction)),
    flips ? h("span", { class: "flips" }, "◆ changes when this head is disabled") : null);
  drawExample(box, example, chosen, i);
  return h("div", {}, h("div", { class: "row" }, picker,
    segmented(`maps-${headCode(i).replace(".", "-")}`, "Drawn as", [["map", "Map"], ["arcs", "Arcs"]], address.maps, (value) => update({ maps: value }))), facts, box,
  h("p", { class: "quiet small" }, "Weights of examples are rounded, by up to 7 points; differences within rounding are left blank."),
  own["left out"] ? h("p", { class: "quiet small" }, `${own["left out"]} more examples do not fit in this page.`) : null);
}

// Weights have 16 levels, so a difference of one level may be all rounding: it is left blank.
function beyondRounding(after, before) {
  const level = (weight) => Math.round(Math.sqrt(weight) * 15);
  return after.map((value, k) => (Math.abs(level(value) - level(before[k])) > 1 ? value - before[k] : 0));
}

async function drawExample(box, example, chosen, i) {
  const n = example.tokens.length;
  const maps = (await exampleMaps(address.task, chosen)).map(([model, weights]) => [model, weights.subarray(i * n * n, (i + 1) * n * n)]);
  const titles = maps.map(([model]) => (model === "pretrained" ? "before fine-tuning" : `after (${model.split("/")[1].replace("-", " ")})`));
  const panels = maps.map(([, weights], k) => ({ weights, difference: false, title: titles[k] }));
  if (maps.length > 1) panels.push({ weights: beyondRounding(maps[1][1], maps[0][1]), difference: true, title: "difference" });
  const draw = address.maps === "arcs" ? arcs : tokenMap;
  const drawn = panels.map(({ weights, difference, title }) => draw(weights, example.tokens, difference, title));
  const current = maps[address.state === "pretrained" ? 0 : maps.length - 1][1];
  const strip = tokenStrip(example.tokens, current, panels, (row) => drawn.forEach((each) => each.draw(row)));
  drawn.forEach((each) => {
    if (address.maps === "arcs") {
      each.canvas.addEventListener("pointerover", (event) => strip.activate(event.target.dataset.token === undefined ? null : Number(event.target.dataset.token)));
      each.canvas.addEventListener("pointerleave", () => strip.activate(null));
    } else {
      hoverCells(each.canvas, n, each.place, (query, key) => [`${example.tokens[query]} → ${example.tokens[key]}`, ...panels.map((panel) => `${panel.title}: ${number(panel.weights[query * n + key], 2)}`)], strip.activate);
    }
  });
  box.append(strip.element, h("div", { class: "maps tokens" }, drawn.map(({ figure }) => figure)));
  box.dataset.painted = "yes";
}

// The tokens as text. Of the one with the focus or under the pointer, what it attends to is coloured.
function tokenStrip(tokens, weights, panels, show) {
  const n = tokens.length;
  let active = null;
  const said = h("p", { class: "said small quiet", "aria-live": "polite" }, "Point at a token, or move with the arrow keys, to see what it attends to.");
  const words = tokens.map((token, k) => h("bdi", { class: "token", "data-token": k }, token));
  const element = h("div", { class: "strip" }, h("p", { class: "sentence-tokens", tabindex: 0, role: "group", "aria-label": `Tokens: ${tokens.join(" ")}` }, words), said);
  const activate = (row) => {
    if (row === active) return;
    active = row;
    words.forEach((word, k) => {
      const colour = row === null ? "" : css(rgbOf(weights[row * n + k], false));
      word.style.background = colour;
      word.style.color = colour ? ink(colour) : "";
      word.classList.toggle("active", k === row);
    });
    if (row !== null) {
      const most = Array.from({ length: n }, (_, k) => k).sort((a, b) => weights[row * n + b] - weights[row * n + a]).slice(0, 3);
      said.replaceChildren(h("bdi", {}, tokens[row]), " attends to ", ...most.flatMap((k, rank) => [rank ? ", " : "", h("bdi", {}, tokens[k]), ` (${panels.slice(0, 2).map((panel) => percent(panel.weights[row * n + k])).join(" → ")})`]));
    }
    show(row);
  };
  const strip = find(".sentence-tokens", element);
  strip.addEventListener("pointerover", (event) => activate(event.target.dataset.token === undefined ? null : Number(event.target.dataset.token)));
  strip.addEventListener("pointerleave", () => activate(null));
  strip.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    activate(active === null ? (step > 0 ? 0 : n - 1) : (active + step + n) % n);
  });
  strip.addEventListener("blur", () => activate(null));
  return { element, activate };
}
