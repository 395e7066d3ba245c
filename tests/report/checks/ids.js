// Duplicate ids, and references to missing markers.
const ids = [...document.querySelectorAll("[id]")].map(element => element.id);
const twice = [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
const markers = [...new Set([...document.querySelectorAll("use")].map(use => use.getAttribute("href") ?? ""))];
const missing = markers.filter(marker => !marker.startsWith("#") || !ids.includes(marker.slice(1)));
return [...twice.map(id => `id ${id} is there twice`), ...missing.map(marker => `no marker "${marker}"`)];
