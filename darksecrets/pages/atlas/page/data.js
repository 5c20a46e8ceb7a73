// The numbers of the run: every measure of every head, by task, state and seed.

const CONTENT = JSON.parse(find("#content").textContent);
const LAYERS = CONTENT.layers;
const HEADS = CONTENT.heads;
const COUNT = LAYERS * HEADS;
const MEASURES = new Map(CONTENT.measures.map((measure) => [measure.key, measure]));
const STATE_NAMES = {
  pretrained: "Pre-trained",
  finetuned: "Fine-tuned",
  difference: "Difference",
  "finetuned-from-normal": "Randomly initialized, fine-tuned",
  random: "Untrained",
};
const STATES = Object.keys(STATE_NAMES).filter(
  (state) => CONTENT.measures.some((measure) => measure.models.some(([name]) => name === state)) || state === "difference",
);
// Tasks that fine-tuned models have not learned, with their scores; marked wherever they are named.
const UNLEARNED = new Map(CONTENT.tasks.filter(({ unlearned }) => unlearned).map(({ name, unlearned }) => [name, unlearned]));
const marked = (task) => (UNLEARNED.has(task) ? `${task}${CONTENT.learning.mark}` : task);

// What a mark at the names of tasks means; nothing if none of these tasks has it.
function noteOnLearning(tasks) {
  const found = tasks.filter((task) => UNLEARNED.has(task)).map((task) => `${task} (${UNLEARNED.get(task)})`);
  const { mark, why } = CONTENT.learning;
  return found.length ? h("p", { class: "unlearned", role: "note" }, `${mark} Not learned by the fine-tuned models: ${found.join("; ")}, ${why}. What their heads do says nothing of the task.`) : null;
}

let NUMBERS = null;
let SENTENCES = null;

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function readNumbers() {
  const planes = await inflate(find("#numbers").textContent);
  const count = planes.length / 3;
  const bits = new Uint32Array(count);
  for (let i = 0; i < count; i += 1) {
    bits[i] = ((planes[i] << 24) | (planes[count + i] << 16) | (planes[2 * count + i] << 8)) >>> 0;
  }
  NUMBERS = new Float32Array(bits.buffer);
  SENTENCES = JSON.parse(new TextDecoder().decode(await inflate(CONTENT.sentences)));
}

// A column of a model; null if the measure has none, or no value in it.
function column(measure, task, model, at) {
  if (at === undefined) return null;
  const t = measure.tasks.indexOf(measure.tasks.includes("") ? "" : task);
  if (t < 0 || model < 0) return null;
  const row = measure.start + (t * measure.models.length + model) * measure.columns.length + at;
  const values = NUMBERS.subarray(row * COUNT, (row + 1) * COUNT);
  return values.some((value) => !Number.isNaN(value)) ? values : null;
}

function mean(arrays, pick) {
  const known = arrays.filter(Boolean);
  if (!known.length) return null;
  if (known.length === 1) return known[0];
  return Float32Array.from({ length: COUNT }, (_, i) => {
    const values = known.map((array) => array[i]);
    return pick === "max" ? Math.max(...values) : values.reduce((a, b) => a + b) / values.length;
  });
}

const minus = (a, b) => (a && b ? a.map((value, i) => value - b[i]) : null);

// The models of a state that a seed, or the mean over seeds, stands for.
function modelsOf(measure, task, state, seed) {
  const own = measure.models.map(([name, number], i) => ({ name, number, i })).filter(({ name }) => name === state);
  const filled = own.filter(({ i }) => column(measure, task, i, measure.roles.value));
  const exact = filled.find(({ number }) => String(number) === seed);
  if (exact) return [exact.i];
  const plain = filled.filter(({ number }) => number !== "mean");
  return (seed === "mean" ? plain : plain.slice(0, 1)).map(({ i }) => i);
}

// A measure in one state: value, interval, controls, test; means over seeds have no interval
// unless a table gives one, and the largest p-value of the seeds.
function inState(measure, task, state, seed) {
  const models = modelsOf(measure, task, state, seed);
  if (!models.length) return null;
  const { roles } = measure;
  const get = (at, pick) => mean(models.map((model) => column(measure, task, model, at)), pick);
  const alone = (at) => (models.length === 1 ? column(measure, task, models[0], at) : null);
  return {
    measure, task, state, seeds: models.map((model) => measure.models[model][1]),
    values: get(roles.value),
    low: alone(roles.low), high: alone(roles.high),
    test: get(roles.test, "max"),
    over: get(roles.over), overlow: alone(roles.overlow), overhigh: alone(roles.overhigh),
    chosen: get(roles.chosen),
    ...Object.fromEntries(["controls", "beside"].map((role) => [role, roles[role]
      .map((each) => ({ ...each, values: get(each.column) }))
      .filter((each) => each.values)])),
  };
}

