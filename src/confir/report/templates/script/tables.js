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

