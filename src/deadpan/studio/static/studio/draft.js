// What is written into the survey is kept on this device until it is handed in: a closed tab loses nothing.
"use strict";
(() => {
  const form = document.getElementById("survey");
  const state = document.getElementById("state");
  const { who, study } = document.body.dataset;
  const store = `deadpan:survey:${who}:${study}`;
  const fields = () => [...form.elements].filter((field) => field.name && field.name !== "csrfmiddlewaretoken");

  // The hours of a post's age count from its time where it was written.
  form.elements.zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";

  try {
    const kept = JSON.parse(localStorage.getItem(store) || "{}");
    for (const field of fields()) {
      if (!(field.name in kept)) continue;
      if (field.type === "checkbox") field.checked = field.checked || kept[field.name] === true;
      else if (!field.value) field.value = kept[field.name];
    }
  } catch { /* nothing kept, or nothing readable */ }

  let typing;
  form.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      const kept = Object.fromEntries(fields().map((f) => [f.name, f.type === "checkbox" ? f.checked : f.value]));
      try {
        localStorage.setItem(store, JSON.stringify(kept));
        state.textContent = state.dataset.kept;
      } catch { state.textContent = ""; }
    }, 400);
  });
})();
