// Sliders follow their fields and fields their sliders; answers come while they move.
"use strict";
(() => {
  const form = document.getElementById("plan-form");
  if (!form) return;
  const GAP = 110; // ms between questions while a slider moves: browsers bound changes of the address
  let last = 0;
  let waiting = 0;

  const ask = () => {
    last = Date.now();
    waiting = 0;
    htmx.trigger(form, "plan");
  };

  document.addEventListener("input", (event) => {
    const from = event.target;
    if (from.form !== form) return;
    const twin = from.dataset.twin && document.getElementById(from.dataset.twin);
    if (twin && from.value !== "") twin.value = from.value;
    if (!waiting) waiting = setTimeout(ask, Math.max(0, last + GAP - Date.now()));
  });

  const text = (element) => {
    if (element.id === "link") return new URL(element.dataset.path, location.href).href;
    if (element.tagName !== "TABLE") return element.textContent;
    const rows = Array.from(element.rows, (row) => Array.from(row.cells, (c) => c.textContent.trim().replace(/\s+/g, " ")));
    return rows.map((row) => row.join("\t")).join("\n");
  };

  const copy = async (button) => {
    const element = document.getElementById(button.dataset.copy);
    const told = button.textContent;
    try {
      await navigator.clipboard.writeText(text(element));
      button.textContent = "Copied";
    } catch {
      if (element.select) element.select();
      else getSelection().selectAllChildren(element);
      button.textContent = "Selected: copy it with Ctrl-C";
    }
    setTimeout(() => { button.textContent = told; }, 2000);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });

  const open = new Set();
  document.addEventListener("toggle", (event) => {
    const key = event.target.querySelector?.("[id]")?.id;
    if (key) open[event.target.open ? "add" : "delete"](key);
  }, true);

  const ready = () => {
    for (const hidden of document.querySelectorAll(".slider[hidden], .copy[hidden]")) hidden.hidden = false;
    for (const details of document.querySelectorAll("details:not([open])")) {
      if (open.has(details.querySelector("[id]")?.id)) details.open = true;
    }
    for (const error of document.querySelectorAll(".error")) {
      const input = document.getElementById(error.id.replace("error-", ""));
      if (error.textContent.trim()) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    }
    const link = document.getElementById("link");
    if (link) link.value = new URL(link.dataset.path, location.href).href;
  };
  document.addEventListener("htmx:afterSettle", ready);
  ready();
})();
