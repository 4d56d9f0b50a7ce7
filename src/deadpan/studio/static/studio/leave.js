// Log-out clears what this browser keeps of this person, and says first what is unsent. Others' answers stay theirs.
"use strict";
(() => {
  const { who } = document.body.dataset;
  const keys = () => { try { return Object.keys(localStorage).filter((key) => key.startsWith("deadpan:")); } catch { return []; } };
  function waiting() {
    const studies = keys().filter((key) => key.startsWith(`deadpan:unsent:${who}:`)).map((key) => key.split(":")[3]);
    return [...new Set(studies)].map((study) => ({ study, count: studies.filter((other) => other === study).length }));
  }
  const form = document.getElementById("logout");
  if (form) {
    form.addEventListener("submit", (event) => {
      const count = waiting().reduce((sum, one) => sum + one.count, 0);
      if (count && !confirm(form.dataset.unsent.replace("{n}", String(count)))) { event.preventDefault(); return; }
      for (const key of keys().filter((name) => name.split(":")[2] === who)) localStorage.removeItem(key);
    });
  }
  const list = document.getElementById("unsent");
  if (list && !document.getElementById("answers")) {
    for (const one of waiting()) {
      const link = document.createElement("a");
      link.href = `/s/${encodeURIComponent(one.study)}/`;
      link.textContent = list.dataset.said.replace("{n}", String(one.count));
      list.append(link, " ");
      list.hidden = false;
    }
  }
})();
