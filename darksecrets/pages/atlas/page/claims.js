// The head of the page: what was run and found; and, after the heads, the claims of papers.

function drawHead() {
  const { run } = CONTENT;
  document.title = `Atlas of heads: ${run.name}`;
  return h("header", { id: "head" },
    h("button", { type: "button", class: "skip", onclick: () => find("#task").focus() }, "Skip to the heads"),
    h("div", { class: "title" },
      h("h1", {}, "Atlas of heads"),
      h("div", { class: "tools" },
        h("button", { type: "button", id: "copy", onclick: copyLink }, "Copy link"),
        h("button", { type: "button", id: "theme", onclick: () => update({ theme: isDark() ? "light" : "dark" }) }, "Light or dark"))),
    h("p", { class: "label" }, run.label),
    drawFindings(),
    h("ul", { class: "facts" },
      fact(`${LAYERS} × ${HEADS}`, "layers × heads"), fact(CONTENT.tasks.length, CONTENT.tasks.length === 1 ? "task" : "tasks"),
      fact(SEEDS.length, SEEDS.length === 1 ? "fine-tuning seed" : "fine-tuning seeds"),
      h("li", { class: run.comparable ? "yes" : "no" }, h("b", {}, run.comparable ? "✓ comparable" : "✗ not comparable"), run.comparable
        ? " with the paper: its model and data"
        : ` with the paper${run.needs.length ? `, which needs ${run.needs[0].needs}` : ""}`)),
    drawMade(run.made),
    run.leftOut ? h("p", { class: "quiet" }, `No heads were disabled. ${run.leftOut}`) : null,
    noteOnLearning(CONTENT.tasks.map(({ name }) => name)),
    drawScores());
}

// What the run found, in a few sentences; each names the figure that shows it.
function drawFindings() {
  if (!CONTENT.findings.length) return null;
  const where = ({ shownBy, file }) => (file ? [" (", h("a", { href: file }, shownBy), ")"] : shownBy ? [` (${shownBy})`] : []);
  return h("ul", { class: "findings" }, CONTENT.findings.map((found) => h("li", {}, found.sentence, ...where(found), ".")));
}

// What made the run: the first fact, its commit, at once; the others on request.
function drawMade(made) {
  if (!made.length) return null;
  const [[name, commit], ...others] = made;
  return h("details", { id: "made" },
    h("summary", {}, `${name} `, h("b", {}, commit), h("span", { class: "quiet" }, " · seeds, revisions, hardware, versions")),
    h("dl", {}, others.flatMap(([what, text]) => [h("dt", {}, what), h("dd", {}, text)])));
}

const fact = (value, what) => h("li", {}, h("b", {}, String(value)), ` ${what}`);

// Score of the fine-tuned model with its interval, the pre-trained one's, and the majority's.
function drawScores() {
  const rows = CONTENT.tasks.map(({ name, metric }) => {
    const of = (model) => CONTENT.scores.find((row) => row.task === name && row.model === model);
    return of("finetuned") ? { name, metric, tuned: of("finetuned"), frozen: of("frozen"), majority: of("majority") } : null;
  }).filter(Boolean);
  if (!rows.length) return null;
  const lows = rows.flatMap((row) => [row.tuned, row.frozen, row.majority].filter(Boolean).flatMap((each) => [each.score, each.ci_low])).filter(Number.isFinite);
  const least = Math.max(-100, Math.floor(Math.min(...lows, 50) / 10) * 10);
  const x = (score) => `${Math.max(0, Math.min(100, (100 * (score - least)) / (100 - least)))}%`;
  const said = rows.map(({ name, tuned }) => `${marked(name)} ${number(tuned.score)}`).join(" · ");
  return h("details", { class: "scores" }, h("summary", {}, h("b", {}, "Scores of the fine-tuned models "), said),
    h("ul", {}, rows.map(({ name, metric, tuned, frozen, majority }) => h("li", {
      title: [`${name}, ${metric}`, `fine-tuned: ${number(tuned.score)} [${number(tuned.ci_low)}, ${number(tuned.ci_high)}]`, frozen ? `classifier on the frozen encoder: ${number(frozen.score)}` : "", majority ? `majority class: ${number(majority.score)}` : ""].filter(Boolean).join("\n"),
    },
    h("span", {}, marked(name), " ", h("small", {}, metric)),
    h("span", { class: "track", "aria-hidden": "true" },
      h("span", { class: "interval", css: { left: x(tuned.ci_low), right: `calc(100% - ${x(tuned.ci_high)})` } }),
      frozen ? h("span", { class: "frozen", css: { left: x(frozen.score) } }) : null,
      majority ? h("span", { class: "tick", css: { left: x(majority.score) } }) : null,
      h("span", { class: "dot", css: { left: x(tuned.score) } })),
    h("span", { class: "number" }, number(tuned.score))))),
    h("p", { class: "quiet small key" }, `Axis: ${number(least)} to 100.`, h("span", {}, h("i", { class: "dot" }), "fine-tuned, 95% interval"), h("span", {}, h("i", { class: "frozen" }), "frozen encoder"), h("span", {}, h("i", { class: "tick" }), "majority class")));
}

// Words that claims must have to be listed; not in the address, as they change with every key.
let claimWords = "";

