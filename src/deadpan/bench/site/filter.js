// Shows only the rows of the families that are ticked. Without scripts the boxes stay hidden.
for (const set of document.querySelectorAll("fieldset.families")) {
  set.hidden = false;
  const said = document.getElementById("sorted");
  set.addEventListener("change", () => {
    const boxes = [...set.querySelectorAll("input")];
    const shown = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    for (const row of document.querySelectorAll("tr[data-family]")) row.hidden = !shown.has(row.dataset.family);
    if (said) said.textContent = "Shown: " + [...shown].join(", ");
  });
}
