// How the heads' values are distributed; its axis is the colour bar.

const BINS = 28;
let inHistogram = null;

function drawHistogram(shown, scale, width) {
  if (shown.category) return drawCounts(shown);
  const { low, high } = scale;
  const size = { width, height: 92 };
  const x = (value) => 8 + ((value - low) / (high - low)) * (width - 16);
  const counts = binned(shown.values, low, high);
  const control = controlOf(shown);
  const expected = control ? binned(control.values, low, high) : null;
  const outside = control ? control.values.filter((value) => value < low || value > high).length : 0;
  const most = Math.max(...counts, ...(expected ?? [0]), 1);
  const y = (count) => 56 - (count / most) * 50;
  const step = (high - low) / BINS;
  const svg = s("svg", {
    ...size, viewBox: `0 0 ${width} ${size.height}`, class: "histogram", id: "histogram", role: "img",
    "aria-label": `Distribution over ${counts.reduce((a, b) => a + b, 0)} heads, from ${number(low)} to ${number(high)}`,
  });
  svg.append(...counts.map((count, k) => s("rect", {
    x: x(low + k * step) + 0.5, width: Math.max(0.5, x(low + step) - x(low) - 1), y: y(count), height: 56 - y(count),
    fill: scale.colour(low + (k + 0.5) * step), class: "bar",
  })));
  if (expected) {
    svg.append(s("path", { class: "expected", d: expected.map((count, k) => `${k ? "L" : "M"}${x(low + k * step)} ${y(count)}L${x(low + (k + 1) * step)} ${y(count)}`).join("") }));
  }
  const bar = 64;
  svg.append(...Array.from({ length: bar }, (_, k) => s("rect", {
    x: 8 + (k * (width - 16)) / bar, y: 60, width: (width - 16) / bar + 0.6, height: 9, fill: scale.colour(low + ((k + 0.5) * (high - low)) / bar),
  })));
  svg.append(s("g", { class: "axis" }, ticks(low, high, width < 320 ? 3 : 5).map((value) => [
    s("path", { d: `M${x(value)} 69v4`, class: "line" }),
    s("text", { x: Math.max(14, Math.min(width - 14, x(value))), y: 84, "text-anchor": "middle" }, tickText(value)),
  ])));
  const pointer = s("path", { class: "pointer", d: "" });
  svg.append(pointer);
  inHistogram = (i) => pointer.setAttribute("d", Number.isFinite(shown.values[i]) ? `M${x(shown.values[i])} 4V70` : "");
  const unit = unitOf(shown.measure);
  return h("div", {}, svg, h("p", { class: "quiet small" },
    `${shown.difference ? "fine-tuned − pre-trained" : shown.measure.meaning}${unit ? ` (${unit})` : ""}.`,
    expected ? ` Line: ${control.words}${outside ? `, but ${outside} outside of the axis` : ""}.` : ""));
}

// What the distribution would be without what is measured: of random weights, or the first control.
function controlOf(shown) {
  if (shown.difference) return null;
  const random = shown.state === "random" ? null : inState(shown.measure, address.task, "random", SEEDS[0]);
  if (random) return { values: random.values, words: "the same of an untrained encoder" };
  const [first] = shown.controls;
  return first ? { values: first.values, words: first.name.replaceAll("_", " ") } : null;
}

function binned(values, low, high) {
  const counts = Array(BINS).fill(0);
  for (const value of values) {
    if (value >= low && value <= high) counts[Math.min(BINS - 1, Math.floor(((value - low) / (high - low)) * BINS))] += 1;
  }
  return counts;
}

function drawCounts(shown) {
  inHistogram = null;
  const { labels, letters, colours } = shown.measure;
  const count = (values, k) => values.filter((value) => value === k).length;
  return h("ul", { class: "counts", id: "histogram", "aria-label": "Number of heads by their commonest pattern" },
    labels.map((text, k) => {
      const now = count(shown.values, k);
      const was = shown.was ? `${count(shown.was, k)} → ` : "";
      return h("li", {},
        h("span", { class: "swatch", css: { background: colours[k], color: ink(colours[k]) } }, letters[k]),
        h("span", {}, text),
        h("span", { class: "track" }, h("span", { class: "share", css: { width: `${(100 * now) / COUNT}%`, background: colours[k] } })),
        h("span", { class: "number" }, `${was}${now}`));
    }));
}

function markInHistogram(i) {
  inHistogram?.(i);
}
