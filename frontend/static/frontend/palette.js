// The command palette: a combobox over what the server finds.
const DELAY_MS = 120;

class CmdPalette extends HTMLElement {
  connectedCallback() {
    this.dialog = this.querySelector("dialog");
    this.input = this.querySelector("input");
    this.list = this.querySelector("[role=listbox]");
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), DELAY_MS);
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
  }
  open() {
    this.dialog.showModal();
    this.input.select();
    this.load();
  }
  async load() {
    const asked = this.input.value;
    const address = this.dataset.url + (this.dataset.url.includes("?") ? "&" : "?") + "q=" +
      encodeURIComponent(asked);
    const answer = await fetch(address, {
      headers: {
        "HX-Request": "true"
      }
    }).catch(() => null);
    if (!answer?.ok || asked !== this.input.value) return;
    this.list.innerHTML = await answer.text();
    this.choose(0);
  }
  get options() {
    return [...this.list.querySelectorAll("[role=option]")];
  }
  choose(index) {
    const options = this.options;
    options.forEach((option, place) => option.setAttribute("aria-selected", String(place ===
      index)));
    const chosen = options[index];
    this.input.setAttribute("aria-activedescendant", chosen?.id || "");
    chosen?.scrollIntoView({
      block: "nearest"
    });
  }
  key(event) {
    const options = this.options,
      now = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
    if (event.key === "ArrowDown") this.choose((now + 1) % options.length);
    else if (event.key === "ArrowUp") this.choose((now - 1 + options.length) % options.length);
    else if (event.key === "Enter") options[now]?.click();
    else return;
    event.preventDefault();
  }
}
customElements.define("cmd-palette", CmdPalette);
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]")) document.querySelector("cmd-palette")?.open();
});