// What is shown of a measure for the choice of task, state and seed; null if the run has nothing.
function resolve(key, { task, state, seed }) {
  const measure = MEASURES.get(key);
  if (!measure) return null;
  if (measure.palette === "category") return resolveCategory(measure, { task, state, seed });
  const wanted = measure.compares ? "finetuned" : state;
  if (wanted === "difference") {
    const [after, before] = ["finetuned", "pretrained"].map((each) => inState(measure, task, each, seed));
    if (after && before) {
      return {
        ...after, state, values: minus(after.values, before.values), difference: true, after, before,
        low: null, high: null, test: null, over: null, overlow: null, overhigh: null, chosen: null, controls: [], beside: [],
        note: "fine-tuned − pre-trained; differences of single heads are not tested",
      };
    }
  }
  const found = inState(measure, task, wanted, seed);
  if (found) {
    return { ...found, note: measure.compares ? "compares the pre-trained with the fine-tuned model" : "" };
  }
  for (const other of STATES) {
    const instead = other === "difference" ? null : inState(measure, task, other, seed);
    if (instead) return { ...instead, instead: true, note: `not measured in this state; shown: ${STATE_NAMES[other].toLowerCase()}` };
  }
  return null;
}

function resolveCategory(measure, choice) {
  const parts = measure.parts.map((key) => resolve(key, { ...choice, state: choice.state === "difference" ? "finetuned" : choice.state }));
  if (!parts.every(Boolean)) return null;
  const commonest = (own) => Float32Array.from({ length: COUNT }, (_, i) => {
    const shares = own.map((part) => part.values[i]);
    return shares.some(Number.isNaN) ? NaN : shares.indexOf(Math.max(...shares));
  });
  const values = commonest(parts);
  const found = { ...parts[0], measure, values, parts, category: true, low: null, high: null, test: null, over: null, chosen: null, controls: [], beside: [] };
  if (choice.state !== "difference") return found;
  const before = measure.parts.map((key) => resolve(key, { ...choice, state: "pretrained" }));
  if (!before.every(Boolean) || before[0].state !== "pretrained") return found;
  return { ...found, state: "difference", was: commonest(before), note: "fine-tuned; a letter before an arrow is the pattern before fine-tuning" };
}

// 0: not significant; 1 or −1: significant, and on which side.
function significance(shown, i) {
  if (!shown || !shown.test || !(shown.test[i] < CONTENT.level)) return 0;
  return shown.measure.twoSided ? Math.sign(shown.values[i]) : 1;
}

// The models of single seeds behind means over seeds that have a test of their own; else none.
function behindMeans(shown) {
  if (shown.seeds.join() !== "mean") return [];
  return SEEDS.map((seed) => inState(shown.measure, shown.task, shown.state, seed)).filter((one) => one?.test && one.seeds.join() !== "mean");
}

// Whether a head's value is significant: for single models over examples, and for means also over seeds.
function said(shown, i) {
  const own = behindMeans(shown);
  const corrected = `corrected p = ${number(shown.test[i], 2)}`;
  const sure = significance(shown, i) ? "" : "not ";
  if (!own.length) return `${sure}significant (${corrected})`;
  return `significant in ${own.filter((one) => significance(one, i)).length} of ${own.length} seeds, ${sure}over seeds (n = ${own.length}; ${corrected})`;
}

// The share of heads with a smaller value; of equal ones, half.
function percentile(values, value) {
  let below = 0;
  let known = 0;
  for (const each of values) {
    if (Number.isNaN(each)) continue;
    known += 1;
    below += each < value ? 1 : each === value ? 0.5 : 0;
  }
  return known ? below / known : NaN;
}

const unitOf = (measure) => ({ "× 100": "points", attention: "of attention", "share of maps": "of the maps", share: "" }[measure.unit] ?? measure.unit);
const kindOf = (measure, task) => measure.kinds[task] ?? "";
function nameOf(measure, task) {
  const kind = kindOf(measure, task);
  return kind ? `${measure.name}: ${kind}` : measure.name;
}

const wordsOf = (column) => column.name.replaceAll("_", " ");

// What was chosen for a head, such as the relation that its values are about.
const choiceOf = (shown, i) => (shown.chosen && Number.isFinite(shown.chosen[i]) ? shown.measure.choices[shown.chosen[i]] : "");

// The measure of what is shown; with its state, if it is not the chosen one.
function titleOf(shown) {
  const name = nameOf(shown.measure, shown.task || address.task);
  return shown.instead ? `${name} (${STATE_NAMES[shown.state].toLowerCase()})` : name;
}

// A head's value in words, for tips and screen readers.
function spoken(shown, i) {
  if (!shown) return ["no value"];
  if (Number.isNaN(shown.values[i])) return ["no value for this head"];
  if (shown.category) {
    const label = (k) => shown.measure.labels[k];
    const was = shown.was && shown.was[i] !== shown.values[i] ? ` (before: ${label(shown.was[i])})` : "";
    return [`${label(shown.values[i])}, ${percent(shown.parts[shown.values[i]].values[i])} of its maps${was}`];
  }
  const value = `${number(shown.values[i])} ${unitOf(shown.measure)}`.trim();
  const interval = shown.low && Number.isFinite(shown.low[i]) ? ` [${number(shown.low[i])}, ${number(shown.high[i])}]` : "";
  const choice = choiceOf(shown, i);
  const lines = [...(choice ? [choice] : []), value + interval];
  for (const each of [...shown.beside, ...shown.controls]) {
    if (Number.isFinite(each.values[i])) lines.push(`${wordsOf(each)}: ${number(each.values[i])}`);
  }
  if (shown.over && Number.isFinite(shown.over[i])) {
    const ends = shown.overlow ? ` [${number(shown.overlow[i])}, ${number(shown.overhigh[i])}]` : "";
    lines.push(`beyond control: ${number(shown.over[i])}${ends}`);
  }
  if (shown.test && Number.isFinite(shown.test[i])) {
    lines.push(said(shown, i));
  }
  return lines;
}
