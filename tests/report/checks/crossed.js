// Labels of findings and of the ends of lines that lie on a line.
const step = 2;
const tolerance = 1;
const placesOn = line => {
  const [matrix, length] = [line.getScreenCTM(), line.getTotalLength()];
  const count = Math.floor(length / step) + 1;
  return Array.from({ length: count }, (_, index) => line.getPointAtLength(index * step).matrixTransform(matrix));
};
const isIn = (box, { x, y }) =>
  x > box.left + tolerance && x < box.right - tolerance && y > box.top + tolerance && y < box.bottom - tolerance;
const offenders = [];
for (const panel of panels) {
  const labels = textsOf(panel).filter(text => text.matches(".finding-name, .end-label"));
  if (!labels.length) continue;
  const places = [...panel.querySelectorAll("path.line")].filter(isSeen).flatMap(placesOn);
  for (const label of labels) {
    const box = label.getBoundingClientRect();
    if (places.some(place => isIn(box, place))) offenders.push(`${nameOf(panel)}: "${label.textContent}" lies on a line`);
  }
}
return offenders;
