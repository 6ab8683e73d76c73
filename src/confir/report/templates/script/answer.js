// The answer for the chosen measure, level and baseline, and the conclusions of the folded parts.
function answer() {
  const { lead, findings, conclusions } = data.answers[state.measure][state.level];
  const chosen = state.baseline !== null && planned() === null ? baselineSentences(state.baseline) : [lead, ...findings];
  document.querySelector("#answer .lead").textContent = chosen[0];
  document.querySelector("#answer .findings").replaceChildren(...chosen.slice(1).map((text) => element("li", text)));
  for (const line of document.querySelectorAll("[data-conclusion]")) {
    line.textContent = conclusions[line.dataset.conclusion] ?? "";
  }
}
// Sentences about a baseline that the reader chose after seeing the results, from the comparisons of all pairs.
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
    `Of ${counted(order.length - 1, "other run")}, ${[parts.slice(0, -1).join(", "), parts.at(-1)].filter(Boolean).join(" and ")} by ${measure().name} (${how}).`,
    ...(better.length ? [`Significantly better than ${name}: ${listed(better.map((r) => isolated(data.runs[r])))}.`] : []),
    mean,
    own,
  ];
}
