// The playground: one request per detector, one stream for the language model. No library, nothing loaded.
"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const form = at("form"), area = at("text"), state = at("state");
  const MARKS = { sarcastic: "▲", sincere: "●" };
  let models = [], turn = 0;

  const make = (name, className, text) => {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  const headers = () => {
    const sent = { "content-type": "application/json" };
    if (at("key") && at("key").value) sent.authorization = "Bearer " + at("key").value;
    return sent;
  };

  const post = async (path, body) => {
    const answer = await fetch(path, { method: "POST", headers: headers(), body: JSON.stringify(body) });
    if (!answer.ok) {
      const told = await answer.json().catch(() => ({}));
      throw new Error(told.error ? told.error.message : "HTTP " + answer.status);
    }
    return answer;
  };

  // "A: words" is a turn of A; other lines are turns without a name.
  const conversation = () =>
    area.value.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
      const named = /^([^\s:：]{1,24})\s*[:：]\s+(.+)$/.exec(line);
      return named ? { speaker: named[1], text: named[2] } : { speaker: "", text: line };
    });

  const showConversation = (turns, label) => {
    const last = turns[turns.length - 1], box = at("conversation");
    box.replaceChildren();
    turns.forEach((one, place) => {
      const response = place === turns.length - 1;
      const mine = last.speaker ? one.speaker === last.speaker : (turns.length - 1 - place) % 2 === 0;
      const node = make("div", "turn " + (mine ? "right" : "left") + (response ? " response " + (MARKS[label] ? label : "") : ""));
      if (one.speaker) node.append(make("span", "speaker", one.speaker));
      const words = make("p", "", one.text);
      words.dir = "auto";
      node.append(words);
      box.append(node);
    });
  };

  const signed = (number) => (number > 0 ? "+" : "−") + Math.abs(number).toFixed(1);

  // A push stays beside its word (U+2060 forbids a line break) and reads from left to right in any language.
  const pushed = (push) => {
    const node = make("sup", "", "\u2060" + signed(push));
    node.dir = "ltr";
    return node;
  };

  const words = (pieces) => {
    const line = make("p", "words");
    line.dir = "auto";
    pieces.forEach((piece) => {
      const strong = Math.abs(piece.push) >= 0.1;
      const span = make("span", strong ? (piece.push > 0 ? "up" : "down") : "", piece.text);
      line.append(span);
      if (strong) line.append(pushed(piece.push));
      line.append(" ");
    });
    return line;
  };

  const before = (piece) => {
    const line = make("p", "dim", "Said before: ");
    line.append(make("bdi", "", "“" + piece.text + "”"), " " + signed(piece.push));
    return line;
  };

  const percent = (share) => 100 * share + "%";

  const scale = (model, result, label) => {
    const bar = make("div", "scalebar"), dot = make("i", label), band = result.cannot_tell;
    bar.setAttribute("role", "img");
    const where = band
      ? "; it cannot tell for scores between " + band.map((end) => end.toFixed(2)).join(" and ") : "";
    const told = "score " + result.score.toFixed(2) + " on a scale from 0, sincere, to 1, sarcastic";
    bar.setAttribute("aria-label", told + where);
    const zone = make(band ? "u" : "b");
    zone.style.left = percent(band ? band[0] : model.threshold);
    if (band) zone.style.width = percent(band[1] - band[0]);
    if (band) zone.append(make("span", "", "cannot tell"));
    dot.style.left = percent(result.score);
    bar.append(zone, dot);
    const ends = make("div", "ends");
    ["0 sincere", "1 sarcastic"].forEach((word) => ends.append(make("span", "", word)));
    return [bar, ends];
  };

  const limitList = (lines) => {
    const list = make("ul", "dim");
    lines.forEach((line) => list.append(make("li", "", line)));
    return list;
  };

  const showModel = (model, answer, shared) => {
    const result = answer.results[0], box = make("div", "model"), title = make("h3", "");
    const label = result.label || "no answer";
    title.append(make("span", "", model.id + " (" + model.system + ")"));
    title.append(make("span", "label " + label.replace(" ", "-"), (MARKS[label] || "○") + " " + label));
    box.append(title, make("p", "dim", result.meaning));
    if (result.score !== null) box.append(...scale(model, result, label));
    (result.why || []).forEach((line) => box.append(make("p", "reason", line)));
    if (result.words) {
      const more = make("details", "dim");
      more.append(make("summary", "", "Word by word, in log odds: + towards sarcastic, − towards sincere"), words(result.words));
      (result.context || []).filter((piece) => Math.abs(piece.push) >= 0.05).forEach((piece) => more.append(before(piece)));
      box.append(more);
    }
    const own = answer.limits.filter((line) => !shared.includes(line));
    if (own.length && result.score !== null) box.append(limitList(own));
    at("models").append(box);
  };

  // Detectors that know the language first; what none of them can know is said once, below.
  const showModels = (found) => {
    const unread = ({ answer }) => answer.results[0].label === "not supported";
    const ordered = [...found.filter((one) => !unread(one)), ...found.filter(unread)];
    const shared = ordered[0].answer.limits.filter((line) => found.every(({ answer }) => answer.limits.includes(line)));
    at("models").replaceChildren();
    ordered.forEach(({ model, answer }) => showModel(model, answer, shared));
    at("models").append(make("h3", "", found.length > 1 ? "Limits of every detector here" : "What it cannot know"), limitList(shared));
    return ordered[0].answer.results[0].label;
  };

  const judge = async () => {
    const turns = conversation(), mine = ++turn;
    if (!turns.length) { state.textContent = "Type something first."; area.focus(); return; }
    state.textContent = "judging …";
    at("result").hidden = false;
    at("models").replaceChildren();
    if (at("reading")) at("reading").textContent = "";
    showConversation(turns, "");
    try {
      if (!models.length) {
        const answer = await fetch("/v1/models", { headers: headers() });
        const told = await answer.json();
        if (!answer.ok) throw new Error(told.error.message);
        models = told.models;
      }
      const found = [];
      for (const model of models) {
        const body = { conversation: turns, model: model.id, explain: true };
        if (at("prevalence").value && model.prevalence !== null) body.prevalence = at("prevalence").value / 100;
        found.push({ model, answer: await (await post("/v1/detect", body)).json() });
        if (mine !== turn) return;
        showConversation(turns, showModels(found));
      }
      state.textContent = "";
    } catch (problem) {
      state.textContent = "Not judged: " + problem.message;
    }
  };

  const read = async () => {
    const turns = conversation(), target = at("reading"), button = at("read");
    if (!turns.length) return;
    button.disabled = true;
    target.textContent = "…";
    try {
      const answer = await post("/v1/reading", { conversation: turns });
      const stream = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = "", started = false;
      for (;;) {
        const { value, done } = await stream.read();
        if (done) break;
        const events = (rest + value).split("\n\n");
        rest = events.pop();
        for (const event of events) {
          const data = JSON.parse(event.split("\ndata: ")[1]);
          if (data.error) throw new Error(data.error.message);
          if (data.text === undefined) continue;
          target.textContent = (started ? target.textContent : "") + data.text;
          started = true;
        }
      }
    } catch (problem) {
      target.textContent = "No reading: " + problem.message;
    }
    button.disabled = false;
  };

  form.addEventListener("submit", (event) => { event.preventDefault(); judge(); });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); judge(); }
  });
  document.querySelectorAll(".chip").forEach((chip) =>
    chip.addEventListener("click", () => { area.value = chip.dataset.text; judge(); }));
  if (at("read")) at("read").addEventListener("click", read);
  const asked = new URLSearchParams(location.search).get("text");
  if (asked) { area.value = asked; judge(); }
})();
