// What all parts of the page's script use. The parts share one scope.
const byId = (id) => document.getElementById(id);

async function unpack(id) {
  const letters = atob(byId(id).textContent);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// Names of runs, topics and documents are untrusted: they are only ever set as textContent.
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}
function drawn(name, attributes = {}, text = undefined) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const none = "–";
// Signed numbers as text: the value, for sorting, and the number with the opposite sign.
const valueOf = (text) => (text === none ? null : Number(text));
const opposed = (text) => text.replace(/^[+-]/, (sign) => (sign === "+" ? "-" : "+"));
// A name isolated from the writing direction of the text around it.
const isolated = (name) => (/^[\x00-\x7f]*$/.test(name) ? name : `\u2068${name}\u2069`);
// Names for a sentence: the first few if they are many.
function listed(names, most = 5) {
  const rest = names.length - most;
  return `${names.slice(0, most).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const [data, tables, charts] = (
  await Promise.all(["packed-data", "packed-tables", "packed-charts"].map(unpack))
).map((text) => JSON.parse(text));
// What the reader chose: indices of measure, runs and topic, the key of the level, and the filter.
const state = { measure: 0, level: byId("level").value, filter: "", all: false, baseline: null, a: 0, b: 0, topic: null };
const measure = () => data.measures[state.measure];
const levelText = () => byId("level").selectedOptions[0].text;
// The filter: parts of names, separated by commas; what is in quotation marks is a whole name.
let terms = { text: "", whole: new Set(), parts: [] };
function readFilter(text) {
  const found = [...text.matchAll(/\s*"((?:[^"]|"")*)"\s*(?=,|$)|[^,]+/g)];
  const parts = found.filter(([, name]) => name === undefined).map(([part]) => part.trim().toLowerCase());
  const whole = found.filter(([, name]) => name !== undefined).map(([, name]) => name.replaceAll('""', '"'));
  return { text, whole: new Set(whole), parts: parts.filter(Boolean) };
}
const filterFor = (runs) => runs.map((run) => `"${run.replaceAll('"', '""')}"`).join(", ");
function matches(run) {
  if (terms.text !== state.filter) terms = readFilter(state.filter);
  if (!terms.parts.length && !terms.whole.size) return true;
  return terms.whole.has(run) || terms.parts.some((part) => run.toLowerCase().includes(part));
}
const matching = (places) => places.filter((run) => matches(data.runs[run]));
const opposite = { better: "worse", worse: "better" };
// The baseline that the page was written for; null if all pairs are compared.
const planned = () => (measure().comparison ? measure().comparison.baseline : null);
// How one run compares with another, from its side; null where the page does not hold it.
function word(run, other) {
  const pairs = measure().comparison;
  if (!pairs || run === other) return null;
  const { against } = pairs.at[state.level];
  const [place, back] = [pairs.held.indexOf(run), pairs.held.indexOf(other)];
  if (place >= 0) return pairs.verdicts[against[place][other]];
  if (back < 0) return null;
  const found = pairs.verdicts[against[back][run]];
  return opposite[found] || found;
}
