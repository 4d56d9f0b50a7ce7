// Every answer is sent when it is given. What the server has not acknowledged is kept here, under this person's
// own name, and sent again under the same key, so that it arrives once. One that is refused never holds up others.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const { who, study } = document.body.dataset;
  // One entry an answer: two windows that wrote one list would overwrite each other's.
  const store = `deadpan:unsent:${who}:${study}:`;
  const state = document.getElementById("state");
  // Looked up each time: the next item brings a notice of its own.
  const notice = () => document.getElementById("notice");
  let memory = [];
  let sending = null;
  let wait = 1000;

  function show(what, count) {
    state.dataset.now = what;
    state.textContent = (state.dataset[what] || "").replace("{n}", String(count || ""));
  }
  function stored() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(store)).map((key) => JSON.parse(localStorage.getItem(key)));
    } catch { return []; }
  }
  const unsent = () => [...stored(), ...memory].filter(Boolean).sort((one, other) => one.at - other.at);
  function keep(save) {
    try { localStorage.setItem(store + save.key, JSON.stringify(save)); } catch { memory.push(save); /* private mode, or full */ }
  }
  function forget(save) {
    memory = memory.filter((other) => other.key !== save.key);
    try { localStorage.removeItem(store + save.key); } catch { /* it was in memory only */ }
  }
  function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  }
  function say(text, link) {
    const place = notice();
    place.textContent = text;
    if (link) {
      const anchor = document.createElement("a");
      anchor.href = link;
      anchor.textContent = place.dataset.login;
      place.append(" ", anchor);
    }
    place.hidden = !text;
  }
  deadpan.say = say;

  async function post(save) {
    const response = await fetch(save.url, {
      method: "POST",
      keepalive: true,  // arrives although the window is closed
      headers: { "Content-Type": "application/json", "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value },
      body: JSON.stringify({ answers: save.answers, seconds: save.seconds, ago: Math.max(0, Date.now() - save.at) / 1000, key: save.key }),
    });
    if (response.status === 401 || response.status === 403 || response.redirected) return { expired: true };
    if (response.status === 400 || response.status === 404 || response.status === 413) {
      const said = await response.json().catch(() => ({}));
      return { refused: said.error || true };
    }
    if (!response.ok) return { broken: true };
    return response.json();
  }

  // Send everything there is. True: all of it is acknowledged; false: something is kept or was refused.
  async function round() {
    let refused = "";
    let broken = 0;
    for (const save of unsent()) {
      show("saving");
      let answer;
      try { answer = await post(save); } catch {
        show("offline", unsent().length);
        setTimeout(flush, wait);
        wait = Math.min(wait * 2, 30000);
        return false;
      }
      if (answer.expired) {
        show("offline", unsent().length);
        // A guest has no password, but a link of their own.
        say(notice().dataset.expired, notice().dataset.back || `/login?next=${encodeURIComponent(location.pathname)}`);
        return false;
      }
      if (answer.broken) { broken += 1; continue; }
      if (answer.refused) refused = answer.refused === true ? state.dataset.refused : answer.refused;
      forget(save);
    }
    if (broken) {
      show("offline", broken);
      setTimeout(flush, wait);
      wait = Math.min(wait * 2, 30000);
      return false;
    }
    wait = 1000;
    show(refused ? "refused" : "saved");
    if (refused) say(refused);
    return !refused;
  }
  async function flush() {
    if (!sending) {
      sending = (async () => {
        let done = await round();
        while (done && unsent().length) done = await round();
        return done;
      })();
    }
    const mine = sending;
    const result = await mine;
    if (sending === mine) sending = null;  // a later one may have begun
    return result;
  }
  deadpan.flush = flush;
  let last = 0;
  deadpan.send = (url, answers) => {
    last = Math.max(Date.now(), last + 1);
    keep({ url, answers, seconds: deadpan.takeSeconds(), key: newKey(), at: last });
    return flush();
  };
  deadpan.unsent = unsent;

  addEventListener("online", flush);
  addEventListener("beforeunload", (event) => { if (unsent().length && state.dataset.now === "offline") event.preventDefault(); });
  if (unsent().length) flush();
})();
