// Scales of drawn intervals: round ticks, 0 among them, and outliers clipped.
const FENCE = 3; // widths of the middle half, beyond which a number is an outlier
const ROOM = 0.06; // at both ends, as a share of what the scale spans
function roundTicks(low, high, about) {
  const rough = (high - low) / about;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].reduce((x, y) => (Math.abs(y * unit - rough) < Math.abs(x * unit - rough) ? y : x));
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => step * (first + place));
}
// At most some round numbers, 0 among them where it lies between.
function fewTicks(low, high, most) {
  const all = roundTicks(low, high, most - 1);
  if (all.length <= most) return all;
  const first = Math.max(0, all.indexOf(0)) % 2;
  return all.filter((_, place) => place % 2 === first);
}
// The runs whose values are no outliers.
function usual(values, runs) {
  const known = runs.map((run) => values[run]).filter((x) => x !== null).sort((x, y) => x - y);
  const [quarter, rest] = [known[known.length >> 2], known[Math.floor((3 * known.length) / 4)]];
  const fence = FENCE * (rest - quarter);
  return runs.filter((run) => values[run] !== null && values[run] >= quarter - fence && values[run] <= rest + fence);
}
// A scale of intervals: lower limits, values and upper limits, by run; some runs and numbers are always on it.
function barScale(columns, runs, { always = [], numbers = [], most: labels = 4 } = {}) {
  const within = [...usual(columns[1], runs), ...always];
  const known = [...columns.flatMap((column) => within.map((run) => column[run])).filter((x) => x !== null), ...numbers];
  const [start, end] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  const [least, most] = end > start ? [start, end] : [start - 0.5, end + 0.5];
  const room = ROOM * (most - least);
  const [low, high] = [least - room, most + room];
  const share = (value) => Math.min(100, Math.max(0, (100 * (value - low)) / (high - low)));
  const inside = (value) => value >= low && value <= high;
  return {
    columns,
    share,
    ticks: fewTicks(least, most, labels).map((tick) => [tickText(tick), share(tick)]),
    zero: inside(0) ? share(0) : null,
    clipped: runs.filter((run) => columns[1][run] !== null && !inside(columns[1][run])),
  };
}
// The interval of a run as a line with a dot; an arrow where it is clipped.
function drawnBar(scale, run) {
  const [low, value, high] = scale.columns.map((column) => column[run]);
  const cell = element("td", undefined, "bar");
  const line = element("span");
  cell.append(line);
  if (scale.zero !== null) line.append(placed("em", scale.zero));
  if (low !== null && high !== null) {
    const range = placed("i", scale.share(low));
    range.style.width = `${scale.share(high) - scale.share(low)}%`;
    line.append(range);
  }
  if (value === null) return cell;
  const clipped = scale.clipped.includes(run);
  const dot = placed("b", scale.share(value));
  if (clipped) dot.className = scale.share(value) === 0 ? "below" : "above";
  line.append(dot);
  return cell;
}
function placed(name, share) {
  const made = element(name);
  made.style.left = `${share}%`;
  return made;
}
// The heading of a column of drawn intervals: its ticks.
function ticks(scale) {
  const line = element("span", undefined, "scale");
  for (const [text, share] of scale.ticks) {
    const tick = placed("span", share);
    tick.textContent = text;
    line.append(tick);
  }
  return line;
}
