// One key an answer. Numbers belong to one question at a time: the one in focus, else the first open one. Keys are
// known by their place on the keyboard, so that they work while Hangul is typed; they can be switched off.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const settings = `deadpan:keys:${document.body.dataset.who}`;
  const form = () => document.getElementById("answers");
  const dialog = () => document.getElementById("keys");
  const boxes = () => [...form().querySelectorAll(".question:not([hidden])")].filter((box) => box.querySelector("input[type=radio]"));
  let wanted = { keys: true, advance: true, tap: false };
  try { wanted = { ...wanted, ...JSON.parse(localStorage.getItem(settings) || "{}") }; } catch { /* as it is */ }

  function active() {
    const all = boxes();
    const focused = document.activeElement && document.activeElement.closest ? document.activeElement.closest(".question") : null;
    if (focused && all.includes(focused)) return focused;
    return all.find((box) => !box.querySelector("input:checked")) || all[all.length - 1];
  }
  deadpan.number = () => {
    const now = active();
    for (const box of form().querySelectorAll(".question")) {
      let number = 0;
      for (const choice of box.querySelectorAll(".choice:not([hidden])")) {
        number += 1;
        choice.querySelector("kbd").textContent = box === now && wanted.keys ? String(number) : "";
      }
    }
  };
  function pick(number) {
    const box = active();
    const choices = box ? [...box.querySelectorAll(".choice:not([hidden]) input")] : [];
    if (number > choices.length) { unknown(String(number)); return; }
    choices[number - 1].checked = true;
    if (document.activeElement && document.activeElement.blur) document.activeElement.blur();
    choices[number - 1].dispatchEvent(new Event("change", { bubbles: true }));
    deadpan.number();
    if (wanted.advance && deadpan.complete()) deadpan.forward();
  }
  // A key that means nothing here does nothing but say so: text typed into the page by mistake must not act.
  function unknown(key) {
    const notice = document.getElementById("notice");
    deadpan.say(notice.dataset.key.replace("{key}", key));
  }
  deadpan.tapped = () => { if (wanted.tap && deadpan.complete()) deadpan.forward(); };
  const click = (id) => { const found = document.getElementById(id); if (found) found.click(); };

  function pressed(event) {
    // A key that is held down is one answer, not one for every item that follows.
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.target.matches("textarea, input:not([type=radio]), select") || event.target.closest(".widget, .word")) return;
    const onControl = event.target.matches("a, button, summary, input");
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
    let act = null;
    if (event.key === "Enter" && !event.target.matches("a, button, summary")) act = () => deadpan.forward();
    else if (!onControl && event.key === "ArrowRight") act = () => deadpan.forward();
    else if (!onControl && event.key === "ArrowLeft") act = () => click("previous");
    else if (wanted.keys && digit && !event.shiftKey) act = () => pick(Number(digit[1]));
    else if (wanted.keys && event.code === "KeyU") act = () => click("undo");
    else if (wanted.keys && event.code === "KeyS") act = () => click("skip-open");
    else if (wanted.keys && event.code === "KeyF") act = () => click("flag-open");
    else if (wanted.keys && event.code === "KeyC") act = () => { const area = form().querySelector(".remark textarea, textarea"); if (area) { if (area.closest("details")) area.closest("details").open = true; area.focus(); } };
    else if (wanted.keys && (event.key === "?" || (event.code === "Slash" && event.shiftKey))) act = () => dialog().showModal();
    if (!act) {
      if (wanted.keys && event.key.length === 1 && event.key !== " ") unknown(event.key);
      return;
    }
    event.preventDefault();
    act();
  }

  // Called for every item. Keys count from the first call on: before it, nothing would save what they choose.
  deadpan.beginKeys = () => {
    addEventListener("keydown", pressed);  // the same listener again is added once
    document.getElementById("help").addEventListener("click", () => dialog().showModal());
    for (const name of ["keys", "advance", "tap"]) {
      const box = document.getElementById(`use-${name}`);
      box.checked = wanted[name];
      box.addEventListener("change", () => {
        wanted[name] = box.checked;
        try { localStorage.setItem(settings, JSON.stringify(wanted)); } catch { /* for this page only */ }
        deadpan.number();
      });
    }
    for (const opener of document.querySelectorAll("[data-opens]")) {
      opener.addEventListener("click", () => document.getElementById(opener.dataset.opens).showModal());
    }
    // Enter in the reason goes to the button: text that was typed into the page by mistake skips nothing.
    document.getElementById("reason").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); event.target.form.querySelector("button.main").focus(); }
    });
    form().addEventListener("focusin", () => deadpan.number());
    deadpan.number();
  };
})();
