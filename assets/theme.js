// Runs before the page is painted, so that a chosen theme never flashes. Without it the reader's
// preference decides.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let kept = null;
  try {
    kept = localStorage.getItem("theme");
  } catch {
    // A browser that keeps nothing still shows the preferred theme.
  }
  if (kept === "light" || kept === "dark") root.classList.add(kept);
})();
