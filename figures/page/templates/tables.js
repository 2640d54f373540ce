"use strict";
// Tables sort by a button in each heading; wide ones have a hint that there is more. Without this file they are complete.

const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

// The first number of a cell, whatever is beside it; null for a dash.
function number(cell) {
  const found = cell.firstChild ? cell.textContent.replace("\u2212", "-").match(/-?\d+(\.\d+)?(e[+-]?\d+)?/i) : null;
  return found ? Number(found[0]) : null;
}

function compared(a, b, isNumeric) {
  if (!isNumeric) return a.textContent.localeCompare(b.textContent, "en", { numeric: true });
  return number(a) - number(b);
}

function sort(table, heading, order) {
  const place = heading.cellIndex;
  const isNumeric = heading.classList.contains("n");
  const body = table.tBodies[0];
  const direction = heading.getAttribute("aria-sort") === "descending" ? -1 : 1;
  const isMissing = (row) => isNumeric && number(row.cells[place]) === null;
  const rows = [...order];
  if (heading.getAttribute("aria-sort") !== "none") {
    rows.sort((a, b) => isMissing(a) - isMissing(b) || (isMissing(a) ? 0 : direction * compared(a.cells[place], b.cells[place], isNumeric)));
  }
  body.append(...rows);
}

function makeSortable(table) {
  const order = [...table.tBodies[0].rows];
  if (order.length < 2) return;
  const headings = [...table.tHead.rows[0].cells];
  for (const heading of headings) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    heading.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = NEXT[heading.getAttribute("aria-sort")];
      for (const other of headings) other.setAttribute("aria-sort", "none");
      heading.setAttribute("aria-sort", next);
      sort(table, heading, order);
    });
  }
}

function hint(region) {
  const note = document.createElement("p");
  note.className = "more";
  note.textContent = "There is more to the right: scroll sideways.";
  note.hidden = true;
  region.before(note);
  const update = () => {
    note.hidden = region.scrollWidth <= region.clientWidth + 1;
  };
  new ResizeObserver(update).observe(region);
  update();
}

document.querySelectorAll(".table table").forEach(makeSortable);
document.querySelectorAll(".scroll").forEach(hint);
