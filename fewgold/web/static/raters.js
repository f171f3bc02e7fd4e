// Copying links; without it they can be marked and copied by hand.
(() => {
  "use strict";
  const ready = () => document.querySelectorAll("[data-copy]").forEach((b) => { b.hidden = false; });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const field = document.getElementById(button.dataset.copy);
    field.select();
    let done = false;
    try { await navigator.clipboard.writeText(field.value); done = true; } catch { done = document.execCommand("copy"); }
    button.textContent = done ? "Copied" : "Press Ctrl C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  document.addEventListener("htmx:afterSettle", ready);
  ready();
})();
