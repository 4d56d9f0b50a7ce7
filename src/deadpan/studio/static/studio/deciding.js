// Keys of the adjudicator: a number decides, arrows go to the next and the previous disagreement.
"use strict";
addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
  let target = null;
  if (digit) target = document.querySelectorAll(".decide button:not([disabled])")[Number(digit[1]) - 1];
  else if (event.key === "ArrowRight") target = document.getElementById("following");
  else if (event.key === "ArrowLeft") target = document.getElementById("previous");
  if (!target) return;
  event.preventDefault();
  target.click();
});
