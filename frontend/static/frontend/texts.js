// Small helps: copying, local clock times, short names from names, links to a memory.
import {
  toast
} from "./dialogs.js";

function clocks(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23"
  });
  for (const time of root.querySelectorAll("[data-clock]")) time.textContent = format.format(
    new Date(time.dateTime));
}
// The moment itself is said when somebody points at an age or a time of day.
document.addEventListener("pointerover", (event) => {
  const time = event.target.closest?.("[data-moment]:not([title])");
  if (time) time.title = new Intl.DateTimeFormat(document.documentElement.lang, {
    dateStyle: "long",
    timeStyle: "medium"
  }).format(new Date(time.dateTime));
});
async function copy(text) {
  await navigator.clipboard.writeText(text);
  toast(document.body.dataset.copied);
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]"),
    link = event.target.closest("[data-copy-link]");
  if (button) copy(button.parentElement.querySelector("code").textContent);
  if (link && !event.metaKey && !event.ctrlKey) {
    event.preventDefault();
    copy(link.href);
  }
});
document.addEventListener("input", (event) => {
  const slug = event.target.dataset.slugTo && document.getElementById(event.target.dataset
    .slugTo);
  if (slug && !slug.dataset.touched) slug.value = event.target.value.normalize("NFKD")
    .toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
  if (event.target.pattern && event.isTrusted) event.target.dataset.touched = "1";
});

function modifiers(root) {
  if (!/Mac|iP/.test(navigator.platform))
    for (const key of root.querySelectorAll("[data-mod]")) key.textContent = key.textContent
      .replace("⌘", "Ctrl ");
}
document.addEventListener("cairn:ready", (event) => clocks(event.detail));
document.addEventListener("htmx:afterSwap", (event) => {
  modifiers(event.detail.target);
  clocks(event.detail.target);
});
clocks(document);
modifiers(document);
