// What happens when the reader chooses something, and the start of the page.
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
  baseline: () => {
    answer();
    leaderboard();
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
offer("baseline", "the best run");
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
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const part = link.hash.slice(1);
    change({}, { part });
    byId(part).scrollIntoView();
  });
}
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
const { wanted, part } = asked();
Object.assign(state, wanted);
document.documentElement.classList.add("scripted");
show({ ...wanted });
if (part && byId(part)) byId(part).scrollIntoView();
window.addEventListener("popstate", follow);
window.addEventListener("hashchange", follow);
darkScheme.addEventListener("change", () => redraw());
