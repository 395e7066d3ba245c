// Figures whose legend boxes do not match the series drawn in them.
const figures = [...document.querySelectorAll("figure.chart")];
const offenders = figures.length ? [] : ["no figures at all"];
const distinct = elements => [...new Set([...elements].map(element => element.dataset.series))].sort();
for (const figure of figures) {
  const boxes = distinct(figure.querySelectorAll(".legend input[data-series]"));
  const drawn = distinct(figure.querySelectorAll("g.series"));
  if (drawn.length > 1 && boxes.join() !== drawn.join()) {
    offenders.push(`${figure.id}: boxes for ${boxes.join(", ") || "none"}; drawn are ${drawn.join(", ")}`);
  }
}
return offenders;
