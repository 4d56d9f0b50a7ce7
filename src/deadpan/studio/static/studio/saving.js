// Every answer is sent when it is given. What the server has not acknowledged is kept here and sent again,
// under the same key, so that it arrives once.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const form = document.getElementById("answers");
  const state = document.getElementById("state");
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const store = "deadpan:unsent:" + form.dataset.study;
  const forward = document.getElementById("forward");
  let sending = null;
  let wait = 1000;
  let leaving = false;

  function show(what) {
    state.dataset.now = what;
    state.textContent = state.dataset[what] || "";
  }
  function unsent() {
    try { return JSON.parse(localStorage.getItem(store) || "[]"); } catch { return memory; }
  }
  let memory = [];
  function keep(list) {
    memory = list;
    try { localStorage.setItem(store, JSON.stringify(list)); } catch { /* private mode: kept in memory */ }
  }
  function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  }

  async function post(save) {
    const response = await fetch(save.url, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: JSON.stringify({ answers: save.answers, seconds: save.seconds, key: save.key }),
    });
    if (response.status === 400 || response.status === 404) return { refused: true };
    if (!response.ok || response.redirected) throw new Error("not acknowledged");
    return response.json();
  }

  async function flush() {
    if (sending) return sending;
    sending = (async () => {
      let refused = false;
      while (unsent().length) {
        const save = unsent()[0];
        show("saving");
        let answer;
        try {
          answer = await post(save);
        } catch {
          show("offline");
          setTimeout(flush, wait);
          wait = Math.min(wait * 2, 30000);
          return false;
        }
        wait = 1000;
        refused = refused || Boolean(answer.refused);
        if (save.url === form.getAttribute("action") && answer.saved) form.dataset.complete = answer.complete ? "yes" : "no";
        keep(unsent().filter((other) => other.key !== save.key));
      }
      show(refused ? "refused" : "saved");
      return !refused;
    })();
    const result = await sending;
    sending = null;
    return result;
  }

  function send(answers) {
    const save = { url: form.getAttribute("action"), answers, seconds: deadpan.takeSeconds(), key: newKey() };
    keep([...unsent(), save]);
    return flush();
  }

  function value(name) {
    const chosen = form.querySelector(`input[name="q.${CSS.escape(name)}"]:checked`);
    return chosen ? chosen.value : "";
  }
  // Questions that depend on another come and go with its answer, and so do single answers.
  function arrange() {
    for (const box of form.querySelectorAll("[data-after]")) {
      const given = value(box.dataset.after);
      box.hidden = !box.dataset.when.split("|").includes(given);
      for (const choice of box.querySelectorAll(".choice[data-when]")) {
        choice.hidden = !choice.dataset.when.split("|").includes(given);
        if (choice.hidden || box.hidden) choice.querySelector("input").checked = false;
      }
    }
    if (deadpan.number) deadpan.number();
  }
  function complete() {
    return [...form.querySelectorAll(".question[data-required]:not([hidden])")].every((box) => box.querySelector("input:checked"));
  }

  form.addEventListener("change", (event) => {
    const field = event.target;
    if (!field.name || !field.name.startsWith("q.")) return;
    arrange();
    send({ [field.name.slice(2)]: field.value });
  });
  let typing;
  for (const area of form.querySelectorAll("textarea")) {
    area.addEventListener("input", () => {
      clearTimeout(typing);
      typing = setTimeout(() => area.dispatchEvent(new Event("change", { bubbles: true })), 800);
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    deadpan.forward();
  });
  deadpan.forward = async () => {
    if (leaving) return;
    if (!complete()) {
      const open = [...form.querySelectorAll(".question[data-required]:not([hidden])")].find((box) => !box.querySelector("input:checked"));
      if (open) open.querySelector(".choice:not([hidden]) input").focus();
      return;
    }
    clearTimeout(typing);
    const comment = form.querySelector("textarea");
    if (comment && comment.value !== comment.defaultValue) {
      comment.defaultValue = comment.value;
      send({ [comment.name.slice(2)]: comment.value });
    }
    leaving = true;
    const sent = await flush();
    leaving = false;
    if (sent) location.assign(form.dataset.next);
  };

  addEventListener("online", flush);
  addEventListener("beforeunload", (event) => { if (unsent().length && state.dataset.now === "offline") event.preventDefault(); });
  arrange();
  if (unsent().length) flush();
})();
