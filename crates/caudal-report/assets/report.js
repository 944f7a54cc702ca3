// Adds to the drawn charts what paper cannot do: pointing, hiding, copying. Everything else is there without it.
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const tip = document.getElementById("tip");
  const REACH_PX = 40;

  // The words of a point move from <title> to the point, or the browser would show its own tip beside ours.
  const points = new Map();
  for (const svg of all("svg[data-plot]")) {
    points.set(svg, all("title", svg).map((title) => {
      const shape = title.parentElement;
      const place = shape.transform.baseVal.getItem(0).matrix;
      const point = { shape, series: shape.closest(".series"), x: place.e, y: place.f, words: title.textContent };
      title.remove();
      return point;
    }));
  }

  let shown = null;
  function hide() {
    tip.hidden = true;
    if (!shown) return;
    shown.shape.classList.remove("near");
    const svg = shown.shape.ownerSVGElement;
    svg.classList.remove("dim");
    shown.series.classList.remove("lit");
    shown = null;
  }

  function show(svg, point) {
    if (shown !== point) {
      hide();
      shown = point;
      point.shape.classList.add("near");
      point.series.classList.add("lit");
      svg.classList.add("dim");
      const [name, ...rest] = point.words.split("\n");
      const head = document.createElement("b");
      head.textContent = name;
      tip.replaceChildren(head, rest.join("\n"));
      tip.hidden = false;
    }
    const spot = point.shape.getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const left = spot.right + 12 + box.width > innerWidth ? spot.left - 12 - box.width : spot.right + 12;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, Math.min(innerHeight - box.height - 4, spot.top - box.height / 2))}px`;
  }

  const visible = (svg) => points.get(svg).filter((point) => !point.series.classList.contains("off"));

  function nearest(svg, event) {
    const matrix = svg.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let best = null;
    let least = REACH_PX / matrix.a;
    for (const point of visible(svg)) {
      const distance = Math.hypot(point.x - at.x, point.y - at.y);
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  }

  // Arrow keys: left and right along a curve, up and down to the next curve at about the same place.
  function step(svg, key) {
    const choices = visible(svg);
    if (!choices.length) return null;
    if (!shown || shown.shape.ownerSVGElement !== svg) return choices[0];
    const ahead = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const sideways = ahead[0] !== 0;
    const candidates = choices.filter((point) => {
      const along = (point.x - shown.x) * ahead[0] + (point.y - shown.y) * ahead[1];
      return point !== shown && along > 0 && (point.series === shown.series) === sideways;
    });
    const cost = (point) => sideways ? Math.abs(point.x - shown.x)
      : Math.abs(point.y - shown.y) + 4 * Math.abs(point.x - shown.x);
    return candidates.sort((a, b) => cost(a) - cost(b))[0] ?? shown;
  }

  for (const svg of points.keys()) {
    svg.tabIndex = 0;
    svg.addEventListener("pointermove", (event) => {
      const point = nearest(svg, event);
      if (point) show(svg, point); else hide();
    });
    svg.addEventListener("pointerleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      if (!event.key.startsWith("Arrow")) return;
      const point = step(svg, event.key);
      if (point) show(svg, point);
      event.preventDefault();
    });
  }

  // A curve hidden in one chart is hidden in all: the reader is looking at the others.
  function turn(series, on) {
    for (const button of all(`.legend button[data-series="${series}"]`)) button.setAttribute("aria-pressed", String(on));
    for (const group of all(`svg[data-plot] .series[data-series="${series}"]`)) group.classList.toggle("off", !on);
  }

  // All curves at once, or those that were there at first.
  for (const section of all(".others")) {
    const here = () => all(".legend button", section.closest(".chart"));
    section.querySelector(".every").addEventListener("click", () => {
      for (const button of here()) turn(button.dataset.series, true);
    });
    section.querySelector(".few").addEventListener("click", () => {
      for (const button of here()) turn(button.dataset.series, button.closest(".others") === null);
    });
  }

  for (const button of all(".legend button")) {
    const { series } = button.dataset;
    const section = button.closest(".chart");
    button.addEventListener("click", () => turn(series, button.getAttribute("aria-pressed") === "false"));
    const light = (on) => {
      for (const svg of all("svg[data-plot]", section)) {
        const group = svg.querySelector(`.series[data-series="${series}"]`);
        svg.classList.toggle("dim", on && group !== null);
        group?.classList.toggle("lit", on);
      }
    };
    for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => light(true));
    for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light(false));
  }

  // Rows as CSV: a column a leaf, named by its path.
  function flatten(value, path, into) {
    if (value !== null && typeof value === "object") {
      for (const [key, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${key}` : key, into);
    } else {
      into[path] = value;
    }
    return into;
  }

  function csv(rows) {
    const flat = rows.map((row) => flatten(row, "", {}));
    const columns = [...new Set(flat.flatMap(Object.keys))];
    const cell = (value) => {
      const text = value === null || value === undefined ? "" : String(value);
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [columns, ...flat.map((row) => columns.map((column) => row[column]))]
      .map((line) => line.map(cell).join(",")).join("\n") + "\n";
  }

  function download(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async function copy(button, text) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed here";
    }
    setTimeout(() => { button.textContent = before; }, 1500);
  }

  for (const button of all(".copy")) {
    button.hidden = false;
    button.addEventListener("click", () => copy(button, button.parentElement.querySelector("pre").textContent));
  }
  // Paper cannot be unfolded.
  addEventListener("beforeprint", () => { for (const fold of all("details")) fold.open = true; });

  const data = document.getElementById("rows").textContent;
  const buttons = {
    csv: () => download("caudal.csv", "text/csv", csv(JSON.parse(data))),
    "copy-csv": (button) => copy(button, csv(JSON.parse(data))),
    json: () => download("caudal.json", "application/json", data),
  };
  for (const [id, act] of Object.entries(buttons)) {
    const button = document.getElementById(id);
    if (!button) continue;
    button.hidden = false;
    button.addEventListener("click", () => act(button));
  }
  root.dataset.ready = String(points.size);
})();
