// Seconds at work: the page is in front, and somebody touched it within the last two minutes. Reading is
// work, so the limit is long. What no answer carries is sent when the page is left.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const IDLE = 120000;
  let active = 0;
  let lastTick = performance.now();
  let lastSign = performance.now();

  function tick() {
    const now = performance.now();
    const awake = !document.hidden && now - lastSign < IDLE;
    // A machine that slept wakes with a huge step; that was not work.
    if (awake && now - lastTick < 5000) active += now - lastTick;
    lastTick = now;
  }
  setInterval(tick, 1000);
  for (const sign of ["pointerdown", "pointermove", "keydown", "scroll", "touchstart", "wheel"]) {
    addEventListener(sign, () => { lastSign = performance.now(); }, { passive: true });
  }

  // The seconds since the last time they were taken.
  deadpan.takeSeconds = () => {
    tick();
    const seconds = active / 1000;
    active = 0;
    return Math.round(seconds * 1000) / 1000;
  };

  function report() {
    const { time } = document.body.dataset;
    const token = document.querySelector("[name=csrfmiddlewaretoken]");
    if (!time || !token) return;
    const seconds = deadpan.takeSeconds();
    if (seconds < 1) return;
    const form = new FormData();
    form.append("seconds", String(seconds));
    form.append("csrfmiddlewaretoken", token.value);
    navigator.sendBeacon(time, form);
  }
  addEventListener("pagehide", report);
  document.addEventListener("visibilitychange", () => { if (document.hidden) report(); else { lastTick = performance.now(); lastSign = lastTick; } });
})();
