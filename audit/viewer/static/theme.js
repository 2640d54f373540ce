"use strict";

// The theme that was chosen: the system's, light or dark. Not deferred, so that no page flashes in another one.
const Theme = (() => {
  const CHOICES = ["system", "light", "dark"];
  const stored = () => {
    try {
      return localStorage.getItem("audit-view-theme");
    } catch {
      return null; // a page without storage keeps its choice until it is left
    }
  };
  let chosen = CHOICES.includes(stored()) ? stored() : "system";

  function apply() {
    const root = document.documentElement;
    if (chosen === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = chosen;
    const button = document.getElementById("theme");
    if (button) button.textContent = `Theme: ${chosen}`;
  }

  function next() {
    chosen = CHOICES[(CHOICES.indexOf(chosen) + 1) % CHOICES.length];
    try {
      localStorage.setItem("audit-view-theme", chosen);
    } catch {
      // as above
    }
    apply();
  }

  apply();
  return { apply, next };
})();
