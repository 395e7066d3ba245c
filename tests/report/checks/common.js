// What the checks share: which figures and panels there are, what can be seen, where points lie.
const panels = [...document.querySelectorAll("svg.panel")];
const readout = document.getElementById("readout");

// `checkVisibility` alone says of parts of an svg that they are seen, whatever their `display`.
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

// The readout's words where it is shown, else nothing.
const said = () => (readout && isSeen(readout) ? readout.textContent : null);

const textsOf = panel => [...panel.querySelectorAll("text")].filter(isSeen);
