// What was handed in need not stay on the device.
"use strict";
(() => {
  const { handedIn } = document.querySelector("[data-handed-in]").dataset;
  try { localStorage.removeItem("deadpan:survey:" + handedIn); } catch { /* nothing to forget */ }
})();
