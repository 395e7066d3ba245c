// Offences in print; runs while the print styles apply.
const offenders = [];
for (const control of document.querySelectorAll("input, button, select")) {
  if (isSeen(control)) offenders.push(`${control.tagName} of ${control.closest("figure")?.id} is printed`);
}
// Simulates printing while the readout is shown.
const wasHidden = readout.hidden;
readout.hidden = false;
if (isSeen(readout)) offenders.push("the readout is printed");
readout.hidden = wasHidden;
const probe = document.body.appendChild(document.createElement("i"));
probe.style.color = "Canvas";
const canvas = getComputedStyle(probe).color;
probe.remove();
const backgrounds = [document.body, document.documentElement].map(element => getComputedStyle(element).backgroundColor);
const seen = [...backgrounds, canvas].find(colour => colour !== "rgba(0, 0, 0, 0)");
if (seen !== "rgb(255, 255, 255)") offenders.push(`the background is ${seen}`);
return offenders;
