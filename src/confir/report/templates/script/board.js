// The leaderboard: means, and gaps to the best of the others or differences from a baseline.
const FEW_RUNS = 20; // up to this many are all shown; of more, the best
const RUNS_SHOWN = 15;
const shortened = (count) => !state.all && !state.filter && count > FEW_RUNS;
// The runs that are shown: those that match the filter, or the best; a baseline always.
function shownRuns() {
  const places = matching(measure().order);
  if (!shortened(places.length)) return places;
  const kept = places.slice(0, RUNS_SHOWN);
  const chosen = planned() ?? state.baseline;
  return chosen === null || kept.includes(chosen) ? kept : [...kept, chosen];
}
// The columns beside the means: numbers, texts, words and headings.
function gapColumns() {
  const { best, comparison } = measure();
  if (state.baseline !== null && planned() === null) return chosenBaseline();
  if (comparison && comparison.baseline !== null) {
    const { gap, gap_text: texts, at } = comparison.gaps;
    const { low, high, limits, words } = at[state.level];
    return { numbers: [low, gap, high], texts, limits, words, ...baselineHeadings(comparison.baseline) };
  }
  if (!best) return null;
  const { low, high, limits, in_set: inSet } = best.at[state.level];
  const words = [...inSet].map((digit) => ["no", "yes", "no, borderline", "yes, borderline"][digit]);
  return {
    numbers: [low, best.gap, high],
    texts: best.gap_text,
    limits,
    words,
    possible: [...inSet].map((digit) => digit % 2 === 1),
    title: "gap to the best other",
    said: "may be best",
  };
}
const baselineHeadings = (run) => ({ title: `difference from ${data.runs[run]}`, said: "verdict" });
// Differences from a run that the reader chose, of the pairs that the page holds.
function chosenBaseline() {
  const run = state.baseline;
  const pairs = data.runs.map((_, other) => (other === run ? null : findPair(other, run)));
  const each = (value) => pairs.map((pair) => (pair ? value(pair) : null));
  const written = (text) => text.replaceAll("-", "−");
  return {
    numbers: [each((pair) => valueOf(pair.low)), each((pair) => valueOf(pair.difference)), each((pair) => valueOf(pair.high))],
    texts: pairs.map((pair) => (pair ? written(pair.difference) : none)),
    limits: pairs.map((pair) => (pair ? written(pair.limits) : none)),
    words: data.runs.map((_, other) => (other === run ? "baseline" : (word(other, run) ?? none))),
    ...baselineHeadings(run),
  };
}
function leaderboard() {
  const { name, means } = measure();
  const level = means.at[state.level];
  const unequal = topicsDiffer();
  const limited = level.low.some((value) => value !== null);
  const runs = shownRuns();
  const chosen = planned() ?? state.baseline;
  const scale = barScale([level.low, means.mean, level.high], runs, { always: chosen === null ? [] : [chosen] });
  const gaps = gapColumns();
  const gapScale = gaps && barScale(gaps.numbers, runs, { numbers: [0], most: 3 });
  const possible = gaps && (gaps.possible ?? gaps.words.map((said) => said === "better"));

  const sized = (text, limits, className, label) => {
    const cell = element("td", undefined, `number ${className}`);
    cell.append(element("span", text, "value"));
    if (limits && text !== none) cell.append(" ", element("span", limits, "limits"));
    if (label) cell.dataset.label = label;
    return cell;
  };
  const line = (run) => {
    const row = element("tr", undefined, gaps && possible[run] ? "possible" : "");
    row.dataset.run = data.runs[run];
    row.append(element("td", means.rank[run] === null ? none : String(means.rank[run]), "number rank"));
    row.append(nameCell(data.runs[run], () => choose(run, run === state.b ? state.a : state.b)));
    if (unequal) row.append(element("td", String(means.topics[run]), "number extra"));
    row.append(sized(means.mean_text[run], limited ? level.limits[run] : "", "mean"), drawnBar(scale, run));
    if (gaps) {
      const said = element("td", gaps.words[run], "said");
      said.dataset.label = gaps.said;
      const bar = drawnBar(gapScale, run);
      bar.classList.add("gap-bar");
      row.append(sized(gaps.texts[run], gaps.limits[run], "gap", "gap"), bar, said);
    }
    return row;
  };
  const columns = [
    { title: "rank", number: true, small: true, className: "rank", value: (row) => means.rank[row.run] },
    { title: "run", value: (row) => data.runs[row.run] },
  ];
  if (unequal) columns.push({ title: `${means.unit}s`, number: true, className: "extra", value: (row) => means.topics[row.run] });
  const interval = limited ? ` [${levelText()}\u00a0CI]` : "";
  columns.push(
    { title: `${name}${interval}`, number: true, className: "mean", value: (row) => means.mean[row.run] },
    { content: [ticks(scale)], className: "bar" },
  );
  if (gaps) {
    columns.push(
      { title: `${gaps.title} [CI]`, number: true, className: "gap", value: (row) => gaps.numbers[1][row.run] },
      { content: [ticks(gapScale)], className: "bar gap-bar" },
      { title: gaps.said, className: "said", value: (row) => gaps.words[row.run] },
    );
  }
  const table = byId("leaderboard-table");
  table.style.setProperty("--grid", grid(scale));
  if (gaps) table.style.setProperty("--gap-grid", grid(gapScale));
  sortable(table, columns, runs.map((run) => ({ run, line: () => line(run) })));
  leaderboardNote(runs, gaps, limited, [...new Set([...scale.clipped, ...(gaps ? gapScale.clipped : [])])]);
  relink();
}
// Lines at the ticks, drawn as a background.
const grid = (scale) =>
  scale.ticks
    .map(([, at]) => `linear-gradient(to right, transparent calc(${at}% - .5px), var(--line) 0 calc(${at}% + .5px), transparent 0)`)
    .join(", ") || "none";
// Runs without a score have no mean, and no topics either.
const topicsDiffer = () => new Set(measure().means.topics.filter((count) => count > 0)).size > 1;
function leaderboardNote(runs, gaps, limited, clipped) {
  const { name, means, best, comparison } = measure();
  const said = [`${name}: means over ${means.over}`];
  if (limited) said[0] += ` with ${levelText()} confidence intervals (CI) by the method ${means.method}`;
  if (planned() !== null) said.push(`Differences have simultaneous intervals for ${counted(data.runs.length - 1, "comparison")} with ${isolated(data.runs[planned()])}`);
  else if (state.baseline !== null) said.push(`Differences have simultaneous intervals for all ${comparison ? comparison.pairs : ""} pairs: the baseline was chosen with the results in view`);
  else if (best) said.push("A gap is the run’s mean less the best of the others, with simultaneous intervals (Hsu 1984); a run may be best unless the upper end of its interval is 0");
  if (runs.some((run) => gaps && gaps.words[run].endsWith("borderline"))) said.push("Borderline: other random draws might change it");
  if (clipped.length) said.push(`Outside the scale: ${listed(clipped.map((run) => isolated(data.runs[run])))}`);
  const all = data.runs.length;
  const count = matching(measure().order).length;
  byId("leaderboard-note").textContent = `${said.join(". ")}.`;
  byId("runs-shown").textContent = runs.length < all ? `${runs.length} of ${all} runs shown.` : "";
  const button = byId("all-runs");
  button.hidden = count <= FEW_RUNS || Boolean(state.filter);
  button.textContent = state.all ? `Show the best ${RUNS_SHOWN}` : `Show all ${all} runs`;
}
