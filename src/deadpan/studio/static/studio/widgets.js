// Answers that are not one choice: several, a number, an order, marked words. Each is kept in its hidden field as text.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const make = (name, props = {}, ...children) => { const node = Object.assign(document.createElement(name), props); node.append(...children); return node; };
  function put(field, value) {
    field.value = value;
    field.dispatchEvent(new Event("change", { bubbles: true }));
    draw(field);
  }
  const list = (field) => { try { const found = JSON.parse(field.value || "[]"); return Array.isArray(found) ? found : []; } catch { return []; } };
  const options = (field) => JSON.parse(field.dataset.options);

  function many(field, place) {
    const chosen = list(field);
    for (const option of options(field)) {
      const box = make("input", { type: "checkbox", checked: chosen.includes(option) });
      box.addEventListener("change", (event) => {
        event.stopPropagation();
        const now = options(field).filter((name) => (name === option ? box.checked : list(field).includes(name)));
        field.value = now.length ? JSON.stringify(now) : "";
        field.dispatchEvent(new Event("change", { bubbles: true }));
      });
      place.append(make("label", { className: "tick" }, box, make("span", { textContent: option, dir: "auto" })));
    }
  }
  function slider(field, place) {
    const { low, high, left, right, label } = field.dataset;
    const shown = make("output", { textContent: field.value || "–" });
    const range = make("input", { type: "range", min: low, max: high, value: field.value || String(Math.round((Number(low) + Number(high)) / 2)) });
    range.setAttribute("aria-label", label);
    const keep = () => { field.value = range.value; shown.textContent = range.value; field.dispatchEvent(new Event("change", { bubbles: true })); };
    range.addEventListener("change", (event) => { event.stopPropagation(); keep(); });
    range.addEventListener("input", () => { shown.textContent = range.value; });
    // Left where it stands it is an answer too, once somebody has touched it.
    range.addEventListener("pointerup", () => { if (!field.value) keep(); });
    place.append(make("p", { className: "ends" }, make("span", { textContent: left || low }), shown, make("span", { textContent: right || high })), range);
  }
  function ranking(field, place) {
    const order = list(field).length ? list(field) : options(field);
    const rows = make("ol");
    order.forEach((name, at) => {
      const move = (step, words) => {
        const button = make("button", { type: "button", textContent: step < 0 ? "↑" : "↓", disabled: at + step < 0 || at + step >= order.length });
        button.setAttribute("aria-label", `${name}: ${words}`);
        button.addEventListener("click", () => { const now = [...order]; [now[at], now[at + step]] = [now[at + step], now[at]]; put(field, JSON.stringify(now)); });
        return button;
      };
      rows.append(make("li", {}, make("span", { textContent: name, dir: "auto" }), move(-1, field.dataset.up), move(1, field.dataset.down)));
    });
    place.append(rows);
    if (!field.value) {
      const keep = make("button", { type: "button", textContent: field.dataset.keep });
      keep.addEventListener("click", () => put(field, JSON.stringify(order)));
      place.append(keep);
    }
  }

  // Words are counted in code points, as the server does; a span goes from the start of one word to the end of another.
  const turns = () => [...document.querySelectorAll("main .conversation .turn p")];
  function split() {
    turns().forEach((p, turn) => {
      if (p.querySelector(".word")) return;
      let at = 0;
      const parts = p.textContent.split(/(\s+)/u);
      p.textContent = "";
      for (const part of parts) {
        const size = [...part].length;
        if (part.trim()) {
          const word = make("span", { className: "word", textContent: part, tabIndex: -1 });
          Object.assign(word.dataset, { turn: String(turn), start: String(at), end: String(at + size) });
          word.setAttribute("role", "button");
          p.append(word);
        } else if (part) p.append(part);
        at += size;
      }
    });
    const words = [...document.querySelectorAll(".word")];
    if (words.length && !words.some((word) => word.tabIndex === 0)) words[0].tabIndex = 0;
  }
  let active = null;
  let label = "";
  let first = null;
  function mark(word) {
    if (!active || active.closest("[hidden]")) return;
    if (!first || first.dataset.turn !== word.dataset.turn) { first = word; word.classList.add("begun"); return; }
    const [one, other] = [first, word].sort((a, b) => a.dataset.start - b.dataset.start);
    first.classList.remove("begun");
    first = null;
    const span = { turn: Number(one.dataset.turn), start: Number(one.dataset.start), end: Number(other.dataset.end), label };
    const now = list(active).filter((old) => JSON.stringify(old) !== JSON.stringify(span));
    put(active, JSON.stringify([...now, span]));
  }
  const said = (span) => [...turns()[span.turn].textContent].slice(span.start, span.end).join("");
  const same = (one, other) => ["turn", "start", "end", "label"].every((part) => one[part] === other[part]);
  // What a model suggests and nobody has accepted yet: it is no answer.
  const offered = (field) => JSON.parse(field.dataset.suggested || "[]").filter((span) => !list(field).some((old) => same(old, span)));
  function spans(field, place) {
    split();
    if (!active || !active.isConnected) { active = field; label = options(field)[0]; first = null; }
    place.append(make("p", { className: "note", textContent: field.dataset.how }));
    const row = make("div", { className: "choices" });
    options(field).forEach((name, at) => {
      const button = make("button", { type: "button", textContent: name });
      button.setAttribute("aria-pressed", String(active === field && label === name));
      button.className = `mark-${at % 4}`;
      button.addEventListener("click", () => { active = field; label = name; redraw(); });
      row.append(button);
    });
    const none = make("button", { type: "button", textContent: field.dataset.none });
    none.setAttribute("aria-pressed", String(field.value === "[]"));
    none.addEventListener("click", () => put(field, "[]"));
    row.append(none);
    const marked = make("ul", { className: "marks" });
    list(field).forEach((span, at) => {
      const words = said(span);
      const remove = make("button", { type: "button", textContent: "×" });
      remove.setAttribute("aria-label", `${field.dataset.remove}: ${words}`);
      remove.addEventListener("click", () => { const now = list(field).filter((_, place_) => place_ !== at); put(field, now.length ? JSON.stringify(now) : ""); });
      marked.append(make("li", {}, make("span", { className: `mark-${options(field).indexOf(span.label) % 4}`, textContent: span.label }), ` ${words} `, remove));
    });
    place.append(row, marked);
    const open = offered(field);
    if (open.length) {
      const list_ = make("ul", { className: "marks" });
      for (const span of open) {
        const accept = make("button", { type: "button", textContent: `✓ ${field.dataset.accept}` });
        accept.setAttribute("aria-label", `${field.dataset.accept}: ${said(span)}`);
        accept.addEventListener("click", () => put(field, JSON.stringify([...list(field), span])));
        list_.append(make("li", { className: "suggested" }, make("span", { className: `mark-${options(field).indexOf(span.label) % 4}`, textContent: span.label }), ` ${said(span)} `, accept));
      }
      place.append(make("p", { className: "note", textContent: field.dataset.suggests }), list_);
    }
    paint();
  }
  function paint() {
    for (const word of document.querySelectorAll(".word")) word.classList.remove("mark-0", "mark-1", "mark-2", "mark-3", "suggested");
    const touch = (span, name) => {
      for (const word of document.querySelectorAll(`.word[data-turn="${span.turn}"]`)) {
        if (Number(word.dataset.start) < span.end && span.start < Number(word.dataset.end)) word.classList.add(name);
      }
    };
    for (const field of document.querySelectorAll("input[data-widget=spans]")) {
      for (const span of offered(field)) touch(span, "suggested");
      for (const span of list(field)) touch(span, `mark-${options(field).indexOf(span.label) % 4}`);
    }
  }
  document.addEventListener("click", (event) => { const word = event.target.closest && event.target.closest(".word"); if (word) mark(word); });
  document.addEventListener("keydown", (event) => {
    const word = event.target.closest && event.target.closest(".word");
    if (!word) return;
    const words = [...document.querySelectorAll(".word")];
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { const next = words[words.indexOf(word) + step]; if (next) { word.tabIndex = -1; next.tabIndex = 0; next.focus(); } }
    else if (event.key === "Enter" || event.key === " ") mark(word);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  const kinds = { many, slider, ranking, spans };
  function draw(field) {
    const place = field.parentElement.querySelector(".widget");
    const again = document.activeElement && place.contains(document.activeElement) ? [...place.querySelectorAll("button, input")].indexOf(document.activeElement) : -1;
    if (field.dataset.widget === "slider" && place.childElementCount && field.value) return;
    place.textContent = "";
    kinds[field.dataset.widget](field, place);
    const same = again >= 0 ? place.querySelectorAll("button, input")[again] : null;
    if (same && !same.disabled) same.focus();
  }
  const redraw = () => { for (const field of document.querySelectorAll("input[data-widget=spans]")) draw(field); };
  deadpan.draw = draw;
  deadpan.beginWidgets = (form) => { active = null; first = null; for (const field of form.querySelectorAll("input[data-widget]")) draw(field); };
})();
