// Runs are highlighted everywhere at once: the one under the pointer, and those of the chosen pair.
let pointed = null;
const partsOf = new Map(); // figure → run → the marks that show it
function index(figure) {
  const found = new Map();
  for (const mark of figure.querySelectorAll(".view path, .view text")) {
    const datum = mark.__data__ && mark.__data__.datum;
    const run = datum && datum.run;
    if (typeof run !== "string") continue;
    if (!found.has(run)) found.set(run, []);
    found.get(run).push(mark);
  }
  partsOf.set(figure, found);
}
function point(run) {
  if (run === pointed) return;
  pointed = run;
  relink();
}
function relink() {
  const unchanged = state.a === initial.a && state.b === initial.b;
  const chosen = unchanged ? [] : [data.runs[state.a], data.runs[state.b]];
  for (const row of byId("leaderboard-table").tBodies[0].rows) {
    row.classList.toggle("pointed", row.dataset.run === pointed);
    row.classList.toggle("chosen-run", chosen.includes(row.dataset.run));
  }
  for (const found of partsOf.values()) {
    for (const [run, marks] of found) {
      for (const one of marks) {
        one.classList.toggle("pointed", run === pointed);
        one.classList.toggle("chosen-run", chosen.includes(run));
      }
    }
  }
  for (const label of document.querySelectorAll("svg [data-run]")) {
    label.classList.toggle("pointed", label.dataset.run === pointed);
    label.classList.toggle("chosen-run", chosen.includes(label.dataset.run));
  }
}
document.addEventListener("pointerover", (event) => {
  const row = event.target.closest && event.target.closest("[data-run]");
  if (row) point(row.dataset.run);
  else if (!event.target.closest || !event.target.closest(".plot")) point(null);
});
