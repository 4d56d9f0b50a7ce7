// Buttons that copy a link, and one that prints the page.
"use strict";
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if ("print" in button.dataset) { print(); return; }
  if (!button.dataset.copy) return;
  const source = document.getElementById(button.dataset.copy);
  try { await navigator.clipboard.writeText(source.textContent.trim()); } catch {
    // Without TLS there is no clipboard: select the text, so that Ctrl+C copies it.
    getSelection().selectAllChildren(source);
    return;
  }
  button.textContent = button.dataset.copied;
});
