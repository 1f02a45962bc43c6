// Faults of the page as sentences: names, labels, headings, duplicate ids, contrast, target sizes (WCAG 2.2 AA).
() => {
  const faults = [],
    say = (node, what) => faults.push(`${what}: ${node.outerHTML.slice(0, 120)}`);
  const visible = (node) => node.checkVisibility({
    checkOpacity: true,
    checkVisibilityCSS: true
  }) && node.getClientRects().length > 0;
  const name = (node) => (node.getAttribute("aria-label") || node.title || node.innerText || node
      .placeholder || "").trim() ||
    [...(node.labels || [])].map((label) => label.innerText).join(" ").trim() ||
    (node.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)
      ?.innerText || "").join(" ").trim();

  for (const node of document.querySelectorAll("a[href], button, summary, [role=button]"))
    if (visible(node) && !name(node) && !node.querySelector(".sr")) say(node, "no name");
  for (const node of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (visible(node) && !(node.getAttribute("aria-label") || node.labels?.length)) say(node,
      "no label");
  for (const node of document.querySelectorAll("svg:not([aria-hidden])"))
    if (visible(node) && !node.getAttribute("aria-label")) say(node, "unnamed drawing");
  for (const node of document.querySelectorAll("img:not([alt])")) say(node, "no alternative");
  if (!document.documentElement.lang) faults.push("no language");
  if (!document.title.trim()) faults.push("no title");
  if (document.querySelectorAll("main").length !== 1) faults.push("not one main");
  if ([...document.querySelectorAll("h1")].filter(visible).length > 1) faults.push(
    "two first headings");

  let level = 0;
  for (const node of [...document.querySelectorAll("h1, h2, h3, h4")].filter(visible)) {
    const now = Number(node.tagName[1]);
    if (level && now > level + 1) say(node, `heading jumps from ${level} to ${now}`);
    level = now;
  }
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of new Set(ids))
    if (ids.filter((one) => one === id).length > 1) faults.push(`id twice: ${id}`);
  for (const node of document.querySelectorAll(
      "[aria-labelledby], [aria-describedby], [aria-controls]"))
    for (const attribute of ["aria-labelledby", "aria-describedby"])
      for (const id of (node.getAttribute(attribute) || "").split(" ").filter(Boolean))
        if (visible(node) && !document.getElementById(id)) say(node, `${attribute} names nothing`);

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {
    willReadFrequently: true
  });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((value, i) => value * top[3] + below[i] * (1 -
    top[3])).concat(1);
  const backdrop = (node) => {
    const layers = [];
    for (let one = node; one; one = one.parentElement) layers.push(rgba(getComputedStyle(one)
      .backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
  };
  const light = (color) => {
    const [r, g, b] = color.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node || !visible(node) || node.closest(
        "[disabled], .sr, script, style, template, .skip, dialog:not([open])")) continue;
    const style = getComputedStyle(node),
      below = backdrop(node),
      color = over(rgba(node.closest("svg") ? style.fill : style.color), below);
    const [high, low] = [light(color), light(below)].sort((a, b) => b - a), ratio = (high + 0.05) /
      (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 &&
      Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) say(node, `contrast ${ratio.toFixed(2)}`);
  }
  for (const node of document.querySelectorAll("button, summary, select, input[type=submit]")) {
    const box = node.getBoundingClientRect();
    if (visible(node) && !node.closest(".sr, p, .tl, footer") && (box.height < 24 || box.width <
      24)) say(node, `target ${Math.round(box.width)}x${Math.round(box.height)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push(
    `wider than the window by ${document.documentElement.scrollWidth - innerWidth}`);
  return faults;
}
