// Panels of a figure that are not side by side in a wide window, or are in a narrow one of arguments[0] px.
const isWide = arguments[0] >= 800;
const isBeside = (one, other) => one.right <= other.left + 1 && one.top < other.bottom && other.top < one.bottom;
const offenders = [];
for (const figure of document.querySelectorAll("figure.chart")) {
  const boxes = [...figure.querySelectorAll("svg.panel")].map(panel => panel.getBoundingClientRect());
  if (boxes.length < 2) continue;
  const areBeside = boxes.some(one => boxes.some(other => isBeside(one, other)));
  if (areBeside !== isWide) offenders.push(`${figure.id}: ${boxes.length} panels ${areBeside ? "are" : "are not"} side by side`);
}
return offenders;
