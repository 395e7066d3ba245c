// Text and lines with too little contrast to their background, by the formula of WCAG 2.
const least = { text: 4.5, line: 3 };
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const cache = new Map();

// Converts any notation of a colour to [red, green, blue, opacity], each from 0 to 1.
const parsed = colour => {
  if (!cache.has(colour)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    cache.set(colour, [...canvas.getImageData(0, 0, 1, 1).data].map(part => part / 255));
  }
  return cache.get(colour);
};

const over = ([r, g, b, a], below) => [r, g, b].map((part, index) => part * a + below[index] * (1 - a));

const paper = (() => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = "Canvas";
  const colour = parsed(getComputedStyle(probe).color);
  probe.remove();
  return colour;
})();

const behind = element => {
  if (!element) return paper;
  return over(parsed(getComputedStyle(element).backgroundColor), behind(element.parentElement));
};

const opacityOf = element => (element ? getComputedStyle(element).opacity * opacityOf(element.parentElement) : 1);

const luminance = colour => {
  const linear = colour.slice(0, 3).map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
};

const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

const judge = (element, kind, colour, opacity, words) => {
  const below = behind(element);
  const [r, g, b, a] = parsed(colour);
  const found = contrast(over([r, g, b, a * opacity * opacityOf(element)], below), below);
  return found < least[kind] - 0.005 ? [`${words}: ${colour} has a contrast of ${found.toFixed(2)}`] : [];
};

const hasWords = element => [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
const isHtml = element => element instanceof HTMLElement && !element.matches("script, style, option");

const ofHtml = [...document.body.querySelectorAll("*")].filter(isHtml).filter(isSeen).filter(hasWords)
  .flatMap(element => judge(element, "text", getComputedStyle(element).color, 1, `${element.tagName} "${element.textContent.trim().slice(0, 40)}"`));
const ofPanels = panels.flatMap(panel => textsOf(panel).flatMap(text => {
  const style = getComputedStyle(text);
  return judge(text, "text", style.fill, style.fillOpacity, `${nameOf(panel)}: "${text.textContent}"`);
}));
const ofLines = panels.flatMap(panel => [...panel.querySelectorAll("path.line")].filter(isSeen).flatMap(line => {
  const style = getComputedStyle(line);
  return judge(line, "line", style.stroke, style.strokeOpacity, `${nameOf(panel)}: line of ${seriesOf(line)}`);
}));
return [...ofHtml, ...ofPanels, ...ofLines];
