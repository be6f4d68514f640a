// One panel at a time; without scripts, and on paper, all of them one after the other.

const panels = [...document.querySelectorAll(".panel")];
const tabs = [...document.querySelectorAll('[role="tab"]')];

const target = () => (location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null);

const showPanel = (chosen, whenShown) => {
  for (const panel of panels) panel.hidden = panel !== chosen;
  for (const tab of tabs) {
    const isChosen = tab.getAttribute("aria-controls") === chosen.id;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
  }
  whenShown(chosen);
};

const startTabs = (whenShown) => {
  const follow = () => {
    showPanel(target()?.closest(".panel") ?? panels[0], whenShown);
    target()?.scrollIntoView();
  };
  for (const tab of tabs) {
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  }
  window.addEventListener("hashchange", follow);
  follow();
};
