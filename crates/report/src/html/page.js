// Shows the text of a point on hovering and on keyboard focus, and hides series. The page is complete without it:
// the texts are also the titles of the points.
"use strict";
(() => {
  const REACH = 24; // px from the pointer to a point
  const readout = document.getElementById("readout");
  let shown = null;

  const center = (point) => {
    const box = point.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };

  const isOff = (point) => point.parentNode.classList.contains("off");

  const hide = () => {
    if (shown) shown.classList.remove("shown");
    shown = null;
    readout.hidden = true;
  };

  const show = (point) => {
    if (point === shown) return;
    hide();
    shown = point;
    point.classList.add("shown");
    readout.textContent = point.words;
    readout.hidden = false;
    const [x, y] = center(point);
    const room = document.documentElement.clientWidth - readout.offsetWidth - 8;
    readout.style.left = Math.max(8, Math.min(x - readout.offsetWidth / 2, room)) + scrollX + "px";
    const above = y - readout.offsetHeight - 14;
    readout.style.top = (above > 0 ? above : y + 14) + scrollY + "px";
  };

  const pointsOf = (panel) => [...panel.querySelectorAll(".point")].filter((p) => !isOff(p));

  const nearest = (panel, x, y) => {
    let best = null;
    let least = REACH;
    for (const point of pointsOf(panel)) {
      const [atX, atY] = center(point);
      const distance = Math.hypot(atX - x, atY - y);
      if (distance < least) [best, least] = [point, distance];
    }
    return best;
  };

  // Right and left along a series, up and down to the next series that is shown.
  const walk = (panel, key) => {
    const all = pointsOf(panel);
    if (all.length === 0) return null;
    if (!shown || !panel.contains(shown)) return all[0];
    const series = [...new Set(all.map((point) => point.parentNode))];
    const own = all.filter((point) => point.parentNode === shown.parentNode);
    const at = own.indexOf(shown);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
    if (key === "ArrowRight" || key === "ArrowLeft") return own[at + step] || shown;
    const next = series[series.indexOf(shown.parentNode) + step];
    if (!next) return shown;
    const others = all.filter((point) => point.parentNode === next);
    return others[Math.min(at, others.length - 1)];
  };

  for (const panel of document.querySelectorAll("svg.panel")) {
    for (const point of panel.querySelectorAll(".point")) {
      const title = point.querySelector("title");
      point.words = title.textContent;
      title.remove();
    }
    panel.addEventListener("pointermove", (event) => {
      const point = nearest(panel, event.clientX, event.clientY);
      if (point) show(point);
      else hide();
    });
    panel.addEventListener("pointerleave", hide);
    panel.addEventListener("blur", hide);
    panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide();
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const point = walk(panel, event.key);
      if (point) show(point);
    });
  }

  for (const box of document.querySelectorAll(".legend input")) {
    box.addEventListener("change", () => {
      const chart = box.closest("figure");
      for (const series of chart.querySelectorAll(`.series[data-series="${box.dataset.series}"]`)) {
        series.classList.toggle("off", !box.checked);
      }
      hide();
    });
  }
})();
