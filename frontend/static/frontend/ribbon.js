// The steps of a session: one stop of the Tab key, arrows from bar to bar, the open one marked.
const bars = () => [...document.querySelectorAll(".ribbon .bar")];

function settle() {
  const all = bars(),
    event = Number(document.querySelector("#step-pane [data-event]")?.dataset.event || 0);
  if (!all.length) return;
  let stop = all.indexOf(document.activeElement);
  all.forEach((bar, place) => {
    const open = event >= Number(bar.dataset.first) && event <= Number(bar.dataset.last);
    open ? bar.setAttribute("aria-current", "step") : bar.removeAttribute("aria-current");
    if (open && stop < 0) stop = place;
  });
  all.forEach((bar, place) => {
    bar.tabIndex = place === Math.max(0, stop) ? 0 : -1;
  });
}

function step(event) {
  const all = bars(),
    here = all.indexOf(event.target);
  const to = {
    ArrowLeft: here - 1,
    ArrowRight: here + 1,
    Home: 0,
    End: all.length - 1
  } [event.key];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  const next = all[Math.max(0, Math.min(all.length - 1, to))];
  for (const bar of all) bar.tabIndex = bar === next ? 0 : -1;
  next.focus();
}
if (document.querySelector("#steps")) {
  document.addEventListener("keydown", step);
  document.addEventListener("cairn:ready", settle);
  document.addEventListener("htmx:afterSettle", settle);
  settle();
}
