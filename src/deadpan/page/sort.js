"use strict";
// Sorts a table by the column whose heading is pressed. Cells without a value go last, either way.
// A heading's data-first is its first order; data-home of a table is the column it comes sorted by.
for (const table of document.querySelectorAll("table.sortable")) {
  const said = table.parentNode.querySelector("[role=status]") || document.getElementById("sorted");
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = heading.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const first = heading.dataset.first || "descending";
      const other = first === "descending" ? "ascending" : "descending";
      const order = heading.getAttribute("aria-sort") === first ? other : first;
      for (const each of headings) each.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", order);
      const key = (row) => row.cells[column].dataset.v;
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
        const by = numbers ? Number(x) - Number(y) : x.localeCompare(y);
        return order === "ascending" ? by : -by;
      });
      table.tBodies[0].append(...rows);
      // "The row above" is only above in the order by score.
      const home = table.dataset.home;
      if (home) table.classList.toggle("resorted", column !== Number(home) || order !== "descending");
      if (said) said.textContent = "Sorted by " + button.textContent.trim() + ", " + order;
    });
  });
}
