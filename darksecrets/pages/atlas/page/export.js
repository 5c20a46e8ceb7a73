// What can be taken away: a link, the numbers, a drawing.

async function copyLink() {
  const button = find("#copy");
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "Copied";
  } catch {
    const field = h("input", { readonly: true, value: location.href, "aria-label": "Link to what is shown" });
    button.replaceWith(field);
    field.select();
  }
  setTimeout(() => { if (button.isConnected) button.textContent = "Copy link"; }, 1500);
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

function cell(value) {
  const text = String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvOf(shown) {
  const digits = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : "");
  const columns = shown.category
    ? [["pattern", (i) => shown.measure.labels[shown.values[i]] ?? ""], ...shown.parts.map((part, k) => [shown.measure.labels[k], (i) => digits(part.values[i])])]
    : [...(shown.chosen ? [["chosen", (i) => choiceOf(shown, i)]] : []),
      ["value", (i) => digits(shown.values[i])],
      ...["low", "high"].filter((name) => shown[name]).map((name) => [name, (i) => digits(shown[name][i])]),
      ...[...shown.beside, ...shown.controls].map((each) => [each.name, (i) => digits(each.values[i])]),
      ...(shown.over ? [["over control", (i) => digits(shown.over[i])]] : []),
      ...(shown.test ? [["corrected p", (i) => digits(shown.test[i])]] : [])];
  const about = [["task", shown.task], ["state", shown.state], ["seed", address.seed], ["measure", nameOf(shown.measure, address.task)]];
  const rows = Array.from({ length: COUNT }, (_, i) => [...about.map(([, value]) => value), Math.floor(i / HEADS) + 1, (i % HEADS) + 1, ...columns.map(([, get]) => get(i))]);
  return [[...about.map(([name]) => name), "layer", "head", ...columns.map(([name]) => name)], ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

const fileName = (shown, end) => `${[CONTENT.run.name, shown.task, shown.measure.key, shown.state].join("-").replace(/[^\w.-]+/g, "_")}.${end}`;

// A drawing as a file of its own: what the style sheet says becomes part of it.
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const kept = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "visibility"];
  const originals = [svg, ...all("*", svg)];
  [copy, ...all("*", copy)].forEach((element, k) => {
    const style = getComputedStyle(originals[k]);
    for (const name of kept) element.setAttribute(name, style.getPropertyValue(name));
    for (const name of ["class", "tabindex", "role", "data-head"]) element.removeAttribute(name);
  });
  const title = s("title", {}, svg.getAttribute("aria-label") ?? "");
  const ground = s("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(title, ground);
  return new XMLSerializer().serializeToString(copy);
}
