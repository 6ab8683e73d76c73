(async function () {
  const byId = (id) => document.getElementById(id);

  async function unpack(id) {
    const letters = atob(byId(id).textContent);
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  // Names of runs and topics are untrusted: they are only ever set as textContent.
  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  const none = "–";
  // Signed numbers as text: the value, for sorting, and the number with the opposite sign.
  const valueOf = (text) => (text === none ? null : Number(text));
  const opposed = (text) => text.replace(/^[+-]/, (sign) => (sign === "+" ? "-" : "+"));
  // A name isolated from the writing direction of the text around it.
  const isolated = (name) => (/^[\x00-\x7f]*$/.test(name) ? name : `\u2068${name}\u2069`);

  const [data, tables, charts] = (
    await Promise.all(["packed-data", "packed-tables", "packed-charts"].map(unpack))
  ).map((text) => JSON.parse(text));
  const state = { measure: 0, level: byId("level").value, filter: "", a: 0, b: 0 };
  const measure = () => data.measures[state.measure];
  const levelText = () => byId("level").selectedOptions[0].text;
  const matches = (run) => run.toLowerCase().includes(state.filter);
  const opposite = { better: "worse", worse: "better" };

  // A table that can be sorted by every column that has a value.
  function sortable(table, columns, rows) {
    if (!table.order || table.order.column >= columns.length) table.order = { column: 0, up: true };
    const order = table.order;
    const head = table.tHead.rows[0];
    const draw = () => {
      const { value } = columns[order.column];
      const sign = order.up ? 1 : -1;
      const compare = (x, y) => {
        const [p, q] = [value(x), value(y)];
        if (p === null || q === null) return (p === null) - (q === null);
        return sign * (typeof p === "string" ? p.localeCompare(q, "en", { numeric: true }) : p - q);
      };
      table.tBodies[0].replaceChildren(...rows.slice().sort(compare).map((row) => row.line()));
      [...head.cells].forEach((cell, place) => {
        if (!columns[place].value) return;
        const here = place === order.column;
        cell.setAttribute("aria-sort", here ? (order.up ? "ascending" : "descending") : "none");
      });
    };
    head.replaceChildren(
      ...columns.map((column, place) => {
        const cell = element("th", undefined, column.number ? "number" : column.className || "");
        cell.scope = "col";
        if (!column.value) {
          cell.append(...column.content);
          return cell;
        }
        const button = element("button", column.title);
        button.type = "button";
        button.dir = "auto";
        button.addEventListener("click", () => {
          const down = column.number && !column.small;
          order.up = order.column === place ? !order.up : !down;
          order.column = place;
          draw();
        });
        cell.append(button);
        return cell;
      }),
    );
    draw();
  }
  function nameCell(name) {
    const cell = element("th", name, name.length > 24 ? "name" : "name short");
    cell.scope = "row";
    cell.dir = "auto";
    return cell;
  }

  function leaderboard() {
    const { name, order, means, ranks, comparison } = measure();
    const level = means.at[state.level];
    const ranking = ranks && ranks.at[state.level];
    const verdicts = comparison && comparison.at[state.level].best_is;
    const unequal = topicsDiffer();
    const best = order[0];
    const limited = level.low.some((value) => value !== null);
    const places = order.filter((run) => matches(data.runs[run]));
    const ends = [...level.low, ...level.high, ...means.mean].filter((value) => value !== null);
    const [least, most] = [Math.min(...ends), Math.max(...ends)];
    const share = (value) => (most > least ? (100 * (value - least)) / (most - least) : 50);

    const verdict = (run) => {
      if (run === best) return "best";
      const word = comparison.verdicts[verdicts[run]];
      return opposite[word] || word;
    };
    const bar = (run) => {
      const cell = element("td", undefined, "bar");
      const line = element("span");
      if (level.low[run] !== null && level.high[run] !== null) {
        const range = element("i");
        range.style.left = `${share(level.low[run])}%`;
        range.style.width = `${share(level.high[run]) - share(level.low[run])}%`;
        line.append(range);
      }
      if (means.mean[run] !== null) {
        const dot = element("b");
        dot.style.left = `${share(means.mean[run])}%`;
        line.append(dot);
      }
      cell.append(line);
      return cell;
    };
    const line = (run, place) => {
      const row = element("tr");
      row.dataset.run = data.runs[run];
      if (verdicts && !["best", "worse"].includes(verdict(run))) row.className = "unclear";
      row.append(element("td", ranks ? String(ranks.rank[run]) : unequal ? none : String(place + 1), "number"));
      row.append(nameCell(data.runs[run]));
      if (unequal) row.append(element("td", String(means.topics[run]), "number"));
      row.append(element("td", means.mean_text[run], "number"));
      if (limited) row.append(element("td", level.limits[run], "number"));
      row.append(bar(run));
      if (ranks) {
        row.append(element("td", ranking.limits[run], "number"));
        row.append(element("td", ranks.share_first_text[run], "number"));
      }
      if (verdicts) row.append(element("td", verdict(run), "verdict-word"));
      return row;
    };
    const scale = element("span", undefined, "scale");
    scale.append(...level.ends.map((end) => element("span", end)));
    const columns = [
      { title: "rank", number: true, small: true, value: (row) => (ranks ? ranks.rank[row.run] : row.place) },
      { title: "run", value: (row) => data.runs[row.run] },
    ];
    if (unequal) columns.push({ title: "topics", number: true, value: (row) => means.topics[row.run] });
    columns.push({ title: name, number: true, value: (row) => means.mean[row.run] });
    if (limited) {
      columns.push({ title: `${levelText()} interval`, number: true, value: (row) => level.low[row.run] });
    }
    columns.push({ content: [scale], className: "bar" });
    if (ranks) {
      columns.push(
        { title: "rank interval", number: true, small: true, value: (row) => ranking.low[row.run] },
        { title: "first in", number: true, value: (row) => ranks.share_first[row.run] },
      );
    }
    if (verdicts) columns.push({ title: "against the best", value: (row) => verdict(row.run) });
    const rows = places.map((run, place) => ({ run, place, line: () => line(run, place) }));
    sortable(byId("leaderboard-table"), columns, rows);
    leaderboardNote(places.length, limited);
  }
  // Runs without a score have no mean, and no topics either.
  const topicsDiffer = () => new Set(measure().means.topics.filter((count) => count > 0)).size > 1;
  function leaderboardNote(shown, limited) {
    const { name, means, ranks, comparison } = measure();
    const said = [`${name}: means over ${means.over}`];
    if (limited) said[0] += `, ${levelText()} intervals by the method ${means.method}`;
    if (ranks && ranks.topics !== means.over) said.push(`Runs are ranked on the ${ranks.topics} that all of them have`);
    if (ranks) said.push("A rank interval holds for its run; the chart adds those that hold for all runs at once");
    if (ranks) said.push("“first in” is the share of bootstrap samples of the topics in which the run ranks first");
    if (comparison) said.push("The last column says whether the run is significantly worse than the best one");
    if (shown < data.runs.length) said.unshift(`${shown} of ${data.runs.length} runs shown`);
    byId("leaderboard-note").textContent = `${said.join(". ")}.`;
  }

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
    return {
      run: turned ? pairs.first[place] : pairs.second[place],
      other: turned ? pairs.second[place] : pairs.first[place],
      difference: turned ? opposed(pairs.difference[place]) : pairs.difference[place],
      low,
      limits: low === none ? none : `[${low}, ${high}]`,
      p: pairs.p_adjusted[place],
      p_text: pairs.p_text[place],
      wins: turned ? pairs.losses[place] : pairs.wins[place],
      ties: pairs.ties[place],
      losses: turned ? pairs.wins[place] : pairs.losses[place],
      verdict: turned ? opposite[word] || word : word,
      reason: at.reason[place],
    };
  }
  function verdict() {
    const target = byId("verdict");
    if (!target) return;
    const [a, b] = [isolated(data.runs[state.a]), isolated(data.runs[state.b])];
    if (state.a === state.b) {
      target.textContent = "Choose two different runs.";
      return;
    }
    if (!measure().comparison) {
      target.textContent = "";
      return;
    }
    const pair = findPair(state.a, state.b);
    if (!pair) {
      target.textContent =
        `${a} and ${b} are not both among the best runs by ${measure().name}, whose pairs this page contains; ` +
        "confir compare lists all pairs.";
      return;
    }
    const said = {
      better: `${a} is significantly better than ${b}`,
      worse: `${a} is significantly worse than ${b}`,
      equivalent: `${a} and ${b} are equivalent`,
      identical: `${a} and ${b} are identical`,
      inconclusive: `${a} and ${b} are statistically indistinguishable`,
      "not compared": `${a} and ${b} are not compared, with fewer than 2 topics in common`,
    };
    const limits = pair.limits === none ? "no interval" : `${measure().comparison.interval}${levelText()} interval ${pair.limits}`;
    const reason = pair.reason ? ` (${pair.reason})` : "";
    target.textContent =
      `By ${measure().name}, ${said[pair.verdict]}${reason}: difference ${pair.difference}, ${limits}, ` +
      `adjusted p ${pair.p_text}; topics won ${pair.wins}, tied ${pair.ties}, lost ${pair.losses}.`;
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
      row.append(...texts.map((text) => element("td", text, "number")), element("td", pair.verdict));
      return row;
    };
    const rows = pairs.first.map((_, place) => {
      const pair = pairAt(place, pairs.difference[place].startsWith("-"));
      return { ...pair, line: () => line(pair) };
    });
    sortable(byId("pair-table"), columns, rows);
  }

  // The records of the two charts of topics, in the fields that their specifications name.
  function topicRecords() {
    const { scores, lowest, median, highest } = measure().topic_difficulty;
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
  function differenceRecords() {
    return topicRecords()
      .filter((record) => record.difference !== null)
      .map((record) => ({ ...record, sign: record.difference > 0 ? "for the run" : "against it" }))
      .sort((x, y) => y.difference - x.difference);
  }
  function topics() {
    const records = topicRecords();
    const pair = state.a !== state.b;
    const [a, b] = [data.runs[state.a], data.runs[state.b]];
    const hardest = records.slice(0, 5).map((record) => isolated(record.topic));
    byId("topics-explain").textContent =
      (records.length > 1 ? `Hardest by ${measure().name}, by the median of all runs: ${hardest.join(", ")}. ` : "") +
      `Shown: ${isolated(a)} compared with all runs${pair ? `, and ${isolated(a)} minus ${isolated(b)}; choose others above` : ""}.`;
    const columns = [
      { title: "topic", value: (row) => row.topic },
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
      row.dataset.topic = record.topic;
      row.append(nameCell(record.topic));
      for (const column of columns.slice(1)) {
        row.append(element("td", decimals(column.value(record), { sign: column.signed }), "number"));
      }
      return row;
    };
    sortable(byId("topic-table"), columns, records.map((record) => ({ ...record, line: () => line(record) })));
  }

  // Tables of charts, built when they are opened.
  const fits = (entry) => entry.measure === null || entry.measure === measure().name;
  function behind(details) {
    const entry = tables.find((table) => table.part === details.dataset.table && fits(table));
    details.hidden = !entry;
    if (!details.open || !entry) return;
    const table = details.querySelector("table");
    const named = (place) => place < entry.names;
    table.tHead.rows[0].replaceChildren(
      ...entry.columns.map((title, place) => {
        const cell = element("th", title, named(place) ? "" : "number");
        cell.scope = "col";
        return cell;
      }),
    );
    const byRun = entry.columns[0] === "run";
    const kept = entry.rows.map((_, place) => place).filter((place) => !byRun || matches(entry.rows[place][0]));
    table.tBodies[0].replaceChildren(
      ...kept.map((line) => {
        const row = element("tr");
        row.append(
          ...entry.rows[line].map((text, place) => {
            const cell = named(place) ? nameCell(text) : element("td", text, "number");
            if (entry.strong[line][place]) cell.classList.add("strong");
            return cell;
          }),
        );
        return row;
      }),
    );
    details.querySelector(".note").textContent = entry.note;
  }
  const behindAll = () => document.querySelectorAll("[data-table]").forEach(behind);

  // Charts: Vega-Lite specifications, to which size and colours are added here.
  const partsThat = (holds) => [...new Set(charts.filter(holds).map((chart) => chart.part))];
  function chartOf(part) {
    return charts.find(
      (chart) => chart.part === part && fits(chart) && (chart.level === null || chart.level === state.level),
    );
  }
  function refilled(chart, part) {
    const [a, b] = [isolated(data.runs[state.a]), isolated(data.runs[state.b])];
    if (part === "topics") {
      const spec = { ...chart.spec, data: { values: topicRecords() } };
      return { spec, caption: `${a} on each topic by ${measure().name}; grey: range and median of all runs` };
    }
    if (part === "differences") {
      const spec = { ...chart.spec, data: { values: differenceRecords() } };
      return { spec, caption: `${a} minus ${b} on each topic, by ${measure().name}` };
    }
    if (!state.filter || !chart.by_run) return chart;
    const values = chart.spec.data.values.filter((record) => matches(record.run));
    return { spec: { ...chart.spec, data: { values } }, caption: `${chart.caption}; runs filtered` };
  }
  function themed(spec) {
    const style = getComputedStyle(document.documentElement);
    const [ink, quiet, line] = ["--ink", "--quiet", "--line"].map((name) => style.getPropertyValue(name).trim());
    const config = { ...spec.config, background: "transparent" };
    const words = { labelColor: ink, titleColor: ink };
    config.axis = { ...config.axis, ...words, gridColor: line, domainColor: quiet, tickColor: quiet };
    config.axisQuantitative = { tickCount: 8 };
    config.legend = { ...config.legend, ...words, orient: "bottom" };
    config.header = { ...config.header, ...words };
    config.title = { ...config.title, color: ink, subtitleColor: quiet };
    if (window.innerWidth < 640) {
      config.axis.labelLimit = 130;
      config.axisX = { titleAnchor: "end" };
    }
    if (!spec.height || !(spec.height.step * data.runs.length > 560)) return { ...spec, config };
    // A chart that scrolls has its axis and legend at the top, where they are visible.
    config.axisX = { ...config.axisX, orient: "top" };
    config.legend.orient = "top";
    return { ...withLegendAbove(spec), config };
  }
  function withLegendAbove(part) {
    const { encoding = {}, layer } = part;
    const { color } = encoding;
    const above = color && color.legend ? { ...color, legend: { ...color.legend, orient: "top" } } : color;
    return {
      ...part,
      ...(color && { encoding: { ...encoding, color: above } }),
      ...(layer && { layer: layer.map(withLegendAbove) }),
    };
  }
  // The blue of charts is too dark for a dark page.
  const darkScheme = matchMedia("(prefers-color-scheme: dark)");
  const bright = (spec) =>
    darkScheme.matches ? JSON.parse(JSON.stringify(spec).replaceAll("#0072B2", "#4AA5E0")) : spec;
  // A chart of topics fills the page width if every label then has room.
  function fitted(spec, room) {
    const step = spec.width && spec.width.step;
    if (!step || spec.height.step || room < step * spec.data.values.length + 80) return spec;
    return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
  }
  // A chart that fills the page width needs a height in pixels, not in steps.
  function measured(spec) {
    if (spec.width !== "container" || !spec.height.step) return spec;
    const encodings = [spec, ...(spec.layer || [])].map((part) => part.encoding || {});
    const rows = ["y", "yOffset"].map((name) => {
      const channel = encodings.map((encoding) => encoding[name]).find(Boolean);
      return channel ? new Set(spec.data.values.map((record) => record[channel.field])).size : 1;
    });
    return { ...spec, height: spec.height.step * rows[0] * rows[1] };
  }
  // Points can be zoomed into; the wheel alone still scrolls the page.
  function zoomable(spec) {
    const zoom = {
      name: "zoom",
      bind: "scales",
      select: { type: "interval", zoom: "wheel![event.shiftKey]", clear: "dblclick" },
    };
    const layer = spec.layer.slice();
    layer[0] = { ...layer[0], params: [zoom] };
    return { ...spec, layer };
  }
  async function draw(figure) {
    const part = figure.dataset.part;
    const plot = figure.querySelector(".plot");
    const chart = chartOf(part);
    const refill = chart && refilled(chart, part);
    const empty = !chart || (refill.spec.data && refill.spec.data.values.length === 0);
    figure.hidden = empty || (part === "differences" && state.a === state.b);
    if (figure.hidden) return;
    const { spec: filled, caption } = refill;
    const spec = fitted(chart.zoomable ? zoomable(filled) : filled, figure.clientWidth);
    plot.classList.toggle("wide", spec.width !== "container");
    figure.querySelector("figcaption").textContent = caption;
    plot.setAttribute("aria-label", `Chart: ${caption}. Its numbers are in the table of this part.`);
    figure.querySelector(".frame").setAttribute("aria-label", caption);
    const result = await window.vegaEmbed(plot.firstElementChild, bright(measured(themed(spec))), {
      actions: false,
      ast: true, // the content security policy forbids eval
      renderer: "svg",
      mode: "vega-lite",
      logLevel: 1, // errors only
    });
    if (part === "pairs") {
      result.view.addEventListener("click", (_, item) => {
        if (!item || !item.datum || item.datum.row === undefined) return;
        choose(data.runs.indexOf(item.datum.row), data.runs.indexOf(item.datum.column));
      });
    }
  }
  function undrawn(figure) {
    figure.querySelector(".plot").firstElementChild.textContent =
      "This chart cannot be drawn; its numbers are in the table of this part.";
  }
  // Whether all charts are drawn, for printing and tests.
  const mark = (ready) => {
    document.documentElement.dataset.ready = ready;
  };
  // One chart after the other, nearest first, so that the page stays responsive.
  const waiting = new Set();
  let drawing = false;
  const distance = (figure) => {
    const { top, bottom } = figure.getBoundingClientRect();
    return Math.max(0, top - window.innerHeight, -bottom);
  };
  async function redraw(parts) {
    for (const figure of document.querySelectorAll("figure.chart")) {
      if (!parts || parts.includes(figure.dataset.part)) waiting.add(figure);
    }
    mark("false");
    if (drawing) return;
    drawing = true;
    while (waiting.size) {
      const next = [...waiting].reduce((x, y) => (distance(y) < distance(x) ? y : x));
      waiting.delete(next);
      await draw(next).catch(() => undrawn(next));
      await new Promise((resolve) => setTimeout(resolve));
    }
    drawing = false;
    mark("true");
  }

  function choose(a, b) {
    state.a = a;
    state.b = b;
    for (const [id, run] of [["run-a", a], ["run-b", b]]) {
      if (byId(id)) byId(id).value = String(run);
    }
    verdict();
    topics();
    redraw(["topics", "differences"]);
  }
  function offerRuns() {
    for (const id of ["run-a", "run-b"]) {
      const select = byId(id);
      if (!select) continue;
      select.replaceChildren(
        ...data.measures[0].order.map((run) => {
          const option = element("option", data.runs[run]);
          option.value = String(run);
          option.dir = "auto";
          return option;
        }),
      );
      select.addEventListener("change", () => choose(Number(byId("run-a").value), Number(byId("run-b").value)));
    }
  }
  function showMeasure() {
    for (const part of document.querySelectorAll("[data-measure]")) {
      part.hidden = part.dataset.measure !== measure().name;
    }
    leaderboard();
    pairTable();
    verdict();
    topics();
    behindAll();
    redraw();
  }

  byId("measure").addEventListener("change", (event) => {
    state.measure = Number(event.target.value);
    showMeasure();
  });
  byId("level").addEventListener("change", (event) => {
    state.level = event.target.value;
    leaderboard();
    pairTable();
    verdict();
    redraw(partsThat((chart) => chart.level !== null));
  });
  let typing = 0;
  byId("filter").addEventListener("input", (event) => {
    state.filter = event.target.value.trim().toLowerCase();
    leaderboard();
    behindAll();
    clearTimeout(typing);
    typing = setTimeout(() => redraw(partsThat((chart) => chart.by_run)), 250);
  });
  for (const details of document.querySelectorAll("[data-table]")) {
    details.addEventListener("toggle", () => behind(details));
  }
  if (byId("pair-details")) byId("pair-details").addEventListener("toggle", pairTable);
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

  offerRuns();
  const order = data.measures[0].order;
  const bundle = element("script");
  bundle.textContent = await unpack("packed-bundle");
  document.head.append(bundle);
  choose(order[0], order[Math.min(1, order.length - 1)]);
  showMeasure();
  darkScheme.addEventListener("change", () => redraw());
})().catch((error) => {
  document.documentElement.dataset.ready = "error";
  throw error;
});
