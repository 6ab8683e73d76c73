// The comparison of run a with run b; null if the page does not hold this pair.
function findPair(a, b) {
  const pairs = measure().comparison;
  if (!pairs) return null;
  for (let place = 0; place < pairs.first.length; place += 1) {
    const turned = pairs.first[place] === a && pairs.second[place] === b;
    if (turned || (pairs.second[place] === a && pairs.first[place] === b)) return pairAt(place, turned);
  }
  return null;
}
function pairAt(place, turned) {
  const pairs = measure().comparison;
  const at = pairs.at[state.level];
  const word = pairs.verdicts[at.verdict[place]];
  const [low, high] = turned ? [opposed(at.high[place]), opposed(at.low[place])] : [at.low[place], at.high[place]];
  const open = turned ? -at.open[place] : at.open[place];
  return {
    run: turned ? pairs.first[place] : pairs.second[place],
    other: turned ? pairs.second[place] : pairs.first[place],
    difference: turned ? opposed(pairs.difference[place]) : pairs.difference[place],
    low,
    high,
    limits: low === none ? none : `${open > 0 ? "(" : "["}${low}, ${high}${open < 0 ? ")" : "]"}`,
    p: pairs.p_adjusted[place],
    p_text: pairs.p_text[place],
    p_phrase: pairs.p_phrase[place],
    wins: turned ? pairs.losses[place] : pairs.wins[place],
    ties: pairs.ties[place],
    losses: turned ? pairs.wins[place] : pairs.losses[place],
    verdict: turned ? opposite[word] || word : word,
    borderline: at.borderline[place] ? ", borderline" : "",
    reason: at.reason[place],
    next: at.next[place],
  };
}
function verdict() {
  const target = byId("verdict");
  if (!target) return;
  const nextStep = byId("next-step");
  nextStep.textContent = "";
  const [a, b] = [isolated(data.runs[state.a]), isolated(data.runs[state.b])];
  if (state.a === state.b) {
    target.textContent = "Choose two different runs.";
    return;
  }
  if (!measure().comparison) {
    target.textContent = "";
    return;
  }
  const names = { run: a, other: b, measure: measure().name };
  const said = (found) => measure().comparison.said[found].replace(/\{(\w+)\}/g, (_, key) => names[key]);
  const pair = findPair(state.a, state.b);
  if (!pair) {
    const found = word(state.a, state.b);
    const compared = planned() === null ? "the best runs" : `runs with ${isolated(data.runs[planned()])}`;
    target.textContent = found
      ? `${said(found)}; confir compare has the interval of this pair.`
      : `This page compares ${compared} by ${names.measure}, not ${a} with ${b}; confir compare lists all pairs.`;
    return;
  }
  const limits = pair.limits === none ? "no interval" : `${measure().comparison.interval}${levelText()} CI ${pair.limits}`;
  const reason = pair.reason ? `, ${pair.reason}` : "";
  const numbers = `${pair.difference}, ${limits}, ${pair.p_phrase}${reason}`.replaceAll("-0.", "−0.");
  target.textContent =
    `${said(pair.verdict)}${pair.borderline} (${numbers}); ` +
    `${measure().means.unit}s won ${pair.wins}, tied ${pair.ties}, lost ${pair.losses}.`;
  nextStep.textContent = pair.next;
}
function pairTable() {
  const details = byId("pair-details");
  if (!details) return;
  const pairs = measure().comparison;
  details.hidden = !pairs;
  if (!details.open || !pairs) return;
  const columns = [
    { title: "run", value: (row) => data.runs[row.run] },
    { title: "against", value: (row) => data.runs[row.other] },
    { title: "difference", number: true, value: (row) => valueOf(row.difference) },
    { title: `${pairs.interval}${levelText()} interval`, number: true, value: (row) => valueOf(row.low) },
    { title: "adjusted p", number: true, small: true, value: (row) => row.p },
    { title: "won/tied/lost", number: true, value: (row) => row.wins },
    { title: "verdict", value: (row) => row.verdict },
  ];
  const line = (pair) => {
    const row = element("tr");
    row.append(nameCell(data.runs[pair.run]), nameCell(data.runs[pair.other]));
    const texts = [
      pair.difference,
      pair.limits,
      pair.p_text,
      `${pair.wins}/${pair.ties}/${pair.losses}`,
    ];
    row.append(...texts.map((text) => element("td", text, "number")), element("td", pair.verdict + pair.borderline));
    return row;
  };
  const shown = pairs.first
    .map((_, place) => pairAt(place, pairs.difference[place].startsWith("-")))
    .filter((pair) => matches(data.runs[pair.run]) && matches(data.runs[pair.other]));
  const rows = shown.map((pair) => ({ ...pair, line: () => line(pair) }));
  sortable(byId("pair-table"), columns, rows);
}

