// What was handed in need not stay on the device.
"use strict";
(() => {
  const { who, study } = document.body.dataset;
  try { localStorage.removeItem(`deadpan:survey:${who}:${study}`); } catch { /* nothing to forget */ }
})();
