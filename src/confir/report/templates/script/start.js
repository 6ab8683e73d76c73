// What changes when the reader chooses something, and the start of the page.
function choose(a, b) {
  change({ a, b });
}
const shows = {
  measure: () => {
    for (const part of document.querySelectorAll("[data-measure]")) {
      part.hidden = part.dataset.measure !== measure().name;
    }
    answer();
    leaderboard();
    papers();
    pairTable();
    verdict();
    topics();
    lists();
    behindAll();
    redraw();
  },
  level: () => {
    answer();
    leaderboard();
    pairTable();
    verdict();
    redraw(["pairs", ...partsThat((chart) => chart.level !== null)]);
  },
  filter: () => {
    leaderboard();
    pairTable();
    topics();
    behindAll();
    clearTimeout(typing);
    typing = setTimeout(() => redraw(["pairs", "topics", ...partsThat((chart) => chart.by_run)]), 250);
  },
  all: () => {
    leaderboard();
    redraw(partsThat((chart) => chart.by_run));
  },
  baseline: () => {
    answer();
    leaderboard();
    papers();
    if (state.baseline !== null && state.b !== state.baseline) {
      choose(state.a === state.baseline ? state.b : state.a, state.baseline);
    }
  },
  pair: () => {
    verdict();
    topics();
    lists();
    relink();
    redraw(["pairs", "topics", "differences"].filter((part) => part !== "pairs" || planned() === null));
  },
  topic: lists,
};
let typing = 0;
function show(changes) {
  Object.assign(state, changes);
  byId("measure").value = String(state.measure);
  byId("level").value = state.level;
  if (byId("filter").value !== state.filter) byId("filter").value = state.filter;
  if (byId("baseline")) byId("baseline").value = state.baseline === null ? "" : String(state.baseline);
  for (const [id, run] of [["run-a", state.a], ["run-b", state.b]]) {
    if (byId(id)) byId(id).value = String(run);
  }
  const keys = new Set(Object.keys(changes).map((key) => (key === "a" || key === "b" ? "pair" : key)));
  if (keys.has("measure")) shows.measure();
  else for (const key of keys) shows[key]();
}
function offer(id, first) {
  const select = byId(id);
  if (!select) return;
  const options = data.measures[0].order.map((run) => {
    const option = element("option", data.runs[run]);
    option.value = String(run);
    option.dir = "auto";
    return option;
  });
  if (first) options.unshift(Object.assign(element("option", first), { value: "" }));
  select.replaceChildren(...options);
}

byId("measure").addEventListener("change", (event) => change({ measure: Number(event.target.value) }));
byId("level").addEventListener("change", (event) => change({ level: event.target.value }));
byId("filter").addEventListener("input", (event) => change({ filter: event.target.value }, { typed: true }));
offer("run-a");
offer("run-b");
offer("baseline", "none");
for (const id of ["run-a", "run-b"]) {
  if (!byId(id)) continue;
  byId(id).addEventListener("change", () => choose(Number(byId("run-a").value), Number(byId("run-b").value)));
}
if (byId("baseline")) {
  byId("baseline").addEventListener("change", ({ target }) => {
    change({ baseline: target.value === "" ? null : Number(target.value) });
  });
}
for (const details of document.querySelectorAll("[data-table]")) {
  details.addEventListener("toggle", () => behind(details));
}
if (byId("pair-details")) byId("pair-details").addEventListener("toggle", pairTable);
if (byId("layout")) byId("layout").addEventListener("change", papers);
byId("all-runs").addEventListener("click", () => change({ all: !state.all }));
for (const part of document.querySelectorAll("details.part")) {
  part.addEventListener("toggle", () => {
    if (!part.open) return;
    pump();
    join();
  });
  part.querySelector("summary").addEventListener("click", () => {
    if (!part.open) change({}, { part: part.id });
  });
}
for (const link of document.querySelectorAll("a.within")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    reveal(link.hash.slice(1));
  });
}
// On paper the leaderboard has all runs that match the filter.
let before = false;
window.addEventListener("beforeprint", () => {
  before = state.all;
  state.all = true;
  leaderboard();
});
window.addEventListener("afterprint", () => {
  state.all = before;
  leaderboard();
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = byId(button.dataset.copy);
    getSelection().selectAllChildren(text);
    if (!navigator.clipboard) return;
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
}

// The pair at first: the best two runs, or the best other run and the baseline.
const order = data.measures[0].order;
if (planned() === null) [initial.a, initial.b] = [order[0], order[Math.min(1, order.length - 1)]];
else [initial.a, initial.b] = [order.find((run) => run !== planned()), planned()];
const bundle = element("script");
bundle.textContent = await unpack("packed-bundle");
document.head.append(bundle);
const { wanted, part } = stateOfAddress();
Object.assign(state, wanted);
document.documentElement.classList.add("scripted");
if (!bundle.textContent) document.documentElement.classList.add("still");
show({ ...wanted });
reveal(part);
window.addEventListener("popstate", follow);
window.addEventListener("hashchange", follow);
darkScheme.addEventListener("change", () => redraw());
