// Points without text, or whose text has no number with a unit. A size in bytes does not count: it is the position
// of a point, not a result. Figures without a unit are named: a p-value, or the middle half of ratios.
const unit = "(?:[kMGT]?i?B/s|[fpnum\u00b5]?s|[kMG]?Hz|%|times|messages|calls)";
const figure = new RegExp(`\\d[\\d.,]*\\s?${unit}(?![A-Za-z])`);
const plain = /\bp = \d|: [\d.]+ \(middle half [\d.]+ to [\d.]+, n = \d+\)/;
const isTold = words => figure.test(words) || plain.test(words);
const offenders = document.querySelectorAll("use.point").length ? [] : ["no points at all"];
for (const panel of panels) {
  const points = [...panel.querySelectorAll("use.point")];
  if (!points.length) offenders.push(`${nameOf(panel)}: no points`);
  for (const point of points.filter(point => !isTold(point.words ?? ""))) {
    offenders.push(`${nameOf(panel)}: ${point.words ?? "no words"}`);
  }
  if (panel.querySelector(".point title")) offenders.push(`${nameOf(panel)}: titles are still there`);
}
return offenders;
