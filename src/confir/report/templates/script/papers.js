// The leaderboard for a paper: in the chosen layout, by the chosen measure and baseline.
function papers() {
  const select = byId("layout");
  if (!select) return;
  const { means } = measure();
  const { plain, marked } = means.papers;
  const chosen = planned() === null && state.baseline !== null && marked;
  byId("paper").textContent = chosen ? markedPaper(marked, select.value) : plain[select.value];
}
// Rows with marks against the baseline: each line is taken from the table that has its mark.
function markedPaper(tables, layout) {
  const [bare, better, worse] = tables.map((table) => table[layout].split("\n"));
  const order = measure().order.slice();
  const lines = bare.map((line, place) => {
    if (line === better[place] || !order.length) return line;
    const said = word(order.shift(), state.baseline);
    return { better: better[place], worse: worse[place] }[said] ?? line;
  });
  const name = data.runs[state.baseline].replace(/[\x00-\x1f]/g, " ");
  const note = layout === "Markdown" ? `\nBaseline: ${name.replace(/[^\w\s.@-]/g, "\\$&")}\n` : `% baseline: ${name}\n`;
  return lines.join("\n") + note;
}
