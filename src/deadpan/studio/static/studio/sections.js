// Sections of the dashboard stay open or closed when the figures are fetched again.
"use strict";
(() => {
  const state = new Map();
  document.addEventListener("toggle", (event) => { if (event.target.id) state.set(event.target.id, event.target.open); }, true);
  document.addEventListener("htmx:afterSwap", () => {
    for (const [id, open] of state) { const section = document.getElementById(id); if (section) section.open = open; }
  });
})();
