// The item on the screen: questions that depend on others, going on, and the next item fetched before it is needed.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const form = () => document.getElementById("answers");
  const state = () => document.getElementById("state");
  const SOON = 500;
  let looking;
  let fetched = null;
  let leaving = false;

  function value(name) {
    const chosen = form().querySelector(`input[name="q.${CSS.escape(name)}"]:checked, input[type=hidden][name="q.${CSS.escape(name)}"]`);
    return chosen ? chosen.value : "";
  }
  function given(name) {
    const said = value(name);
    if (said.startsWith("[")) { try { return JSON.parse(said); } catch { /* one answer */ } }
    return [said];
  }
  function holds(cases) {
    return cases.some((one) => Object.entries(one).every(([name, values]) => given(name).some((said) => values.includes(said))));
  }
  // Questions that depend on others come and go with their answers, and so do single answers.
  function arrange() {
    for (const box of form().querySelectorAll("[data-cases]")) {
      if (!box.matches(".question")) continue;
      box.hidden = !holds(JSON.parse(box.dataset.cases));
      for (const choice of box.querySelectorAll(".choice")) {
        choice.hidden = choice.dataset.cases ? !holds(JSON.parse(choice.dataset.cases)) : false;
        if (choice.hidden || box.hidden) choice.querySelector("input").checked = false;
      }
      const widget = box.querySelector("input[data-widget]");
      if (box.hidden && widget && widget.value) { widget.value = ""; if (deadpan.draw) deadpan.draw(widget); }
    }
    if (deadpan.number) deadpan.number();
  }
  const open = () => [...form().querySelectorAll(".question[data-required]:not([hidden])")].filter((box) => !answered(box));
  function answered(box) {
    const own = box.querySelector("input[data-widget], textarea");
    return own ? own.value.trim() !== "" : Boolean(box.querySelector("input:checked"));
  }
  deadpan.complete = () => open().length === 0;

  function changed(event) {
    const field = event.target;
    if (!field.name || !field.name.startsWith("q.")) return;
    if (field.matches("textarea")) field.defaultValue = field.value;
    deadpan.say("");
    arrange();
    deadpan.send(form().getAttribute("action"), { [field.name.slice(2)]: field.value });
    if (deadpan.complete()) prefetch();
    // Chosen by touch or mouse: a key goes on by itself.
    if (event.isTrusted && field.matches("input[type=radio]") && deadpan.tapped) deadpan.tapped();
  }

  async function prefetch() {
    const address = form().dataset.ahead;
    if (!address || (fetched && fetched.from === address)) return;
    fetched = { from: address, page: null };
    const mine = fetched;
    try {
      const response = await fetch(address, { headers: { "X-Ahead": "1" } });
      if (response.status !== 200 || !response.url.includes("/item/")) return;
      mine.page = { url: response.url, text: await response.text() };
    } catch { /* it is loaded when it is needed */ }
  }

  // Put the fetched item on the screen without waiting for the server.
  function swap() {
    const page = fetched && fetched.from === form().dataset.ahead ? fetched.page : null;
    if (!page) return false;
    const main = new DOMParser().parseFromString(page.text, "text/html").querySelector("main");
    if (!main || !main.querySelector("#answers")) return false;
    document.querySelector("main").replaceWith(document.adoptNode(main));
    history.pushState({ item: true }, "", page.url);
    fetched = null;
    scrollTo(0, 0);
    begin();
    document.getElementById("main").focus({ preventScroll: true });
    return true;
  }

  function missing() {
    const box = open()[0];
    if (!box) return false;
    const names = open().map((one) => one.querySelector("legend").textContent.trim());
    deadpan.say(document.getElementById("notice").dataset.missing.replace("{question}", names.join(" / ")));
    const first = box.querySelector(".choice:not([hidden]) input, textarea, .widget input, .widget button, .widget [tabindex]");
    if (first) first.focus();
    return true;
  }
  function unsaidText() {
    for (const area of form().querySelectorAll("textarea")) {
      if (area.value === area.defaultValue) continue;
      area.defaultValue = area.value;
      deadpan.send(form().getAttribute("action"), { [area.name.slice(2)]: area.value });
    }
  }
  deadpan.forward = async () => {
    if (leaving || missing()) return;
    unsaidText();
    const next = form().dataset.next;
    if (swap()) { deadpan.flush(); return; }
    leaving = true;
    const sent = await deadpan.flush();
    leaving = false;
    if (sent) location.assign(next);
    else if (state().dataset.now === "offline") again(next);
  };
  // The person wanted to go on: do so as soon as what was kept has arrived.
  function again(next) {
    if (form().dataset.next !== next) return;
    if (deadpan.unsent().length) setTimeout(again, 300, next);
    else if (state().dataset.now === "saved" && deadpan.complete()) location.assign(next);
  }

  // Undo, skip and flag wait for the answers given before: one that arrived later would bring back what they took away.
  addEventListener("submit", async (event) => {
    const other = event.target;
    const dialog = other.method === "dialog" || (event.submitter && event.submitter.formMethod === "dialog");
    if (other.id === "answers" || !other.closest("main") || dialog) return;
    event.preventDefault();
    if (leaving) return;
    leaving = true;
    clearTimeout(typing);
    unsaidText();
    if (deadpan.unsent().length) await deadpan.flush();
    leaving = false;
    if (!deadpan.unsent().length) { leaving = true; other.submit(); }
    else if (other.closest("dialog")) other.closest("dialog").close();
  });
  addEventListener("pageshow", () => { leaving = false; });

  let typing;
  function begin() {
    const now = form();
    now.addEventListener("change", changed);
    for (const area of now.querySelectorAll("textarea")) {
      area.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(() => area.dispatchEvent(new Event("change", { bubbles: true })), 800);
      });
    }
    now.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(typing); deadpan.forward(); });
    if (deadpan.beginWidgets) deadpan.beginWidgets(now);
    arrange();
    if (deadpan.beginKeys) deadpan.beginKeys();
    // On a slow connection a person may choose before this script runs: send that answer too.
    for (const early of now.querySelectorAll("input:checked")) if (!early.defaultChecked) changed({ target: early });
    if (now.dataset.done !== "0" && !deadpan.unsent().length && !state().dataset.now) { state().dataset.now = "before"; state().textContent = state().dataset.saved; }
    now.dataset.ready = "yes";
    // Soon, so that it is there when the last answer is given; not at once, for who only looks back.
    clearTimeout(looking);
    looking = setTimeout(prefetch, deadpan.complete() ? 0 : SOON);
  }
  addEventListener("popstate", () => location.reload());
  deadpan.beginItem = begin;
  addEventListener("DOMContentLoaded", begin);
})();
