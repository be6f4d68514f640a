// Text is on the screen already; what has to be drawn is drawn panel by panel, as it is looked at.

const chartSpecs = embeddedData("charts");
const timelines = [];
const started = new Set();

const startPanel = (panel) => {
  const dataElement = document.getElementById(`${panel.id}-data`);
  if (!dataElement || started.has(panel)) return;
  started.add(panel);
  const data = decodePanel(panel.id);
  const place = panel.querySelector("[data-sites]");
  const sites = place && new SitesTable(place, data);
  startFindings(panel, data);
  for (const button of panel.querySelectorAll("button[data-place]")) {
    button.addEventListener("click", () => sites?.find(button.dataset.place));
  }
  const drawing = panel.querySelector("[data-timeline]");
  if (drawing && data.timelines.length) {
    timelines.push(new TimelineView(drawing, data.timelines, (text) => sites?.find(text)));
  }
};

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

const recolour = () => {
  document.getElementById("theme").textContent = isDark() ? "Light" : "Dark";
  redrawCharts(chartSpecs);
  for (const timeline of timelines) timeline.draw();
};

document.getElementById("theme").addEventListener("click", () => {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem("syncprobe-theme", next);
  } catch {
    // a page opened from a file may have no storage; the choice then lasts as long as the page
  }
  recolour();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
recolour();

startTabs((panel) => whenIdle(() => {
  startPanel(panel);
  drawCharts(panel, chartSpecs);
  document.documentElement.dataset.ready = panel.id;
}));
