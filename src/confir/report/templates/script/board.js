// The leaderboard: means, ranks and verdicts of the runs that match the filter.
function leaderboard() {
  const { name, order, means, ranks, comparison, best } = measure();
  const level = means.at[state.level];
  const ranking = ranks && ranks.at[state.level];
  const chosen = reference();
  const judged = comparison && (comparison.held.includes(chosen) || null);
  const inSet = best && best.at[state.level];
  const unequal = topicsDiffer();
  const limited = level.low.some((value) => value !== null);
  const places = matching(order);
  const ends = places.flatMap((run) => [level.low[run], level.high[run], means.mean[run]]).filter((x) => x !== null);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const share = (value) => (most > least ? (100 * (value - least)) / (most - least) : 50);

  const verdict = (run) => {
    if (run === chosen) return planned() === null && state.baseline === null ? "best" : "baseline";
    return word(run, chosen);
  };
  const bar = (run) => {
    const cell = element("td", undefined, "bar");
    const line = element("span");
    if (level.low[run] !== null && level.high[run] !== null) {
      const range = element("i");
      range.style.left = `${share(level.low[run])}%`;
      range.style.width = `${share(level.high[run]) - share(level.low[run])}%`;
      line.append(range);
    }
    if (means.mean[run] !== null) {
      const dot = element("b");
      dot.style.left = `${share(means.mean[run])}%`;
      line.append(dot);
    }
    cell.append(line);
    return cell;
  };
  const against = `against ${planned() === null && state.baseline === null ? "the best" : data.runs[chosen]}`;
  // On a phone a cell stands below its name, not below its heading.
  const labelled = (cell, label) => {
    cell.dataset.label = label;
    return cell;
  };
  const possible = (run) => ["no", "yes", "no, borderline", "yes, borderline"][inSet[run]];
  const number = (text, className = "") => element("td", text, `number ${className}`);
  const line = (run, place) => {
    const row = element("tr", undefined, inSet && inSet[run] % 2 ? "possible" : "");
    row.dataset.run = data.runs[run];
    row.append(number(ranks ? String(ranks.rank[run]) : unequal ? none : String(place + 1), "rank"));
    row.append(nameCell(data.runs[run], () => choose(run, run === state.b ? state.a : state.b)));
    if (unequal) row.append(number(String(means.topics[run]), "extra"));
    row.append(number(means.mean_text[run], "mean"));
    if (limited) row.append(number(level.limits[run], "limits"));
    row.append(bar(run));
    if (ranks) row.append(number(ranking.limits[run], "extra"), number(ranks.share_first_text[run], "extra"));
    if (inSet) row.append(labelled(element("td", possible(run), "in-set"), "may be best"));
    if (judged) row.append(labelled(element("td", verdict(run), "verdict-word"), against));
    return row;
  };
  const scale = element("span", undefined, "scale");
  if (ends.length) scale.append(element("span", decimals(least)), element("span", decimals(most)));
  const columns = [
    { title: "rank", number: true, small: true, className: "rank", value: (row) => (ranks ? ranks.rank[row.run] : row.place) },
    { title: "run", value: (row) => data.runs[row.run] },
  ];
  if (unequal) columns.push({ title: "topics", number: true, className: "extra", value: (row) => means.topics[row.run] });
  columns.push({ title: name, number: true, value: (row) => means.mean[row.run] });
  if (limited) {
    columns.push({ title: `${levelText()} interval`, number: true, className: "limits", value: (row) => level.low[row.run] });
  }
  columns.push({ content: [scale], className: "bar" });
  if (ranks) {
    columns.push(
      { title: "rank interval", number: true, small: true, className: "extra", value: (row) => ranking.low[row.run] },
      { title: "first in", number: true, className: "extra", value: (row) => ranks.share_first[row.run] },
    );
  }
  if (inSet) columns.push({ title: "may be best", value: (row) => 1 - (inSet[row.run] % 2) });
  if (judged) {
    columns.push({ title: against, className: "against", value: (row) => verdict(row.run) });
  }
  const rows = places.map((run, place) => ({ run, place, line: () => line(run, place) }));
  sortable(byId("leaderboard-table"), columns, rows);
  leaderboardNote(places.length, limited, Boolean(judged));
  relink();
}
// Runs without a score have no mean, and no topics either.
const topicsDiffer = () => new Set(measure().means.topics.filter((count) => count > 0)).size > 1;
function leaderboardNote(shown, limited, judged) {
  const { name, means, ranks, best } = measure();
  const said = [`${name}: means over ${means.over}`];
  if (limited) said[0] += `, ${levelText()} intervals by the method ${means.method}`;
  if (ranks && ranks.topics !== means.over) said.push(`Runs are ranked on the ${ranks.topics} that all of them have`);
  if (ranks) said.push("A rank interval is for its run alone, not for all runs at once");
  if (ranks && ranks.at[state.level].limits.some((limits) => limits.endsWith("borderline"))) said.push("Other replicates might change what is called borderline");
  if (ranks) said.push("“first in” is the share of bootstrap samples of the topics in which the run ranks first");
  if (best) said.push(`“may be best” says whether the run is in the ${levelText()} confidence set of the best run`);
  if (judged) {
    const against = isolated(data.runs[reference()]);
    said.push(`The last column says whether the run is significantly better or worse than ${against}`);
  }
  if (shown < data.runs.length) said.unshift(`${shown} of ${data.runs.length} runs shown`);
  byId("leaderboard-note").textContent = `${said.join(". ")}.`;
}
