// Seconds at work: the page is in front and somebody touched it within the last half minute.
"use strict";
window.deadpan = window.deadpan || {};
(() => {
  const IDLE = 30000;
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
  for (const sign of ["pointerdown", "pointermove", "keydown", "scroll", "touchstart"]) {
    addEventListener(sign, () => { lastSign = performance.now(); }, { passive: true });
  }

  // The seconds since the last time they were taken.
  deadpan.takeSeconds = () => {
    tick();
    const seconds = active / 1000;
    active = 0;
    return Math.round(seconds * 1000) / 1000;
  };
})();
