// Charts: Vega-Lite specifications, to which size and colours are added here.
const partsThat = (holds) => [...new Set(charts.filter(holds).map((chart) => chart.part))];
function chartOf(part) {
  return charts.find(
    (chart) => chart.part === part && fits(chart) && (chart.level === null || chart.level === state.level),
  );
}
function refilled(chart, part) {
  const [a, b] = [isolated(data.runs[state.a]), isolated(data.runs[state.b])];
  if (part === "topics") {
    const spec = { ...chart.spec, data: { values: topicRecords() } };
    return { spec, caption: `${a} on each ${measure().means.unit} by ${measure().name}; grey: range and median of ${spreadText()}` };
  }
  if (part === "differences") {
    const spec = { ...chart.spec, data: { values: differenceRecords() } };
    return { spec, caption: `${a} minus ${b} on each ${measure().means.unit}, by ${measure().name}` };
  }
  const few = chart.by_run && !chart.zoomable && shortened(data.runs.length);
  if (!chart.by_run || !(state.filter || few)) return chart;
  const names = new Set(shownRuns().map((run) => data.runs[run]));
  const kept = (records) => records.filter((record) => record.run === undefined || (few ? names.has(record.run) : matches(record.run)));
  const filtered = keeping(chart.spec, kept);
  const said = few ? `${names.size} of ${data.runs.length} runs shown` : "runs filtered";
  const { height } = chart.spec;
  if (height && height.step && names.size <= FEW_RUNS) filtered.height = { step: Math.max(ROW, height.step) };
  return { spec: filtered, caption: `${chart.caption}; ${said}` };
}
// A chart, or a layer of one, with the records that are kept.
function keeping(part, kept) {
  const changed = { ...part };
  if (part.data) changed.data = { values: kept(part.data.values) };
  if (part.layer) changed.layer = part.layer.map((layer) => keeping(layer, kept));
  return changed;
}
const recordsOf = (part) => [...(part.data ? part.data.values : []), ...(part.layer || []).flatMap(recordsOf)];
function themed(spec) {
  const style = getComputedStyle(document.documentElement);
  const [ink, quiet, line] = ["--ink", "--quiet", "--line"].map((name) => style.getPropertyValue(name).trim());
  const config = { ...spec.config, background: "transparent" };
  const words = { labelColor: ink, titleColor: ink };
  config.axis = { ...config.axis, ...words, gridColor: line, domainColor: quiet, tickColor: quiet };
  const narrow = window.innerWidth < 640;
  config.axisQuantitative = { tickCount: narrow ? 4 : 8, labelSeparation: 6, labelFlush: true };
  config.legend = { ...config.legend, ...words, orient: "bottom", ...(narrow && { columns: 2 }) };
  config.header = { ...config.header, ...words };
  config.title = { ...config.title, color: ink, subtitleColor: quiet };
  if (narrow) {
    config.axis.labelLimit = 130;
    config.axisX = { titleAnchor: "end", titleFontSize: 10, titleFontWeight: "normal" };
  }
  if (!spec.height || !(spec.height.step * data.runs.length > 560)) return { ...spec, config };
  // A chart that scrolls has its axis and legend at the top, where they are visible.
  config.axisX = { ...config.axisX, orient: "top" };
  config.legend.orient = "top";
  return { ...withLegendAbove(spec), config };
}
function withLegendAbove(part) {
  const { encoding = {}, layer } = part;
  const { color } = encoding;
  const above = color && color.legend ? { ...color, legend: { ...color.legend, orient: "top" } } : color;
  return {
    ...part,
    ...(color && { encoding: { ...encoding, color: above } }),
    ...(layer && { layer: layer.map(withLegendAbove) }),
  };
}
// The blue of charts is too dark for a dark page.
const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const bright = (spec) =>
  darkScheme.matches ? JSON.parse(JSON.stringify(spec).replaceAll("#0072B2", "#4AA5E0")) : spec;
