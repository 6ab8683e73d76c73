// The state in the address, such as #measure=AP&level=0.99&pair=a,b: views can be linked and reloaded.
const encoded = (text) => encodeURIComponent(text).replace(/%(40|3A|2F)/g, (code) => decodeURIComponent(code));
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
const initial = { ...state };
function address(part) {
  const fields = [["measure", measure().name], ["level", state.level]];
  const words = fields.map(([key, value]) => `${key}=${encoded(value)}`);
  words.push(`pair=${encoded(data.runs[state.a])},${encoded(data.runs[state.b])}`);
  if (state.baseline !== null) words.push(`baseline=${encoded(data.runs[state.baseline])}`);
  if (state.topic !== null) words.push(`topic=${encoded(data.topics[state.topic])}`);
  if (state.filter) words.push(`runs=${encoded(state.filter)}`);
  if (state.all) words.push("rows=all");
  if (part) words.push(`part=${encoded(part)}`);
  return `#${words.join("&")}`;
}
// The state that an address names. What is not on the page keeps its initial value, and the page says so.
function stateOfAddress() {
  const found = new Map(
    location.hash.slice(1).split("&").filter((word) => word.includes("=")).map((word) => {
      const at = word.indexOf("=");
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  const wanted = { ...initial };
  const lacking = [];
  const take = (key, names, set) => {
    if (!found.has(key)) return;
    const texts = (key === "pair" ? found.get(key).split(",") : [found.get(key)]).map(decoded);
    const places = texts.map((text) => names.indexOf(text));
    if (places.includes(-1)) lacking.push(`${names === data.runs ? "run" : key} ${isolated(texts[places.indexOf(-1)])}`);
    else set(...places);
  };
  take("measure", data.measures.map(({ name }) => name), (place) => (wanted.measure = place));
  const levels = [...byId("level").options].map(({ value }) => value);
  take("level", levels, (place) => (wanted.level = levels[place]));
  take("pair", data.runs, (a, b = wanted.b) => ([wanted.a, wanted.b] = [a, b]));
  if (byId("baseline")) take("baseline", data.runs, (place) => (wanted.baseline = place));
  take("topic", data.topics, (place) => (wanted.topic = place));
  wanted.filter = decoded(found.get("runs") ?? "");
  wanted.all = found.get("rows") === "all";
  byId("lacking").hidden = !lacking.length;
  byId("lacking").textContent = `The address names what is not on this page: ${listed(lacking)}.`;
  return { wanted, part: decoded(found.get("part") ?? "") };
}
// Changes the state, the page and the address. Typing in the filter adds nothing to the history.
function change(changes, { typed = false, part = "" } = {}) {
  if (Object.keys(changes).every((key) => state[key] === changes[key]) && !part) return;
  show(changes);
  const next = address(part);
  byId("lacking").hidden = true;
  if (next === location.hash) return;
  if (typed) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
}
function follow() {
  const { wanted, part } = stateOfAddress();
  show(Object.fromEntries(Object.entries(wanted).filter(([key, value]) => state[key] !== value)));
  reveal(part);
}
// Scrolls to a part of the page, and unfolds it.
function reveal(id) {
  const part = id && byId(id);
  if (!part) return;
  if (part.matches("details")) part.open = true;
  part.scrollIntoView();
}
