// Elements. Text from data only ever becomes text nodes and attribute values, never HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, to] of Object.entries(value)) element.style.setProperty(key, to);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const h = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const find = (selector, inside = document) => inside.querySelector(selector);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

// Numbers with three significant digits and a real minus sign.
function number(value, digits = 3) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-4 || size >= 1e6)
    ? value.toExponential(1)
    : value.toFixed(size === 0 ? 0 : Math.max(0, Math.min(4, digits - 1 - Math.floor(Math.log10(size)))));
  return text.replace("-", "−");
}

// A number of an axis: without zeros at its end.
const tickText = (value) => String(Number(value.toPrecision(3))).replace("-", "−");
const percent = (share) => `${Math.round(100 * share)}%`;
const headName = (i) => `L${Math.floor(i / HEADS) + 1} H${(i % HEADS) + 1}`;
const headTitle = (i) => `Layer ${Math.floor(i / HEADS) + 1}, head ${(i % HEADS) + 1}`;
const headCode = (i) => `${Math.floor(i / HEADS) + 1}.${(i % HEADS) + 1}`;

function headNumber(code) {
  const [layer, head] = String(code).split(".").map(Number);
  const known = layer >= 1 && layer <= LAYERS && head >= 1 && head <= HEADS;
  return known ? (layer - 1) * HEADS + head - 1 : null;
}

// Round numbers along an axis.
function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) {
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  }
  return found;
}

// What is said beside the pointer, or beside what has the focus.
function tip(lines, x, y) {
  const box = find("#tip");
  box.replaceChildren(...lines.filter(Boolean).map((line, i) => h(i ? "div" : "b", {}, line)));
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 4))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 12) : y + 18}px`;
}

function untip() {
  find("#tip").hidden = true;
}

// One of several choices, as a row of buttons that are radio inputs.
function segmented(name, label, choices, chosen, choose) {
  return h("fieldset", { class: "segmented", id: name },
    h("legend", {}, label),
    choices.map(([value, text]) => h("label", {},
      h("input", { type: "radio", name, value, checked: value === chosen, onchange: () => choose(value) }),
      h("span", {}, text))));
}

// Options are [value, text, group]; an option may stand in two groups.
function menu(id, label, options, chosen, choose) {
  const select = h("select", { id, onchange: (event) => choose(event.target.value) });
  const groups = new Map();
  for (const [value, text, group] of options) {
    if (group && !groups.has(group)) {
      groups.set(group, h("optgroup", { label: group }));
      select.append(groups.get(group));
    }
    (group ? groups.get(group) : select).append(h("option", { value, selected: value === chosen }, text));
  }
  return h("label", { class: "menu" }, h("span", {}, label), select);
}
