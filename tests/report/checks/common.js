// Common part of the checks: figures and panels, visibility, and positions of points.
const panels = [...document.querySelectorAll("svg.panel")];
const readout = document.getElementById("readout");

// `checkVisibility` alone reports parts of an svg as visible, whatever their `display`.
const isDisplayed = element => {
  const holder = element instanceof SVGElement ? element.parentElement : null;
  return getComputedStyle(element).display !== "none" && (!holder || isDisplayed(holder));
};
const isSeen = element => element.checkVisibility({ visibilityProperty: true }) && isDisplayed(element);

const nameOf = panel => {
  const figure = panel.closest("figure");
  const beside = [...figure.querySelectorAll("svg.panel")];
  return `${figure.id} panel ${beside.indexOf(panel) + 1}`;
};

const boxOf = element => {
  const { left, top, width, height } = element.getBoundingClientRect();
  const short = number => Math.round(number * 10) / 10;
  return `${short(width)}x${short(height)} at ${short(left)},${short(top)}`;
};

const centreOf = element => {
  const box = element.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
};

const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

const pointsOf = holder => [...holder.querySelectorAll("use.point")].filter(isSeen);

const seriesOf = point => point.closest("g.series").dataset.series;

// Text of the readout if it is visible, else null.
const said = () => (readout && isSeen(readout) ? readout.textContent : null);

const textsOf = panel => [...panel.querySelectorAll("text")].filter(isSeen);
