// The records of the two charts of topics, in the fields that their specifications name.
function topicRecords() {
  const { scores, lowest, median, highest } = spread();
  const places = data.topics.map((_, place) => place).filter((t) => median[t] !== null);
  places.sort((x, y) => median[x] - median[y] || x - y);
  return places.map((t) => {
    const [score, other] = [scores[state.a][t], scores[state.b][t]];
    return {
      topic: data.topics[t],
      topic_number: t,
      score,
      other,
      difference: score === null || other === null ? null : score - other,
      lowest: lowest[t],
      median: median[t],
      highest: highest[t],
    };
  });
}
// The scores of all runs on each topic; with a filter, of those that match.
function spread() {
  const difficulty = measure().topic_difficulty;
  const runs = state.filter ? matching(measure().order) : [];
  if (!runs.length) return difficulty;
  const sorted = data.topics.map((_, t) =>
    runs.map((run) => difficulty.scores[run][t]).filter((x) => x !== null).sort((x, y) => x - y),
  );
  const middle = (all) => (all[(all.length - 1) >> 1] + all[all.length >> 1]) / 2;
  const each = (value) => sorted.map((all) => (all.length ? value(all) : null));
  const [lowest, median, highest] = [each((all) => all[0]), each(middle), each((all) => all.at(-1))];
  return { scores: difficulty.scores, lowest, median, highest };
}
const spreadText = () => (state.filter && matching(measure().order).length ? "the runs that match" : "all runs");
function differenceRecords() {
  return topicRecords()
    .filter((record) => record.difference !== null)
    .map((record) => ({ ...record, sign: record.difference > 0 ? "for the run" : "against it" }))
    .sort((x, y) => y.difference - x.difference);
}
// The row of the chosen topic stands out.
function markTopic(row) {
  row.setAttribute("aria-current", String(Number(row.dataset.topic) === state.topic));
}
function topics() {
  const records = topicRecords();
  const pair = state.a !== state.b;
  const [a, b] = [data.runs[state.a], data.runs[state.b]];
  const hardest = records.slice(0, 5).map((record) => isolated(record.topic));
  const held = data.topics.length;
  byId("topics-explain").textContent =
    (held < data.all_topics ? `Shown are the ${held} of ${data.all_topics} ${measure().means.unit}s on which runs differ most. ` : "") +
    (records.length > 1 ? `Hardest by ${measure().name}, by the median of ${spreadText()}: ${hardest.join(", ")}. ` : "") +
    `Shown: ${isolated(a)} compared with ${spreadText()}${pair ? `, and ${isolated(a)} minus ${isolated(b)}; choose others above` : ""}.` +
    (pair && data.lists ? " Choose a topic in a chart or in the table below them to see both ranked lists." : "");
  const columns = [
    { title: measure().means.unit, value: (row) => row.topic },
    { title: a, number: true, value: (row) => row.score },
  ];
  if (pair) {
    columns.push(
      { title: b, number: true, value: (row) => row.other },
      { title: "difference", number: true, signed: true, value: (row) => row.difference },
    );
  }
  for (const name of ["lowest", "median", "highest"]) {
    columns.push({ title: name, number: true, value: (row) => row[name] });
  }
  const line = (record) => {
    const row = element("tr");
    row.dataset.topic = record.topic_number;
    markTopic(row);
    row.append(nameCell(record.topic, () => openTopic(record.topic_number)));
    for (const column of columns.slice(1)) {
      row.append(element("td", decimals(column.value(record), { sign: column.signed }), "number"));
    }
    return row;
  };
  sortable(byId("topic-table"), columns, records.map((record) => ({ ...record, line: () => line(record) })));
}

