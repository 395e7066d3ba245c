// Text that extends beyond its panel.
const tolerance = 1;
const offenders = [];
for (const panel of panels) {
  const frame = panel.getBoundingClientRect();
  for (const text of textsOf(panel)) {
    const box = text.getBoundingClientRect();
    const over = Math.max(frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom);
    if (over > tolerance) offenders.push(`${nameOf(panel)}: "${text.textContent}" ${boxOf(text)} in ${boxOf(panel)}`);
  }
}
return offenders;
