// The matrix of all pairs, drawn here: a cell for each pair, in as many paths as there are shades.
const SHADES = 8;
const [BLUE, ORANGE] = ["#0072B2", "#D55E00"];
function meanDifferences(runs) {
  const { scores } = measure().topic_difficulty;
  if (data.topics.length < data.all_topics) {
    return (i, j) => valueOf((findPair(runs[i], runs[j]) || { difference: none }).difference);
  }
  const complete = runs.every((run) => !scores[run].includes(null));
  const mean = runs.map((run) => scores[run].reduce((sum, x) => sum + x, 0) / data.topics.length);
  return (i, j) => {
    if (complete) return mean[i] - mean[j];
    let [sum, count] = [0, 0];
    scores[runs[i]].forEach((x, t) => {
      const y = scores[runs[j]][t];
      if (x !== null && y !== null) [sum, count] = [sum + x - y, count + 1];
    });
    return count ? sum / count : null;
  };
}
function matrix(figure) {
  const { comparison, order } = measure();
  const runs = matching(order).filter((run) => comparison.held.includes(run)).slice(0, 200);
  figure.hidden = runs.length < 2;
  if (figure.hidden) return;
  const fitting = Math.floor((0.85 * figure.closest(".part").clientWidth) / runs.length);
  const most = runs.length <= 12 ? 30 : runs.length <= 24 ? 22 : runs.length <= 45 ? 16 : 13;
  const cell = runs.length <= 45 ? most : Math.max(9, Math.min(most, fitting));
  const letters = Math.min(11, cell - 1);
  const longest = Math.max(...runs.map((run) => data.runs[run].length));
  const margin = Math.min(16 + 0.7 * letters * longest, 24 * 0.7 * letters); // bold letters are wide
  const difference = meanDifferences(runs);
  const values = runs.map((_, i) => runs.map((__, j) => (i === j ? 0 : difference(i, j))));
  const svg = matrixPicture(runs, values, { cell, letters, margin });
  listen(figure, svg, (event) => {
    const box = svg.getBoundingClientRect();
    const [j, i] = [event.clientX - box.left, event.clientY - box.top].map((x) => Math.floor((x - margin) / cell));
    if (runs[i] === undefined || runs[j] === undefined || i === j) return null;
    return { run: runs[i], other: runs[j], difference: values[i][j] };
  });
  const plot = figure.querySelector(".plot");
  plot.classList.add("wide");
  plot.firstElementChild.replaceChildren(svg);
  const left = order.length - runs.length;
  const caption =
    "All pairs, best runs first: row minus column, blue where the row is better, orange where it is worse, a dot where the " +
    `difference is significant (${comparison.interval}${levelText()} intervals). Lines separate groups: the first run of a group is ` +
    "significantly better than the first of the next." +
    (left ? ` ${runs.length} of ${order.length} runs shown.` : "");
  setCaption(figure, caption);
  markScrolling(figure);
}
function matrixPicture(runs, values, { cell, letters, margin }) {
  const end = margin + runs.length * cell;
  const svg = drawn("svg", { width: end + 2, height: end + 2, viewBox: `0 0 ${end + 2} ${end + 2}` });
  svg.append(...matrixCells(runs, values, cell, margin));
  for (const start of groupStarts(runs).slice(1)) {
    const at = margin + start * cell;
    svg.append(drawn("path", { d: `M${margin} ${at}H${end}M${at} ${margin}V${end}`, class: "border" }));
  }
  svg.append(labels(runs, cell, margin, letters, true), labels(runs, cell, margin, letters, false));
  const [row, column] = [runs.indexOf(state.a), runs.indexOf(state.b)];
  if (row >= 0 && column >= 0 && row !== column) {
    const [x, y] = [margin + column * cell, margin + row * cell];
    svg.append(drawn("rect", { width: cell, height: cell, class: "chosen-cell", x, y }));
  }
  return svg;
}
// The cells, one path per shade, and the dots of significant differences.
function matrixCells(runs, values, cell, margin) {
  const largest = Math.max(...values.flat().map((x) => Math.abs(x ?? 0))) || 1;
  const cells = new Map();
  const dots = [];
  runs.forEach((run, i) => {
    runs.forEach((other, j) => {
      const value = values[i][j];
      if (i === j || value === null) return;
      const [x, y] = [margin + j * cell, margin + i * cell];
      const shade = Math.sign(value) * Math.ceil((SHADES * Math.abs(value)) / largest - 1e-9);
      if (!cells.has(shade)) cells.set(shade, []);
      cells.get(shade).push(`M${x} ${y}h${cell}v${cell}h-${cell}z`);
      if (!opposite[word(run, other)]) return;
      const dot = Math.max(2, cell / 5);
      dots.push(`M${x + (cell - dot) / 2} ${y + (cell - dot) / 2}h${dot}v${dot}h-${dot}z`);
    });
  });
  const shaded = [...cells].map(([shade, paths]) => {
    const fill = shade < 0 ? ORANGE : BLUE;
    return drawn("path", { d: paths.join(""), fill, "fill-opacity": (0.85 * Math.abs(shade)) / SHADES });
  });
  return [...shaded, drawn("path", { d: dots.join(""), class: "significant" })];
}
// Shows the pair under the pointer, and chooses the one that is clicked.
function listen(figure, svg, pairUnder) {
  const readout = figure.querySelector(".readout");
  svg.addEventListener("pointermove", (event) => {
    const pair = pairUnder(event);
    if (!pair) return;
    const { run, other, difference } = pair;
    point(data.runs[run]);
    const names = `${isolated(data.runs[run])} minus ${isolated(data.runs[other])}`;
    readout.textContent = `${names}: ${decimals(difference, { sign: true })}, ${word(run, other)}`;
  });
  svg.addEventListener("pointerleave", () => {
    readout.textContent = "";
  });
  svg.addEventListener("click", (event) => {
    const pair = pairUnder(event);
    if (pair) choose(pair.run, pair.other);
  });
}
// Where groups start: a run that is significantly worse than the first of the group before.
function groupStarts(runs) {
  const starts = [0];
  runs.forEach((run, place) => {
    if (word(run, runs[starts.at(-1)]) === "worse") starts.push(place);
  });
  return starts;
}
function labels(runs, cell, margin, letters, across) {
  const group = drawn("g", { class: "role-axis-label", "font-size": letters });
  const most = Math.floor((margin - 8) / (0.7 * letters));
  runs.forEach((run, place) => {
    const name = data.runs[run];
    const middle = margin + (place + 0.5) * cell;
    const text = drawn("text", { "dominant-baseline": "central" }, name.length > most ? `${name.slice(0, most - 1)}…` : name);
    text.setAttribute("transform", across ? `translate(${middle},${margin - 5}) rotate(-90)` : `translate(${margin - 5},${middle})`);
    text.setAttribute("text-anchor", across ? "start" : "end");
    text.dataset.run = name;
    group.append(text);
  });
  return group;
}
