// The page's behavior: small modules, each for one thing. Loaded as a module on every page of an organization.
import "./live.js";
import "./palette.js";
import "./dialogs.js";
import "./shortcuts.js";
import "./list.js";
import "./inbox.js";
import "./conflicts.js";
import "./ribbon.js";
import "./texts.js";

// On a phone the tabs are wider than the page: the one that is open is brought into view.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({
  block: "nearest",
  inline: "nearest"
});
