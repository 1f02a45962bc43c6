// The list of memories: J/K, peek with its address, selection.
const list = document.getElementById("list"),
  inspector = document.getElementById("inspector");
const split = document.querySelector(".split"),
  bulk = document.getElementById("bulk"),
  news = document.getElementById("news");
const on = document.body.dataset.shortcuts === "on";
let waiting = 0,
  anchor = -1;

const links = () => [...list.querySelectorAll(".open")];
const now = () => links().findIndex((link) => link === document.activeElement || link.closest(
  ".row").classList.contains("selected"));
const boxes = () => [...list.querySelectorAll("input[name=memory]")];

function address(peek) {
  const url = new URL(location.href);
  peek ? url.searchParams.set("peek", peek) : url.searchParams.delete("peek");
  history.replaceState(history.state, "", url);
}

function mark(id) {
  for (const row of list?.querySelectorAll(".row") || []) row.classList.toggle("selected", row
    .id === `row-${id}`);
}

function move(step) {
  const all = links();
  const next = all[Math.max(0, Math.min(all.length - 1, now() + step))];
  if (!next) return;
  next.focus();
  next.closest(".row").scrollIntoView({
    block: "nearest"
  });
  if (split.classList.contains("open") && matchMedia("(min-width: 761px)").matches) next.click();
}

function close() {
  const row = list.querySelector(".row.selected .open");
  split.classList.remove("open");
  mark("");
  address("");
  row?.focus();
}

function select(event) {
  const all = boxes(),
    focused = document.activeElement?.closest(".row")?.querySelector("input");
  const place = Math.max(0, focused ? all.indexOf(focused) : now());
  if (event.shiftKey && anchor >= 0)
    for (let i = Math.min(anchor, place); i <= Math.max(anchor, place); i += 1) all[i].checked =
      true;
  else if (all[place]) {
    all[place].checked = !all[place].checked;
    anchor = place;
  }
  count();
}

function words(node, number) {
  return (number === 1 ? node.dataset.one : node.dataset.many).replace("{n}", number);
}

function count() {
  const chosen = boxes().filter((box) => box.checked).length;
  bulk.hidden = chosen === 0;
  const label = bulk.querySelector("[data-one]");
  label.textContent = words(label, chosen);
}

function expect(event) {
  if (event.detail.target !== inspector || split.classList.contains("open")) return;
  inspector.innerHTML =
    '<div class="in" aria-busy="true"><div class="skel"></div><div class="skel"></div><div class="skel"></div></div>';
  split.classList.add("open");
}
if (list) {
  document.addEventListener("htmx:beforeRequest", expect);
  document.addEventListener("htmx:beforeSwap", (event) => {
    // What was asked for before the inspector was closed does not open it again.
    if (event.detail.target === inspector && !split.classList.contains("open")) event.detail
      .shouldSwap = false;
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== inspector) return;
    const id = inspector.querySelector("[data-memory]")?.dataset.memory;
    split.classList.add("open");
    inspector.scrollTop = 0;
    mark(id);
    address(id);
  });
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest("input:not([type=checkbox]), textarea, select") ||
      document.querySelector("dialog[open]");
    if (busy || event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === "Escape" && split.classList.contains("open")) return close();
    if (!on) return;
    const key = event.key.toLowerCase();
    if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "x") select(event);
    else return;
    event.preventDefault();
  });
  list.addEventListener("change", count);
  list.addEventListener("cairn:news", () => {
    waiting += 1;
    news.hidden = false;
    news.textContent = words(news, waiting);
  });
  news.addEventListener("click", () => location.reload());
  bulk.querySelector("[data-clear]").addEventListener("click", () => {
    for (const box of boxes()) box.checked = false;
    count();
  });
  const shown = inspector.querySelector("[data-memory]");
  if (shown) mark(shown.dataset.memory);
}
document.addEventListener("click", (event) => {
  if (!split) return;
  if (event.target.closest("[data-close-peek]") || (event.target === split && split.classList
      .contains("open"))) close();
});
