// Makes a table sortable by every column that has a value; start -1 keeps the rows in their order.
function sortable(table, columns, rows, start = 0) {
  if (!table.order || table.order.column >= columns.length) table.order = { column: start, up: true };
  const order = table.order;
  const head = table.tHead.rows[0];
  const draw = () => {
    const { value } = columns[order.column] ?? { value: () => 0 };
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
      const cell = element("th", undefined, `${column.number ? "number" : ""} ${column.className || ""}`.trim());
      cell.scope = "col";
      if (!column.value) {
        cell.append(...column.content);
        return cell;
      }
      cell.dataset.title = column.title;
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
function nameCell(name, chosen) {
  const cell = element("th", chosen ? undefined : name, name.length > 24 ? "name" : "name short");
  if (chosen) {
    const button = element("button", name, "pick-one");
    button.type = "button";
    button.addEventListener("click", chosen);
    cell.append(button);
  }
  cell.scope = "row";
  cell.dir = "auto";
  return cell;
}


// The first number in a text such as "0.31 [0.25, 0.38]", for sorting; null if there is none.
function firstNumber(text) {
  const found = text.replaceAll(",", "").match(/[+-]?\d+(\.\d+)?(e[+-]?\d+)?/);
  return found && Number(found[0]);
}
// Tables of charts, built when they are opened.
const fits = (entry) => entry.measure === null || entry.measure === measure().name;
function behind(details) {
  const entry = tables.find((table) => table.part === details.dataset.table && fits(table));
  details.hidden = !entry;
  if (!details.open || !entry) return;
  const named = (place) => place < entry.names;
  const columns = entry.columns.map((title, place) => {
    const numbers = entry.rows.map((row) => firstNumber(row[place]));
    const number = !named(place) && numbers.some((value) => value !== null);
    return { title, number, className: named(place) ? "" : "number", value: ({ cells, at }) => (number ? numbers[at] : cells[place]) };
  });
  const line = (cells, at) => {
    const row = element("tr");
    row.append(
      ...cells.map((text, place) => {
        const cell = named(place) ? nameCell(text) : element("td", text, "number");
        if (entry.strong[at][place]) cell.classList.add("strong");
        return cell;
      }),
    );
    return row;
  };
  const byRun = entry.columns.indexOf("run");
  const rows = entry.rows
    .map((cells, at) => ({ cells, at, line: () => line(cells, at) }))
    .filter(({ cells }) => byRun < 0 || matches(cells[byRun]));
  sortable(details.querySelector("table"), columns, rows, -1);
  details.querySelector(".note").textContent = entry.note;
}
const behindAll = () => document.querySelectorAll("[data-table]").forEach(behind);

