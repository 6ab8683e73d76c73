// Shows the ranked lists of both runs on a topic, side by side.
function openTopic(topic) {
  change({ topic });
  byId("lists").scrollIntoView({ block: "nearest" });
  byId("lists").focus({ preventScroll: true });
}
function lists() {
  const part = byId("lists");
  if (!part) return;
  [...byId("topic-table").tBodies[0].rows].forEach(markTopic);
  part.hidden = state.topic === null || state.a === state.b;
  if (part.hidden) return;
  const [a, b] = [state.a, state.b];
  const topic = isolated(data.topics[state.topic]);
  byId("lists-title").textContent = `Topic ${topic}: both ranked lists`;
  const { scores } = measure().topic_difficulty;
  const score = (run) => decimals(scores[run][state.topic]);
  const said = `${measure().name}: ${isolated(data.runs[a])} ${score(a)}, ${isolated(data.runs[b])} ${score(b)}.`;
  const [first, second] = [a, b].map((run) => heldList(run, state.topic));
  const both = first && second;
  byId("lists-body").hidden = !both;
  byId("lists-note").textContent = `${said} ${both ? describedLists(first, second) : missingLists()}`;
  if (!both) return;
  byId("lists-body").replaceChildren(listOf(a, first, second), listOf(b, second, first));
  requestAnimationFrame(join);
}
// The documents of a run's list; null where the page does not hold it.
function heldList(run, topic) {
  if (!data.lists) return null;
  const [place, row] = [data.lists.runs.indexOf(run), data.lists.topics.indexOf(topic)];
  if (place < 0 || row < 0) return null;
  const { documents, grades, lists: held } = data.lists.by_topic[row];
  return held[place].map((d) => ({ id: documents[d], grade: grades[d] }));
}
function describedLists(first, second) {
  const shared = first.filter(({ id }) => second.some((other) => other.id === id)).length;
  const unjudged = [first, second].map((all) => all.filter(({ grade }) => grade === null).length);
  return `The first ${data.lists.depth} documents of each list, with grades of the qrels; ${shared} in both. Unjudged (?): ${unjudged.join(" and ")}.`;
}
function missingLists() {
  if (!data.lists) return "This page was written from scores alone, without ranked lists.";
  const runs = listed(data.lists.runs.map((run) => isolated(data.runs[run])), 12);
  const topics = data.lists.topics.length === data.topics.length ? "all topics" : `the ${data.lists.topics.length} topics with the largest differences`;
  return `This page contains the lists of ${runs}, for ${topics}.`;
}
function listOf(run, documents, others) {
  const column = element("div", undefined, "ranked");
  const heading = element("h5", data.runs[run]);
  heading.dir = "auto";
  const list = element("ol");
  documents.forEach(({ id, grade }, place) => {
    const item = element("li");
    item.dataset.document = id;
    const moved = others.findIndex((other) => other.id === id);
    item.append(
      element("span", String(place + 1), "place"),
      element("span", grade === null ? "?" : String(grade), `grade ${grade === null ? "unjudged" : grade > 0 ? "relevant" : "other"}`),
      element("span", id, "docid"),
      element("span", movedText(place, moved), "moved"),
    );
    item.children[1].title = grade === null ? "unjudged" : `grade ${grade}`;
    item.children[1].setAttribute("aria-label", grade === null ? "unjudged" : `grade ${grade}`);
    item.children[1].setAttribute("role", "img");
    list.append(item);
  });
  column.append(heading, list);
  return column;
}
function movedText(place, other) {
  if (other < 0) return `not in top ${data.lists.depth} there`;
  if (other === place) return "same rank";
  return `rank ${other + 1} there`;
}
// Draws lines between the places of a document in both lists.
function join() {
  const body = byId("lists-body");
  body.querySelector("svg")?.remove();
  const [left, right] = body.querySelectorAll("ol");
  if (!left || !right) return;
  const box = body.getBoundingClientRect();
  const svg = drawn("svg", { width: box.width, height: box.height, "aria-hidden": "true" });
  const places = new Map([...right.children].map((item) => [item.dataset.document, item]));
  for (const item of left.children) {
    const other = places.get(item.dataset.document);
    if (!other) continue;
    const [from, to] = [item.getBoundingClientRect(), other.getBoundingClientRect()];
    const [y1, y2] = [from, to].map((place) => place.top + place.height / 2 - box.top);
    svg.append(drawn("line", { x1: from.right - box.left, y1, x2: to.left - box.left, y2 }));
  }
  body.append(svg);
}
window.addEventListener("resize", join);
