// Tables sort by a click on a heading. Cells without a number stay at the end.
for (const table of document.querySelectorAll("table")) {
  const heads = table.querySelectorAll("thead th");
  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const numeric = head.classList.contains("num");
      const before = head.getAttribute("aria-sort");
      const down = before ? before === "ascending" : numeric;
      const key = (row) => {
        const cell = row.cells[at];
        return numeric ? Number(cell.dataset.value ?? NaN) : cell.textContent;
      };
      const compare = (a, b) => {
        if (!numeric) return down ? b.localeCompare(a) : a.localeCompare(b);
        if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
        return a === b ? 0 : (a < b ? -1 : 1) * (down ? -1 : 1);
      };
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      body.append(...[...body.rows].sort((a, b) => compare(key(a), key(b))));
    });
  });
}
// Boxes of text to copy get a button; without it a click selects the whole text.
for (const box of document.querySelectorAll(".copy")) {
  const text = box.querySelector("code");
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  box.append(button);
}
