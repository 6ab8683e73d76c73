// The answer for the chosen measure, level and baseline.
function answer() {
  const sentences =
    state.baseline === null || planned() !== null
      ? data.answers[state.measure][state.level]
      : baselineSentences(state.baseline);
  const [lead, ...rest] = sentences;
  document.querySelector("#answer .lead").textContent = lead;
  document.querySelector("#answer .findings").replaceChildren(...rest.map((text) => element("li", text)));
}
// About a run that the reader chose after seeing the results: the comparison of all pairs holds.
function baselineSentences(run) {
  const name = isolated(data.runs[run]);
  const { order, means, comparison } = measure();
  const mean = `${name} has rank ${order.indexOf(run) + 1} of ${order.length} by ${measure().name}, with a mean of ${means.mean_text[run]}.`;
  const own = `confir report --baseline compares the others with ${name} alone, in fewer tests, and may find more.`;
  if (!comparison || !comparison.held.includes(run)) {
    return [mean, `This page contains the comparisons of the best runs; ${own}`];
  }
  const runs = new Map();
  for (const other of order) {
    if (other === run) continue;
    const found = word(other, run);
    runs.set(found, [...(runs.get(found) || []), other]);
  }
  const said = {
    better: `significantly better than ${name}`,
    worse: "significantly worse",
    inconclusive: "inconclusive",
    equivalent: "equivalent to it",
    identical: "identical to it",
    "not compared": "not compared with it, for lack of common topics",
  };
  const parts = Object.entries(said)
    .filter(([key]) => key === "better" || runs.has(key))
    .map(([key, text]) => {
      const count = (runs.get(key) || []).length;
      return `${count || "none"} ${count === 1 ? "is" : "are"} ${text}`;
    });
  const how = `${comparison.interval}${levelText()} intervals, all pairs`;
  const better = runs.get("better") || [];
  return [
    `Of ${counted(order.length - 1, "other run")} by ${measure().name}, ${listed(parts, 9)} (${how}).`,
    ...better.slice(0, 3).map((other) => described(other, run)),
    ...(better.length > 3
      ? [`Also significantly better than ${name}: ${listed(better.slice(3).map((r) => isolated(data.runs[r])))}.`]
      : []),
    mean,
    own,
  ];
}
// By how much a run is above a baseline, and on which topics.
function described(run, baseline) {
  const pair = findPair(run, baseline);
  const { scores } = measure().topic_difficulty;
  const gains = data.topics
    .map((topic, t) => ({ topic, gain: scores[run][t] - scores[baseline][t], known: scores[run][t] !== null && scores[baseline][t] !== null }))
    .filter(({ gain, known }) => known && gain > 1e-12)
    .sort((x, y) => y.gain - x.gain)
    .slice(0, 3);
  const size = pair ? `: ${pair.difference} ${pair.limits}` : "";
  const topics = gains.length ? `; it gains most on topics ${listed(gains.map(({ topic }) => isolated(topic)))}` : "";
  return `${isolated(data.runs[run])} minus ${isolated(data.runs[baseline])}${size}${topics}.`;
}
