// Runs before anything is shown, so that a chosen theme does not flash up in the other one.
(() => {
  "use strict";
  const key = "syncprobe-theme";
  const read = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // a page opened from a file may have no storage
    }
  };
  const chosen = read();
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  document.documentElement.classList.add("scripted");
})();
