// Elements that do not fit a window of arguments[0] px. `innerWidth` cannot be used: on a phone it grows with
// the content.
const width = arguments[0];
const root = document.documentElement;
const offenders = [];
if (innerWidth > width) offenders.push(`laid out for ${innerWidth} px, not for ${width}`);
if (root.scrollWidth <= Math.min(width, root.clientWidth)) return offenders;
offenders.push(`the page is ${root.scrollWidth} px wide, not ${width}`);
const scrolls = element => {
  for (let holder = element; holder && holder !== document.body; holder = holder.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(holder).overflowX)) return true;
  }
  return false;
};
for (const element of document.body.querySelectorAll("*")) {
  if (element.getBoundingClientRect().right > width + 1 && isSeen(element) && !scrolls(element.parentElement)) {
    offenders.push(`${element.tagName} ${element.id || element.getAttribute("class") || ""} ${boxOf(element)}`);
  }
}
return offenders;
