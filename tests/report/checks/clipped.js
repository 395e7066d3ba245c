// Text that is cut off because its element hides overflow.
const hides = style => ["hidden", "clip"].includes(style.overflowX);
const isForEyes = element => element.clientWidth > 1;
const offenders = [];
for (const element of document.body.querySelectorAll("*:not(svg, svg *)")) {
  if (!isSeen(element) || !hides(getComputedStyle(element)) || !isForEyes(element)) continue;
  if (element.scrollWidth > element.clientWidth + 1) {
    offenders.push(`${element.tagName} "${element.textContent.trim().slice(0, 60)}": ${element.scrollWidth} px in ${element.clientWidth}`);
  }
}
return offenders;
