// Colours. On a light ground darker is greater, as in the paper; on a dark ground brighter is.

const STOPS = {
  light: {
    weight: ["#ffffe5", "#feeda0", "#feb54f", "#f7692d", "#cf1a25", "#7a0022"],
    similarity: ["#f4f8fd", "#cadef0", "#8bbfdd", "#4090c5", "#1460a8", "#08306b"],
    map: ["#ffffff", "#fdd9c7", "#fb9a78", "#ef4d3a", "#b81419", "#5d000c"],
    effect: ["#7f3b08", "#c8761a", "#f5bf74", "#f5f4f2", "#bdb7d8", "#7e6cae", "#3d1263"],
    missing: "#e4e3df",
  },
  dark: {
    weight: ["#221a1b", "#4f1a1f", "#95201f", "#d4561f", "#f5a944", "#fff3b0"],
    similarity: ["#171d26", "#173653", "#1c5c8f", "#3f8ac4", "#8dbfe6", "#e6f3ff"],
    map: ["#191617", "#4a1a1c", "#95231f", "#dc4e30", "#fba06f", "#fff0e0"],
    effect: ["#ffb35c", "#c8761a", "#6b4417", "#232126", "#473a72", "#8d77cf", "#cbbcff"],
    missing: "#35343a",
  },
};

const isDark = () => (address.theme ? address.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const tables = new Map();

// 256 colours of a palette, as [red, green, blue].
function palette(name) {
  const key = `${isDark() ? "dark" : "light"} ${name}`;
  if (!tables.has(key)) {
    const stops = STOPS[isDark() ? "dark" : "light"][name].map(channels);
    tables.set(key, Array.from({ length: 256 }, (_, i) => {
      const at = (i / 255) * (stops.length - 1);
      const from = Math.min(Math.floor(at), stops.length - 2);
      return stops[from].map((value, k) => Math.round(value + (stops[from + 1][k] - value) * (at - from)));
    }));
  }
  return tables.get(key);
}

const css = (rgb) => `rgb(${rgb.join(",")})`;
const missing = () => STOPS[isDark() ? "dark" : "light"].missing;
const at = (name, share) => palette(name)[Math.round(255 * Math.max(0, Math.min(1, share)))];

// Ink that is seen on a colour.
function ink(colour) {
  const [r, g, b] = (colour.startsWith("#") ? channels(colour) : colour.match(/\d+/g).map(Number)).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.25 ? "#17161a" : "#ffffff";
}

// Colours of a measure's values: the same limits before and after fine-tuning.
function scaleOf(shown) {
  const { measure } = shown;
  if (shown.category) {
    return { category: true, colour: (value) => (Number.isNaN(value) ? missing() : measure.colours[value]) };
  }
  const both = shown.difference
    ? [shown.values]
    : [shown.values, ...["pretrained", "finetuned"].map((state) => inState(measure, address.task, state, address.seed)?.values)];
  const known = both.filter(Boolean).flatMap((values) => [...values]).filter(Number.isFinite);
  const least = Math.min(...known);
  const most = Math.max(...known);
  const diverging = shown.difference || measure.palette === "effect";
  const limit = Math.max(Math.abs(least), Math.abs(most)) || 1;
  const sides = {
    effect: [-limit, limit],
    similarity: [Math.min(least, 0.95), 1],
    weight: [Math.min(0, least), most > Math.min(0, least) ? most : 1],
  };
  const name = diverging ? "effect" : measure.palette;
  const [low, high] = sides[name];
  const share = (value) => (name === "similarity" ? (high - value) : value - low) / (high - low);
  return { low, high, name, colour: (value) => (Number.isFinite(value) ? css(at(name, share(value))) : missing()) };
}
