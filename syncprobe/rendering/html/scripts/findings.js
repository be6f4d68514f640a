// Places of a finding beyond those that are in the page from the start.

const findingRow = ([place, region, perStep, cost, isAllowed]) => element("tr", {},
  element("td", {}, code(place), isAllowed ? element("span", { class: "muted" }, " (allowed)") : null),
  element("td", {}, isolated(region)),
  element("td", { class: "number" }, perStep),
  element("td", { class: "number" }, cost));

const startFindings = (panel, data) => {
  for (const button of panel.querySelectorAll("button[data-more]")) {
    const rows = data.findings[button.dataset.more].slice();
    button.addEventListener("click", () => {
      const body = button.closest("details").querySelector("tbody");
      body.append(...rows.splice(0, PAGE_ROWS).map(findingRow));
      button.hidden = rows.length === 0;
      button.textContent = `Show ${showNumber(rows.length)} more`;
    });
  }
};
