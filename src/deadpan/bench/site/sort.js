"use strict";
// Sorts a table by the column whose heading is pressed. Rows without a number go last, either way.
for (const table of document.querySelectorAll("table.sortable")) {
  const said = document.getElementById("sorted");
  const buttons = [...table.querySelectorAll("thead button")];
  for (const button of buttons) {
    button.addEventListener("click", () => {
      const heading = button.closest("th");
      const column = [...heading.parentNode.children].indexOf(heading);
      const first = heading.dataset.first || "descending";
      const other = first === "descending" ? "ascending" : "descending";
      const order = heading.getAttribute("aria-sort") === first ? other : first;
      for (const each of buttons) each.closest("th").removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", order);
      const body = table.tBodies[0];
      const key = (row) => row.children[column].dataset.v;
      const rows = [...body.rows].sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
        const numbers = !isNaN(x) && !isNaN(y);
        const by = numbers ? Number(x) - Number(y) : x.localeCompare(y);
        return order === "ascending" ? by : -by;
      });
      body.append(...rows);
      // "The row above" is only above in the order by score.
      table.classList.toggle("resorted", column !== Number(table.dataset.home) || order !== "descending");
      if (said) said.textContent = "Sorted by " + button.textContent.trim() + ", " + order;
    });
  }
}
