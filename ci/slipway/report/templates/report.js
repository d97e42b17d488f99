"use strict";
// Tooltips by pointer and by arrow keys, neighbours in the picture of modules, sorted and filtered tables.
// Everything can be read without it.
(() => {
  const tip = document.getElementById("tip");

  for (const log of document.querySelectorAll(".failure pre")) log.scrollTop = log.scrollHeight;

  function place(element) {
    const box = element.getBoundingClientRect();
    const width = tip.offsetWidth;
    const left = Math.min(Math.max(box.left + box.width / 2 - width / 2, 8), innerWidth - width - 8);
    const above = box.top - tip.offsetHeight - 8;
    tip.style.left = `${left}px`;
    tip.style.top = `${above > 50 ? above : Math.min(box.bottom + 8, innerHeight - tip.offsetHeight - 8)}px`;
  }

  function show(element) {
    tip.textContent = element.dataset.tip;
    tip.hidden = false;
    place(element);
  }

  function hide() {
    tip.hidden = true;
  }

  document.addEventListener("pointerover", (event) => {
    const element = event.target.closest("[data-tip]");
    if (element) show(element);
    else hide();
  });
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  for (const chart of document.querySelectorAll(".chart")) {
    const items = [...chart.querySelectorAll("[data-tip]")];
    let active = -1;
    const leave = () => {
      items[active]?.classList.remove("active");
      hide();
    };
    chart.addEventListener("blur", leave);
    chart.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const ends = { Home: 0, End: items.length - 1 }[event.key];
      if ((step === undefined && ends === undefined) || items.length === 0) return;
      event.preventDefault();
      leave();
      active = ends ?? Math.min(Math.max(active + step, 0), items.length - 1);
      items[active].classList.add("active");
      show(items[active]);
    });
  }

  const picture = document.querySelector("svg.modules");
  if (picture) {
    const nodes = new Map([...picture.querySelectorAll(".node")].map((node) => [node.dataset.name, node]));
    const links = [...picture.querySelectorAll(".link")];
    const clear = () => {
      picture.classList.remove("focused");
      for (const element of picture.querySelectorAll(".near")) element.classList.remove("near");
    };
    for (const [name, node] of nodes) {
      node.addEventListener("pointerenter", () => {
        clear();
        node.classList.add("near");
        for (const link of links.filter(({ dataset }) => dataset.from === name || dataset.to === name)) {
          link.classList.add("near");
          nodes.get(link.dataset.from).classList.add("near");
          nodes.get(link.dataset.to).classList.add("near");
        }
        picture.classList.add("focused");
      });
      node.addEventListener("pointerleave", clear);
    }
  }

  for (const table of document.querySelectorAll("[data-sortable]")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells].filter((head) => !head.classList.contains("meter"));
    const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    const sort = (head) => {
      const column = head.cellIndex;
      const descending = head.getAttribute("aria-sort") !== "descending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const sign = descending ? -1 : 1;
      const rows = [...body.rows].sort((first, second) =>
        sign * value(first, column).localeCompare(value(second, column), "en", { numeric: true }));
      body.append(...rows);
    };
    for (const head of heads) {
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(head));
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          sort(head);
        }
      });
    }
  }

  for (const input of document.querySelectorAll("[data-filter]")) {
    const body = input.closest("details").querySelector("tbody");
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      for (const row of body.rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
    });
  }
})();
