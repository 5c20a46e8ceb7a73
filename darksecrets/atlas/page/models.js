// Numbers of whole models: cards of the chosen task, with small tables and maps of colours.

// The small tables of a task, each for the chosen seed, or else for the first one.
function modelTables(task) {
  const found = new Map();
  for (const small of CONTENT.models.filter((each) => each.task === task)) {
    const key = `${small.group} ${small.name}`;
    if (!found.has(key) || small.seed === address.seed) found.set(key, small);
  }
  return [...found.values()];
}

function drawModels() {
  if (!CONTENT.models.length) return [];
  const own = modelTables(address.task);
  const others = [...new Set(CONTENT.models.map(({ task }) => task))];
  const kinds = [...new Set(CONTENT.models.map(({ group }) => group.replace(/ \(.*/, "")))];
  const groups = [...new Set(own.map(({ group }) => group))];
  return [
    h("h2", {}, "The models of ", marked(address.task)),
    noteOnLearning([address.task]),
    own.length ? null : h("p", { class: "quiet small" }, `${kinds.join(", ")}: measured on `,
      others.map((task, k) => [k ? ", " : "", h("button", { type: "button", class: "link", id: `models-${k}`, onclick: () => update({ task, example: "" }) }, task)]), " only."),
    h("div", { class: "models" }, groups.map((group) => drawGroup(group, own.filter((small) => small.group === group)))),
  ];
}

function drawGroup(group, own) {
  const figures = [...new Set(own.flatMap((small) => small.figures))];
  const maps = own.filter((small) => small.marks.length);
  return h("article", { class: "model", "aria-label": group },
    h("header", {}, h("h3", {}, group),
      h("span", { class: "small links" }, figures.map((path) => h("a", { href: path, target: "_blank", rel: "noopener" }, `Figure: ${figureName(path)}`)))),
    maps.length ? h("div", { class: "maps surfaces" }, maps.map(surfaceMap)) : null,
    maps.length ? h("p", { class: "quiet small" }, `${maps[0].marks.map(({ name }) => name).join(", ")}. ${maps[0].meaning} ${isDark() ? "Brighter" : "Darker"} is a greater loss.`) : null,
    own.filter((small) => !small.marks.length).map(smallTable));
}

const smallTitle = (small) => [small.name, ...small.about, small.seed === "mean" ? "mean over seeds" : small.seed ? `seed ${small.seed}` : ""].filter(Boolean).join(" · ");

function smallTable(small) {
  const cellOf = ([value, low, high]) => h("td", {}, number(value), low === undefined ? null : h("small", {}, `[${number(low)}, ${number(high)}]`));
  return h("section", {}, h("h4", {}, smallTitle(small)),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": smallTitle(small) }, h("table", {},
      h("thead", {}, h("tr", {}, small.labels.map((name) => h("th", { scope: "col" }, name)), small.columns.map(({ name, meaning }) => h("th", { scope: "col", title: meaning }, name)))),
      h("tbody", {}, small.rows.map((row, k) => h("tr", {},
        row.map((text, part) => h(part ? "td" : "th", { scope: part ? null : "row" }, text)), small.cells[k].map(cellOf)))))),
    h("p", { class: "quiet small" }, `${small.meaning}${small.cells.flat().some((cell) => cell.length > 1) ? " In brackets: 95% intervals." : ""}`));
}

// Losses as colours, on a logarithmic scale up to the 90th percentile, as in the figure.
function surfaceMap(small) {
  const n = small.columns.length;
  const size = 220;
  const cells = small.cells.toReversed().flat(); // up is more
  const known = cells.map(([loss]) => Math.log(Math.max(loss ?? NaN, 1e-9))).filter(Number.isFinite).sort((a, b) => a - b);
  const [low, high] = [known[0], known[Math.floor(0.9 * (known.length - 1))]];
  const share = (loss) => Math.max(0, Math.min(1, (Math.log(Math.max(loss, 1e-9)) - low) / (high - low || 1)));
  const canvas = h("canvas", { width: 2 * size, height: 2 * size, role: "img", "aria-label": `${smallTitle(small)}: ${n} × ${n} points, from ${number(Math.exp(low))} to ${number(Math.exp(known.at(-1)))}` });
  paint(canvas, cells.map(([loss]) => share(loss) ** 2), n, false);
  const context = canvas.getContext("2d");
  context.font = `${Math.min(32, (1.4 * size) / n)}px system-ui, sans-serif`;
  Object.assign(context, { textAlign: "center", textBaseline: "middle" });
  for (const { name, row, column } of small.marks) {
    context.fillStyle = ink(css(rgbOf(share(small.cells[row][column][0]) ** 2, false)));
    context.fillText(name[0], ((column + 0.5) * 2 * size) / n, ((n - row - 0.5) * 2 * size) / n);
  }
  hoverCells(canvas, n, (box) => ({ x: 0, size: box.width }), (down, across) => {
    const row = n - 1 - down;
    const [loss, from, to] = small.cells[row][across];
    const mark = small.marks.find((each) => each.row === row && each.column === across);
    return [`loss ${number(loss)} [${number(from)}, ${number(to)}]`, mark?.name, `across ${small.columns[across].name}, up ${small.rows[row][0]}`];
  });
  return h("figure", {}, canvas, h("figcaption", {}, smallTitle(small), h("br"), `${number(Math.exp(low))} to ${number(Math.exp(known.at(-1)))}`));
}
