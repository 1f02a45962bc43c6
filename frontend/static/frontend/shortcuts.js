// Keyboard shortcuts: elements name their key in data-key, pages theirs in data-go; nothing fires inside inputs.
const on = document.body.dataset.shortcuts === "on";
const GO_MS = 1_200;
let going = 0;

const typing = (target) => target.closest(
  "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const visible = (node) => node.checkVisibility?.() ?? node.offsetParent !== null;

function press(selector) {
  const nodes = [...document.querySelectorAll(selector)].filter((one) => visible(one) && !one
    .disabled);
  const card = document.activeElement?.closest("[data-card]");
  const node = nodes.find((one) => card?.contains(one)) || nodes[0];
  if (!node) return false;
  if (node.type === "radio") {
    node.click();
    node.form.elements[node.value === "edit" ? "content" : "reason"]?.focus();
  } else node.matches("input") ? node.focus() : node.click();
  return true;
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia(
    "(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  window.htmx?.ajax("POST", "/me/theme", {
    values: {
      theme: root.dataset.theme
    },
    swap: "none",
    source: document.body
  });
}

function withModifier(event) {
  const key = event.key.toLowerCase();
  if (key === "k") return press("[data-key='mod+k']") || press("[data-palette]");
  if (key === ".") return theme(), true;
  if (key === "z" && !typing(event.target)) return press("[data-undo-now]");
  return false;
}

function single(event) {
  if (event.key === "?") return document.getElementById("help")?.showModal(), true;
  const key = CSS.escape(event.key.toLowerCase());
  if (event.timeStamp < going) {
    going = 0;
    return press(`[data-go='${key}']`);
  }
  if (key === "g") {
    going = event.timeStamp + GO_MS;
    return true;
  }
  return press(`[data-key='${key}']`);
}
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey) return;
  const done = event.metaKey || event.ctrlKey ? withModifier(event) :
    on && !typing(event.target) && !document.querySelector("dialog[open]") && event.key
    .length === 1 && single(event);
  if (done) event.preventDefault();
});
