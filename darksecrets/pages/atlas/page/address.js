// What is shown is in the page's address: a copied link shows the same.

const ANSWERS = { holds: "✓", "does not hold": "✗", undecided: "?" };
const SEEDS = CONTENT.seeds.map(String);
const FIRST = CONTENT.measures[0]?.key ?? "";
const plotted = CONTENT.measures.filter((measure) => measure.palette !== "category");
const preferred = (...tables) => tables
  .map((start) => plotted.find((measure) => measure.key.startsWith(start))?.key)
  .find(Boolean) ?? plotted[0]?.key ?? "";

const DEFAULTS = {
  task: CONTENT.tasks[0].name,
  state: "finetuned",
  seed: SEEDS.length > 1 ? "mean" : SEEDS[0],
  measure: FIRST,
  x: preferred("cosine.", "head_statistics.value.entropy"),
  y: preferred("head_ablation.delta", "head_statistics.value.[SEP]", "stripes."),
  view: "grid",
  head: "",
  pins: "",
  brush: "",
  example: "",
  maps: "map",
  claims: "",
  theme: "",
};
const CHOICES = {
  task: CONTENT.tasks.map((task) => task.name),
  state: STATES,
  seed: SEEDS.length > 1 ? [...SEEDS, "mean"] : SEEDS,
  measure: [...MEASURES.keys()],
  x: plotted.map((measure) => measure.key),
  y: plotted.map((measure) => measure.key),
  view: ["grid", "maps", "table"],
  maps: ["map", "arcs"],
  claims: ["", "all", ...Object.keys(ANSWERS)],
  theme: ["", "light", "dark"],
};
const MOST_PINS = 4;

const address = { ...DEFAULTS };
const listeners = [];

const list = (text) => (text ? text.split(",").map(headNumber).filter((i) => i !== null) : []);
const codes = (heads) => heads.map(headCode).join(",");
const pins = () => [...new Set(list(address.pins))].slice(0, MOST_PINS);
const brush = () => new Set(list(address.brush));
const opened = () => (address.head ? headNumber(address.head) : null);

function readAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const value = given.get(name) ?? usual;
    address[name] = CHOICES[name] && !CHOICES[name].includes(value) ? usual : value;
  }
  if (address.head && headNumber(address.head) === null) address.head = "";
}

function writeAddress() {
  const changed = Object.entries(address).filter(([name, value]) => value !== DEFAULTS[name]);
  const text = new URLSearchParams(changed).toString();
  // A page from disk has an opaque origin in some browsers, where only the hash can be set.
  try {
    history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
  } catch {
    location.hash = text;
  }
}

function update(changes) {
  const before = { ...address };
  Object.assign(address, changes);
  writeAddress();
  for (const listener of listeners) listener(before);
}

function toggleBrush(i) {
  const chosen = brush();
  if (!chosen.delete(i)) chosen.add(i);
  update({ brush: codes([...chosen].sort((a, b) => a - b)) });
}

function togglePin(i) {
  const now = pins();
  if (now.includes(i)) update({ pins: codes(now.filter((each) => each !== i)) });
  else if (now.length < MOST_PINS) update({ pins: codes([...now, i]), head: address.head === headCode(i) ? "" : address.head });
}
