// Position of a point in panel number arguments[0], of series arguments[1] if given: the point farthest from its
// neighbours, with the texts of all points at that position.
const panel = panels[arguments[0]];
const wanted = arguments[1];
const place = point => ({ point, ...centreOf(point) });
panel.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
const all = pointsOf(panel).map(place);
const loneliness = here => Math.min(...all.filter(other => other !== here).map(other => distance(here, other)), 1e9);
const candidates = all.filter(({ point }) => !wanted || seriesOf(point) === wanted);
if (!candidates.length) return null;
const best = candidates.reduce((a, b) => (loneliness(b) > loneliness(a) ? b : a));
best.point.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
const here = place(best.point);
const upon = pointsOf(panel).filter(other => distance(centreOf(other), here) <= 2);
return {
  x: here.x,
  y: here.y,
  scrolled: [scrollX, scrollY],
  words: best.point.words ?? null,
  accepted: upon.map(point => point.words ?? null),
  panel: nameOf(panel),
};
