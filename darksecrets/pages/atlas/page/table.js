// The measure as a table, to sort and to read aloud.

let order = { by: "place", down: false };

function tableColumns(shown) {
  const text = (values, digits) => (i) => number(values[i], digits);
  if (shown.category) {
    return [
      { key: "value", title: "pattern", text: (i) => shown.measure.labels[shown.values[i]] ?? "–", sort: (i) => shown.values[i] },
      ...shown.parts.map((part, k) => ({ key: `part${k}`, title: shown.measure.labels[k], text: (i) => percent(part.values[i]), sort: (i) => part.values[i] })),
    ];
  }
  const columns = [{ key: "value", title: shown.difference ? "difference" : "value", text: text(shown.values), sort: (i) => shown.values[i] }];
  if (shown.chosen) columns.push({ key: "chosen", title: "chosen", text: (i) => choiceOf(shown, i) || "–", sort: (i) => shown.chosen[i] });
  if (shown.low) columns.push({ key: "interval", title: "95% interval", text: (i) => `${number(shown.low[i])} to ${number(shown.high[i])}`, sort: (i) => shown.high[i] - shown.low[i] });
  for (const each of [...shown.beside, ...shown.controls]) {
    columns.push({ key: each.name, title: wordsOf(each), text: text(each.values), sort: (i) => each.values[i] });
  }
  if (shown.over) columns.push({ key: "over", title: "beyond control", text: text(shown.over), sort: (i) => shown.over[i] });
  if (shown.test) {
    columns.push({ key: "test", title: "corrected p", text: text(shown.test, 2), sort: (i) => shown.test[i] });
    columns.push({ key: "significant", title: "significant", text: (i) => ({ up: "▲ above", down: "▼ below", diamond: "◆ yes" }[shapeOf(shown, i)] ?? "no"), sort: (i) => Math.abs(significance(shown, i)) });
  }
  return columns;
}

function drawTable(shown) {
  const columns = tableColumns(shown);
  const by = columns.find(({ key }) => key === order.by);
  const heads = Array.from({ length: COUNT }, (_, i) => i);
  if (by) {
    const last = (value) => (Number.isFinite(value) ? value : order.down ? -Infinity : Infinity);
    heads.sort((a, b) => (order.down ? last(by.sort(b)) - last(by.sort(a)) : last(by.sort(a)) - last(by.sort(b))) || a - b);
  } else if (order.down) heads.reverse();
  const title = (key, text) => h("th", { scope: "col", "aria-sort": order.by === key ? (order.down ? "descending" : "ascending") : "none" },
    h("button", { type: "button", id: `sort-${key}`, onclick: () => { order = { by: key, down: order.by === key ? !order.down : key !== "place" }; render(); find(`#sort-${CSS.escape(key)}`)?.focus(); } },
      text, h("span", { "aria-hidden": "true", class: "quiet" }, order.by === key ? (order.down ? " ↓" : " ↑") : "")));
  const chosen = brush();
  const table = h("table", {},
    h("caption", { class: "hidden" }, `${nameOf(shown.measure, address.task)} of every head`),
    h("thead", {}, h("tr", {}, title("place", "head"), columns.map((each) => title(each.key, each.title)))),
    h("tbody", {}, heads.map((i) => h("tr", { "data-head": i, class: `${opened() === i ? "open" : ""}${chosen.size && !chosen.has(i) ? " dim" : ""}` },
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => update({ head: headCode(i) }) }, headName(i))),
      columns.map((each) => h("td", {}, each.text(i)))))));
  return h("div", { class: "scroll", id: "table", tabindex: 0, role: "region", "aria-label": "Table of heads" }, table);
}
