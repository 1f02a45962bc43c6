// The review inbox: an open item that leaves the list while nobody here decided is marked.
const inbox = document.querySelector(".inbox"),
  list = document.getElementById("list"),
  pane = document.getElementById("inspector");

const listed = () => new Set([...list.querySelectorAll(".row[id]")].map((row) => row.id));
if (inbox) {
  let before = listed();
  document.addEventListener("cairn:ready", (event) => {
    if (event.detail !== list) return;
    const open = pane.querySelector("[data-memory]"),
      now = listed(),
      id = `row-${open?.dataset.memory}`;
    if (open && before.has(id) && !now.has(id)) {
      open.querySelector(".gone").hidden = false;
      for (const control of open.querySelectorAll("[data-key]")) control.removeAttribute(
        "data-key");
    }
    before = now;
    list.dispatchEvent(new Event("change", {
      bubbles: true
    }));
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target === pane) inbox.classList.remove("auto");
  });
  document.addEventListener("htmx:afterSettle", () => {
    before = listed();
  });
}
