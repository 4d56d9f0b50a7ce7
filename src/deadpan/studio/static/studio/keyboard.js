// One key an answer. Numbers belong to one question at a time: the one in focus, else the first open one.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const form = document.getElementById("answers");
  const keys = document.getElementById("keys");
  const boxes = () => [...form.querySelectorAll(".question:not([hidden])")].filter((box) => box.querySelector("input[type=radio]"));
  let chosen = null;

  function active() {
    const all = boxes();
    const focused = document.activeElement && document.activeElement.closest ? document.activeElement.closest(".question") : null;
    if (focused && all.includes(focused) && focused.contains(document.activeElement) && chosen === focused) return focused;
    if (chosen && all.includes(chosen)) return chosen;
    return all.find((box) => !box.querySelector("input:checked")) || all[all.length - 1];
  }
  deadpan.number = () => {
    const now = active();
    for (const box of form.querySelectorAll(".question")) {
      let number = 0;
      for (const choice of box.querySelectorAll(".choice:not([hidden])")) {
        number += 1;
        choice.querySelector("kbd").textContent = box === now ? String(number) : "";
      }
    }
  };

  function step(by) {
    const all = boxes();
    chosen = all[Math.max(0, Math.min(all.length - 1, all.indexOf(active()) + by))];
    (chosen.querySelector("input:checked") || chosen.querySelector(".choice:not([hidden]) input")).focus();
    deadpan.number();
  }
  function pick(number) {
    const box = active();
    const choices = box ? [...box.querySelectorAll(".choice:not([hidden]) input")] : [];
    if (number > choices.length) return;
    choices[number - 1].checked = true;
    chosen = null;
    choices[number - 1].dispatchEvent(new Event("change", { bubbles: true }));
    deadpan.number();
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const writing = event.target.matches("textarea, input:not([type=radio]), select");
    if (writing) return;
    const onControl = event.target.matches("a, button, summary");
    const act = {
      ArrowRight: () => deadpan.forward(),
      ArrowLeft: () => { const back = document.getElementById("previous"); if (back) back.click(); },
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      u: () => document.getElementById("undo").click(),
      "?": () => keys.showModal(),
    };
    if (event.key === "Enter" && !onControl) act.Enter = act.ArrowRight;
    if (/^[1-9]$/.test(event.key)) act[event.key] = () => pick(Number(event.key));
    if (!act[event.key]) return;
    event.preventDefault();
    act[event.key]();
  });
  document.getElementById("help").addEventListener("click", () => keys.showModal());
  deadpan.number();
})();