function drawClaims() {
  const claims = CONTENT.claims;
  if (!claims.length) return [];
  const of = (answer) => claims.filter(({ verdict }) => verdict === answer);
  const shown = ANSWERS[address.claims] ? of(address.claims) : claims;
  const choose = (value) => update({ claims: address.claims === value ? "" : value });
  const filter = (answer, sign) => (of(answer).length ? h("button", {
    type: "button", class: `answer ${answer.replaceAll(" ", "-")}`, "aria-pressed": String(address.claims === answer), id: `claims-${answer.replaceAll(" ", "-")}`, onclick: () => choose(answer),
  }, h("b", {}, `${sign} ${of(answer).length}`), ` ${answer}`) : null);
  const search = h("input", { type: "search", id: "claims-search", placeholder: "Search the claims", "aria-label": "Search the claims", value: claimWords, oninput: ({ target }) => { claimWords = target.value; hideOthers(); } });
  return [
    h("h2", {}, CONTENT.run.synthetic ? "What papers claim, decided on generated sentences" : "Do the papers’ claims hold in this run?"),
    h("p", { class: "quiet small" }, CONTENT.run.synthetic ? "Generated sentences check the installation: no answer here is about BERT." : `Verdicts on the paper: ${verdicts(claims)}.`),
    h("div", { class: "row" }, search, h("div", { class: "answers" }, Object.entries(ANSWERS).map(([answer, sign]) => filter(answer, sign)))),
    h("div", { id: "claims-list" }, [...grouped(shown)].map(([group, own]) => h("section", {}, h("h3", {}, group), h("ol", { class: "claims" }, own.map(drawClaim))))),
  ];
}

// Claims by paper and section, in their order.
function grouped(claims) {
  const groups = new Map();
  for (const claim of claims) {
    const name = `${claim.paper}, §${claim.section}`;
    groups.set(name, [...(groups.get(name) ?? []), claim]);
  }
  return groups;
}

// Hide the claims that lack a word of the search, and groups without any.
function hideOthers() {
  const words = claimWords.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of all("#claims-list li")) {
    const text = `${entry.closest("section").firstElementChild.textContent} ${entry.textContent}`.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
  }
  for (const group of all("#claims-list > section")) group.hidden = !find("li:not([hidden])", group);
}

function verdicts(claims) {
  const counts = new Map();
  for (const { verdict_on_paper: verdict } of claims) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  return [...counts].map(([verdict, count]) => `${verdict} ${count}`).join(", ");
}

function drawClaim(claim) {
  const value = claim.value === null ? null : `${tickText(claim.value)}${claim.ci_low !== null && claim.ci_low !== claim.ci_high ? ` [${tickText(claim.ci_low)}, ${tickText(claim.ci_high)}]` : ""} ${claim.unit ?? ""}${claim.of ? ` (${claim.of})` : ""}`;
  return h("li", { id: `claim-${claim.id}` },
    h("span", { class: `sign ${claim.verdict.replaceAll(" ", "-")}`, title: claim.verdict }, ANSWERS[claim.verdict] ?? "?"),
    h("div", {},
      h("p", {}, h("span", { class: "quiet" }, `${claim.id} `), h("b", {}, claim.claim), claim.note ? h("span", { class: "quiet" }, ` ${claim.note}`) : null),
      h("p", { class: "small" }, [`${claim.verdict[0].toUpperCase()}${claim.verdict.slice(1)}: ${claim.reason}.`, claim.verdict_on_learned_tasks === claim.verdict ? null : `On the tasks that were learned: ${claim.verdict_on_learned_tasks}.`, claim.verdict === "holds" && claim.verdict_on_random_weights === "holds" ? "Random weights, too: not about training." : null, claim.needs ? `To decide it: ${claim.needs}.` : null, value ? `Here: ${value}.` : null, claim.published ? `Paper: ${claim.published}.` : null, `Verdict on the paper: ${claim.verdict_on_paper}.`].filter(Boolean).join(" ")),
      h("p", { class: "small links" },
        claim.figures.map((path) => h("a", { href: path, target: "_blank", rel: "noopener" }, figureName(path))),
        claim.links.map((link) => h("button", { type: "button", class: "link", onclick: () => follow(link) }, `Heads: ${MEASURES.get(link.measure).name}${link.task ? ` on ${marked(link.task)}` : ""}`)))));
}

function figureName(path) {
  const name = path.split("/").pop().replace(/\.\w+$/, "").replaceAll("_", " ");
  return name.replace(/^(figure|table) ?(\d)/, (_, kind, digit) => `${kind[0].toUpperCase()}${kind.slice(1)} ${digit}`);
}

// Show the heads behind a claim: the significant ones.
function follow(link) {
  const changes = { measure: link.measure, view: "grid", brush: "", head: "" };
  if (link.task) changes.task = link.task;
  if (link.state && STATES.includes(link.state)) changes.state = link.state;
  const shown = resolve(link.measure, { ...address, ...changes });
  const significant = Array.from({ length: COUNT }, (_, i) => i).filter((i) => significance(shown, i));
  changes.brush = codes(significant);
  update(changes);
  find("#bar").scrollIntoView({ behavior: "smooth", block: "start" });
}
