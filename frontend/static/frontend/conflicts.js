// Conflicts: J/K go from card to card; a card that was decided or has changed meanwhile says so.
const on = document.body.dataset.shortcuts === "on",
  count = document.getElementById("conflicts-count");
const cards = () => [...document.querySelectorAll("[data-card]")];

function move(step) {
  const all = cards(),
    place = all.findIndex((card) => card.contains(document.activeElement));
  all[Math.max(0, Math.min(all.length - 1, place < 0 ? 0 : place + step))]?.querySelector("h2")
    .focus();
}
if (count) {
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest(
      "input:not([type=checkbox], [type=radio]), textarea, select") || document.querySelector(
      "dialog[open]");
    if (!on || busy || event.metaKey || event.ctrlKey || event.altKey || !["j", "k"].includes(
        event.key.toLowerCase())) return;
    move(event.key.toLowerCase() === "j" ? 1 : -1);
    event.preventDefault();
  });
  document.addEventListener("cairn:ready", (event) => {
    const standing = event.detail === count && count.querySelector("[data-open]")?.dataset.open
      .split(" ");
    if (!standing) return;
    for (const card of cards()) {
      if (!card.querySelector("[name=reason]") || standing.includes(
          `${card.dataset.card}:${card.dataset.version}`)) continue;
      card.querySelector(".gone").hidden = false;
      for (const control of card.querySelectorAll("[name=verdict], button")) control.disabled =
        true;
    }
  });
}
