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
  if (part) words.push(`part=${encoded(part)}`);
  return `#${words.join("&")}`;
}
// What an address asks for; names that the page does not know are ignored.
function asked() {
  const found = new Map(
    location.hash.slice(1).split("&").filter((word) => word.includes("=")).map((word) => {
      const at = word.indexOf("=");
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  const place = (names, text) => names.indexOf(decoded(text ?? ""));
  const wanted = { ...initial };
  const measure = place(data.measures.map(({ name }) => name), found.get("measure"));
  if (measure >= 0) wanted.measure = measure;
  const levels = [...byId("level").options].map(({ value }) => value);
  if (place(levels, found.get("level")) >= 0) wanted.level = decoded(found.get("level"));
  const pair = (found.get("pair") ?? "").split(",").map((name) => place(data.runs, name));
  if (pair.length === 2 && !pair.includes(-1)) [wanted.a, wanted.b] = pair;
  const baseline = place(data.runs, found.get("baseline"));
  if (baseline >= 0 && byId("baseline")) wanted.baseline = baseline;
  const topic = place(data.topics, found.get("topic"));
  if (topic >= 0) wanted.topic = topic;
  wanted.filter = decoded(found.get("runs") ?? "");
  return { wanted, part: decoded(found.get("part") ?? "") };
}
// Changes the state, the address and what shows it. Letters of a filter make no history.
function change(changes, { typed = false, part = "" } = {}) {
  if (Object.keys(changes).every((key) => state[key] === changes[key]) && !part) return;
  show(changes);
  const next = address(part);
  if (next === location.hash) return;
  if (typed) history.replaceState(null, "", next);
  else history.pushState(null, "", next);
}
function follow() {
  const { wanted, part } = asked();
  show(Object.fromEntries(Object.entries(wanted).filter(([key, value]) => state[key] !== value)));
  if (part && byId(part)) byId(part).scrollIntoView();
}
