// Live regions: one socket a page, resumed by the last id seen, with polling when it stays down.
const body = document.body;
const FAILURES_BEFORE_POLLING = 3,
  POLL_MS = 15_000,
  LONGEST_WAIT_MS = 30_000,
  GAP_MS = 1_000;
let last = Number(body.dataset.cursor || 0),
  failures = 0,
  socket = null,
  timer = 0,
  polling = false;
const regions = new Set();

class LiveRegion extends HTMLElement {
  connectedCallback() {
    regions.add(this);
    this.waiting = [];
  }
  disconnectedCallback() {
    regions.delete(this);
  }

  receive(change) {
    if (this.dataset.refresh) return this.refresh(change.kind);
    const html = change.html[this.dataset.slot];
    if (!html) return;
    if (this.dataset.slot === "row") this.replaceRow(change, html);
    else {
      this.waiting.push(html);
      this.prepend_soon();
    }
  }

  prepend_soon() {
    if (this.getBoundingClientRect().top < 0) return this.offer();
    if (this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.prepend_all();
    }, this.fresh ? GAP_MS : 0);
    this.fresh = true;
  }

  offer() {
    this.pill ??= Object.assign(document.createElement("button"), {
      className: "pill",
      type: "button"
    });
    this.pill.textContent = `${this.dataset.new} (${this.waiting.length})`;
    this.pill.onclick = () => {
      this.pill.remove();
      this.parentElement.scrollIntoView({
        block: "center"
      });
      this.prepend_all();
    };
    this.before(this.pill);
  }

  prepend_all() {
    document.querySelector("[data-until-live]")?.remove();
    for (const html of this.waiting.splice(0)) {
      const row = element(html);
      if (row.id && document.getElementById(row.id)) continue;
      const day = this.firstElementChild?.classList.contains("day") ? this.firstElementChild :
        null;
      day ? day.after(row) : this.prepend(row);
      ready(row);
    }
    const most = Number(this.dataset.most || 30);
    while (this.children.length > most) this.lastElementChild.remove();
  }

  replaceRow(change, html) {
    const row = element(html),
      old = document.getElementById(row.id);
    if (!old) return change.kind === "memory.created" && this.dispatchEvent(new CustomEvent(
      "cairn:news", {
        bubbles: true
      }));
    if (Number(old.dataset.version) > Number(row.dataset.version)) return;
    row.querySelector("input").checked = old.querySelector("input").checked;
    const focused = old.contains(document.activeElement);
    row.classList.add("new");
    row.classList.toggle("selected", old.classList.contains("selected"));
    old.replaceWith(row);
    ready(row);
    if (focused) row.querySelector(".open").focus();
  }

  refresh(kind) {
    if (!(this.dataset.kinds || "").split(",").some((start) => kind.startsWith(start)) || this
      .timer) return;
    this.timer = setTimeout(async () => {
      this.timer = 0;
      const asked = this.asked = (this.asked || 0) + 1;
      const answer = await fetch(this.dataset.refresh, {
        headers: {
          "HX-Request": "true"
        }
      }).catch(() => null);
      // A slow answer must not replace a newer one, and a server that is away is asked again.
      if (asked !== this.asked || !this.isConnected) return;
      if (!answer || answer.status >= 500) return this.refresh(kind);
      if (!answer.ok) return;
      const open = this.querySelector("details")?.open;
      const chosen = new Set([...this.querySelectorAll("input:checked")].map((box) => box
        .value));
      const held = this.contains(document.activeElement) ? document.activeElement.closest(
        "[id]")?.id : "";
      const selected = this.querySelector(".row.selected")?.id;
      this.innerHTML = await answer.text();
      for (const box of this.querySelectorAll("input[type=checkbox]")) box.checked = chosen
        .has(box.value);
      document.getElementById(selected)?.classList.add("selected");
      if (held) document.getElementById(held)?.querySelector(".open")?.focus();
      if (open) this.querySelector("details").open = true;
      ready(this);
    }, GAP_MS);
  }
}
customElements.define("live-region", LiveRegion);

function element(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html.trim();
  return holder.content.firstElementChild;
}

function ready(node) {
  window.htmx?.process(node);
  document.dispatchEvent(new CustomEvent("cairn:ready", {
    detail: node
  }));
}

function show(state) {
  for (const chip of document.querySelectorAll("[data-live-state]")) {
    chip.querySelector(".dot").className = state === "on" ? "dot on" : "dot";
    chip.lastElementChild.textContent = chip.dataset[state];
    chip.dataset.state = state;
  }
}

function grown(id) {
  for (const region of regions)
    if (region.dataset.session === id) region.refresh("session.");
}

function take(change) {
  if (change.type === "session") return grown(change.id);
  if (change.type !== "change" || change.id <= last) return;
  last = change.id;
  for (const region of regions) region.receive(change);
}

function shown() {
  return document.querySelector("live-region[data-session]")?.dataset.session;
}

function query() {
  const session = shown() ? `&session=${shown()}` : "";
  const project = body.dataset.project ? `&project=${encodeURIComponent(body.dataset.project)}` : "";
  return `${session}&language=${document.documentElement.lang}${project}`;
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(
  `${scheme}//${location.host}${body.dataset.live}?cursor=${last}${query()}`);
  socket.onopen = () => {
    failures = 0;
    polling = false;
    clearTimeout(timer);
    show("on");
  };
  socket.onmessage = (event) => take(JSON.parse(event.data));
  socket.onclose = (event) => {
    if (event.code === 4403 || event.code === 4401) return location.reload();
    failures += 1;
    show(failures > FAILURES_BEFORE_POLLING ? "slow" : "off");
    if (failures > FAILURES_BEFORE_POLLING && !polling) {
      polling = true;
      poll();
    }
    const wait = Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures) * (0.5 + Math.random());
    setTimeout(connect, wait);
  };
}
async function poll() {
  if (!polling) return;
  const answer = await fetch(`${body.dataset.poll}?after=${last}${query()}`).catch(() => null);
  if (answer?.ok)(await answer.json()).changes.forEach(take);
  if (shown()) grown(shown());
  timer = setTimeout(poll, POLL_MS);
}
if (body.dataset.live) connect();
document.addEventListener("cairn:drop", () => socket?.close());
addEventListener("pagehide", () => {
  if (socket) {
    socket.onclose = null;
    socket.close();
  }
});
addEventListener("pageshow", (event) => {
  if (event.persisted && body.dataset.live) connect();
});
