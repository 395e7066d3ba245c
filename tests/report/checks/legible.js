// Text in panels that is too small at its scale on the screen.
const least = 8;
const heightOf = text => {
  const { a, b, c, d } = text.getScreenCTM();
  return parseFloat(getComputedStyle(text).fontSize) * Math.sqrt(Math.abs(a * d - b * c));
};
const offenders = [];
for (const panel of panels) {
  for (const text of textsOf(panel).filter(text => heightOf(text) < least)) {
    offenders.push(`${nameOf(panel)}: "${text.textContent}" is ${heightOf(text).toFixed(1)} px high`);
  }
}
return offenders;
