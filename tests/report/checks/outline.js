// Accessibility for readers who cannot see the page: language, headings, labels.
const offenders = [];
if (!document.documentElement.lang) offenders.push("html has no lang");
const headings = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")];
const ones = headings.filter(heading => heading.tagName === "H1").length;
if (ones !== 1) offenders.push(`${ones} h1`);
let before = 0;
for (const heading of headings) {
  const level = Number(heading.tagName[1]);
  if (level > before + 1) offenders.push(`${heading.tagName} "${heading.textContent}" follows level ${before}`);
  before = level;
}
for (const svg of document.querySelectorAll("svg:not([aria-hidden=true])")) {
  if (!svg.getAttribute("aria-label")?.trim()) offenders.push(`an svg of ${svg.closest("figure")?.id} has no aria-label`);
}
for (const input of document.querySelectorAll("input")) {
  const words = [...input.labels].map(label => label.textContent.trim()).join("") || input.getAttribute("aria-label");
  if (!words) offenders.push(`an input of ${input.closest("figure")?.id} has no label`);
}
return offenders;
