// Shapes: significance is seen without colour.

const SHAPES = {
  up: (r) => `M0 ${-r}L${r} ${r * 0.75}H${-r}Z`,
  down: (r) => `M0 ${r}L${r} ${-r * 0.75}H${-r}Z`,
  diamond: (r) => `M0 ${-r * 1.15}L${r * 1.15} 0L0 ${r * 1.15}L${-r * 1.15} 0Z`,
  circle: (r) => `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`,
};

// ▲ a significant gain, ▼ a significant loss, ◆ significantly beyond all controls; else none.
function shapeOf(shown, i) {
  const side = significance(shown, i);
  if (!side) return "";
  return shown.measure.twoSided ? (side > 0 ? "up" : "down") : "diamond";
}

const mark = (shape, x, y, r, attributes = {}) => s("path", { d: SHAPES[shape](r), transform: `translate(${x} ${y})`, ...attributes });

function legend(shown) {
  if (!shown?.measure.test || shown.difference) return null;
  const entry = (shape, text) => h("span", {}, s("svg", { viewBox: "-6 -6 12 12", width: 12, height: 12, "aria-hidden": "true" }, mark(shape, 0, 0, 4, { class: "ink" })), text);
  const shapes = shown.measure.twoSided
    ? [entry("up", "significantly above 0"), entry("down", "significantly below 0")]
    : [entry("diamond", "significant")];
  const heads = Array.from({ length: COUNT }, (_, i) => i);
  const own = behindMeans(shown);
  const often = heads.filter((i) => own.filter((one) => significance(one, i)).length > own.length / 2).length;
  const over = own.length ? ` over seeds (n = ${own.length}), ${often} in more than half of the seeds by themselves` : "";
  const count = heads.filter((i) => significance(shown, i)).length;
  return h("p", { class: "legend" }, shapes, h("span", { class: "quiet" }, `${count} of ${COUNT} heads${over}; ${shown.measure.test}`));
}
