// Panels without titles for both axes, or without axis labels.
const offenders = panels.length ? [] : ["no panels at all"];
for (const panel of panels) {
  const texts = textsOf(panel).filter(text => text.textContent.trim());
  const titles = texts.filter(text => text.closest(".axis-title"));
  if (titles.length < 2) offenders.push(`${nameOf(panel)}: ${titles.length} titles of axes`);
  if (texts.length - titles.length < 2) offenders.push(`${nameOf(panel)}: no labels at the axes`);
}
return offenders;
