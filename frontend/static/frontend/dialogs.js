// Dialogs, menus and toasts. A fragment that lands in #modal opens it; events from the server close
// it and say what happened.
const modal = document.getElementById("modal"),
  toasts = document.getElementById("toasts");
const TOAST_MS = 8_000;

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target !== modal) return;
  if (!modal.open) modal.showModal();
  modal.querySelector("[role=alert]")?.focus();
  modal.querySelector("[autofocus]")?.focus();
});
addEventListener("cairn:close", () => {
  if (modal?.open) modal.close();
});
modal?.addEventListener("close", () => {
  modal.replaceChildren();
});

document.addEventListener("click", (event) => {
  const target = event.target;
  if (target.closest("[data-close]")) target.closest("dialog").close();
  if (target.matches("dialog.dlg")) target.close();
  if (target.closest("[data-more]")) document.getElementById("more").showModal();
  for (const menu of document.querySelectorAll("details[data-menu][open]"))
    if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape")
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
  if (event.shiftKey) modal?.querySelector("[data-instead]")?.click();
  else event.target.closest("form")?.requestSubmit();
});
document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.confirm;
  if (question && !confirm(question)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}, true);
document.addEventListener("change", (event) => {
  if (event.target.matches("[data-submit-on-change]")) event.target.form.requestSubmit();
});

export function toast(text, undo) {
  const box = document.createElement("div");
  box.className = "toast";
  box.append(Object.assign(document.createElement("span"), {
    textContent: text
  }));
  if (undo) {
    const button = Object.assign(document.createElement("button"), {
      textContent: toasts.dataset.undo
    });
    button.dataset.undoNow = "";
    button.addEventListener("click", () => {
      window.htmx.ajax("POST", undo, {
        target: document.querySelector("#inspector") ?? document.querySelector("#content"),
        source: document.body
      });
      box.remove();
    });
    box.append(button);
  }
  toasts.append(box);
  setTimeout(() => box.remove(), TOAST_MS);
}
addEventListener("cairn:toast", (event) => toast(event.detail.text, event.detail.undo));
for (const event of ["htmx:sendError", "htmx:timeout"]) document.addEventListener(event, () =>
  toast(document.body.dataset.failed));
new MutationObserver((records) => {
  for (const {
      addedNodes
    }
    of records)
    for (const node of addedNodes) setTimeout(() => node.remove?.(), TOAST_MS);
}).observe(toasts, {
  childList: true
});
for (const node of toasts.children) setTimeout(() => node.remove(), TOAST_MS);
