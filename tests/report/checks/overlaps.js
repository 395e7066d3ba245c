// Texts of a panel that overlap.
const tolerance = 1;
const common = (a, b) => Math.min(
  Math.min(a.right, b.right) - Math.max(a.left, b.left),
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
);
const offenders = [];
for (const panel of panels) {
  const texts = textsOf(panel).map(text => ({ text, box: text.getBoundingClientRect() }));
  texts.forEach((one, index) => {
    for (const other of texts.slice(index + 1).filter(other => common(one.box, other.box) > tolerance)) {
      const words = [one, other].map(({ text }) => `"${text.textContent}" ${boxOf(text)}`);
      offenders.push(`${nameOf(panel)}: ${words.join(" and ")}`);
    }
  });
}
return offenders;