// The height of a row where few of many runs are shown: that of a chart of few runs.
const ROW = 18;
// Cells of a grid are narrower on a phone.
const NARROW_CELL = 38;
// A chart of topics fills the page width if every label then has room.
function fitted(spec, room) {
  const step = spec.width && spec.width.step;
  if (step && spec.height.step) return room < 480 ? { ...spec, width: { step: Math.min(step, NARROW_CELL) } } : spec;
  if (!step || room < step * spec.data.values.length + 80) return spec;
  return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
}
// A chart that fills the page width needs a height in pixels, not in steps.
function inPixels(spec) {
  if (spec.width !== "container" || !spec.height.step) return spec;
  const records = recordsOf(spec);
  const encodings = [spec, ...(spec.layer || [])].map((part) => part.encoding || {});
  const rows = ["y", "yOffset"].map((name) => {
    const channel = encodings.map((encoding) => encoding[name]).find(Boolean);
    return channel ? new Set(records.map((record) => record[channel.field])).size : 1;
  });
  return { ...spec, height: spec.height.step * rows[0] * rows[1] };
}
// Points can be zoomed into, with Shift: the wheel alone scrolls the page, and dragging chooses runs.
function zoomable(spec) {
  const dragged = (test) => `[pointerdown[${test}], window:pointerup] > window:pointermove!`;
  const zoom = {
    name: "zoom",
    bind: "scales",
    select: { type: "interval", translate: dragged("event.shiftKey"), zoom: "wheel![event.shiftKey]", clear: false },
  };
  const brush = { name: "brush", select: { type: "interval", on: dragged("!event.shiftKey"), translate: false, zoom: false } };
  const layer = spec.layer.slice();
  layer[0] = { ...layer[0], params: [zoom, brush] };
  return { ...spec, layer };
}
// The runs whose points lie in the rectangle that the reader draws; they become the filter.
let brushed = [];
function brushes(view, spec) {
  view.addSignalListener("brush", (_, ranges) => {
    const sides = Object.entries(ranges).map(([field, ends]) => [field, Math.min(...ends), Math.max(...ends)]);
    const inside = (record) => sides.every(([field, low, high]) => record[field] >= low && record[field] <= high);
    const points = recordsOf(spec).filter(({ run }) => run !== undefined);
    brushed = sides.length ? points.filter(inside).map(({ run }) => run) : [];
  });
}
window.addEventListener("pointerup", () => {
  // After the click that ends the drag, which must not choose the run under the pointer.
  setTimeout(() => {
    if (brushed.length) change({ filter: filterFor(brushed) });
    brushed = [];
  });
});
async function draw(figure) {
  const part = figure.dataset.part;
  const plot = figure.querySelector(".plot");
  if (part === "pairs" && measure().comparison && planned() === null) {
    matrix(figure);
    return;
  }
  const chart = chartOf(part);
  if (chart && chart.svg !== undefined) {
    still(figure, chart);
    return;
  }
  const refill = chart && refilled(chart, part);
  const empty = !chart || (refill.spec.data && refill.spec.data.values.length === 0);
  figure.hidden = empty || (part === "differences" && state.a === state.b);
  if (figure.hidden) return;
  const { spec: filled, caption } = refill;
  const spec = fitted(chart.zoomable ? zoomable(filled) : filled, figure.clientWidth);
  plot.classList.toggle("wide", spec.width !== "container");
  setCaption(figure, caption);
  const { $schema, ...unversioned } = bright(inPixels(themed(spec))); // embed warns of other versions than its own
  const result = await window.vegaEmbed(plot.firstElementChild, unversioned, {
    actions: false,
    ast: true, // the content security policy forbids eval
    renderer: "svg",
    mode: "vega-lite",
    logLevel: 1, // errors only
  });
  if (chart.zoomable) {
    brushes(result.view, filled);
    result.view.addEventListener("dblclick", () => redraw([part]));
  }
  result.view.addEventListener("click", (_, item) => {
    if (brushed.length) return;
    const { run, topic_number: topic } = (item && item.datum) || {};
    if (topic !== undefined && refill !== chart) openTopic(topic);
    else if (run !== undefined) choose(data.runs.indexOf(run), state.b);
  });
  result.view.addEventListener("mouseover", (_, item) => point((item && item.datum && item.datum.run) ?? null));
  markScrolling(figure);
  index(figure);
  relink();
}
// Without Vega, the page has each chart as a picture; those of topics follow the chosen runs.
const STILL_HEIGHT = 220;
function still(figure, chart) {
  const { part } = figure.dataset;
  const ofTopics = part === "topics" || part === "differences";
  figure.hidden = ofTopics ? part === "differences" && state.a === state.b : !chart.svg;
  if (figure.hidden) return;
  const refill = ofTopics ? refilled({ ...chart, spec: {} }, part) : chart;
  const picture = ofTopics
    ? topicPicture(refill.spec.data.values, part, figure.clientWidth)
    : new DOMParser().parseFromString(chart.svg, "text/html").body.firstElementChild;
  figure.querySelector(".plot").firstElementChild.replaceChildren(picture);
  picture.addEventListener("click", ({ target }) => {
    if (target.dataset.run !== undefined) choose(data.runs.indexOf(target.dataset.run), state.b);
  });
  setCaption(figure, refill.caption);
  markScrolling(figure);
}
// A column per topic: the difference as a bar, or the score as a dot on the range of all runs.
function topicPicture(records, part, room) {
  const fields = part === "topics" ? ["lowest", "median", "highest", "score"] : ["difference"];
  const known = [0, ...records.flatMap((record) => fields.map((name) => record[name])).filter((x) => x !== null)];
  const [low, high] = [Math.min(...known), Math.max(...known, Math.min(...known) + 1e-9)];
  const [left, top] = [48, 8];
  const step = Math.max(3, (Math.max(room, 320) - left - 8) / Math.max(1, records.length));
  const width = left + step * records.length + 8;
  const up = (value) => top + (STILL_HEIGHT * (high - value)) / (high - low);
  const labelled = step >= 12;
  const bottom = labelled ? 12 + 6 * Math.max(...records.map((record) => Math.min(15, record.topic.length))) : 0;
  const height = STILL_HEIGHT + 2 * top + bottom;
  const svg = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "static", fill: "currentColor", "font-size": 10 });
  for (const tick of roundTicks(low, high, 5)) {
    const at = up(tick);
    const line = drawn("path", { d: `M${left} ${at}H${width - 8}`, stroke: "currentColor", "stroke-opacity": tick === 0 ? 0.6 : 0.15 });
    svg.append(line, drawn("text", { x: left - 6, y: at + 3.5, "text-anchor": "end" }, tickText(tick)));
  }
  const bar = (record, start, end, fill, wide) => {
    const [from, to] = [up(record[end] ?? end), up(record[start] ?? start)];
    return drawn("rect", { x: -wide / 2, y: Math.min(from, to), width: wide, height: Math.max(1, Math.abs(to - from)), fill });
  };
  records.forEach((record, place) => {
    const group = drawn("g", { transform: `translate(${left + step * (place + 0.5)},0)` });
    const value = part === "topics" ? record.score : record.difference;
    group.append(drawn("title", {}, `${record.topic}: ${decimals(value, { sign: part !== "topics" })}`));
    if (part === "topics") {
      const range = bar(record, "lowest", "highest", "currentColor", Math.min(6, 0.7 * step));
      range.setAttribute("opacity", 0.25);
      group.append(range, bar(record, "median", "median", "currentColor", Math.min(6, 0.7 * step)));
      if (record.score !== null) group.append(drawn("circle", { r: Math.min(3.5, 0.6 * step), cy: up(record.score), fill: BLUE }));
    } else {
      group.append(bar(record, 0, "difference", record.difference > 0 ? BLUE : ORANGE, 0.8 * step));
    }
    const turned = { transform: `translate(3.5,${STILL_HEIGHT + 2 * top + 4}) rotate(-90)`, "text-anchor": "end" };
    if (labelled) group.append(drawn("text", turned, record.topic.slice(0, 15)));
    group.addEventListener("click", () => openTopic(record.topic_number));
    svg.append(group);
  });
  return svg;
}
// Says so where a chart is wider than its frame.
function markScrolling(figure) {
  const frame = figure.querySelector(".frame");
  figure.classList.toggle("scrolls", frame.scrollWidth > frame.clientWidth + 1);
}
function setCaption(figure, caption) {
  figure.querySelector("figcaption").textContent = caption;
  const plot = figure.querySelector(".plot");
  plot.setAttribute("aria-label", `Chart: ${caption}${caption.endsWith(".") ? "" : "."} Its numbers are in the table of this part.`);
  figure.querySelector(".frame").setAttribute("aria-label", caption);
}
function showFailure(figure) {
  figure.querySelector(".plot").firstElementChild.textContent =
    "This chart cannot be drawn; its numbers are in the table of this part.";
}
// Marks whether all charts are drawn, for printing and tests.
const mark = (ready) => {
  document.documentElement.dataset.ready = ready;
};
// One chart after the other, nearest first, so that the page stays responsive.
const waiting = new Set();
let drawing = false;
const distance = (figure) => {
  const { top, bottom } = figure.getBoundingClientRect();
  return Math.max(0, top - window.innerHeight, -bottom);
};
function redraw(parts) {
  for (const figure of document.querySelectorAll("figure.chart")) {
    if (!parts || parts.includes(figure.dataset.part)) waiting.add(figure);
  }
  return pump();
}
// Draws the charts that wait and are visible; those of folded parts wait until these are opened.
const unfolded = (figure) => !figure.closest("details:not([open])");
async function pump() {
  mark("false");
  if (drawing) return;
  drawing = true;
  for (let next = nearest(); next; next = nearest()) {
    waiting.delete(next);
    await draw(next).catch(() => showFailure(next));
    await new Promise((resolve) => setTimeout(resolve));
  }
  drawing = false;
  mark("true");
}
function nearest() {
  const seen = [...waiting].filter(unfolded);
  return seen.length ? seen.reduce((x, y) => (distance(y) < distance(x) ? y : x)) : null;
}

