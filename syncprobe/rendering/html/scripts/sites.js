// The table of sites: thousands of rows stay quick because only some of them are in the page.

const PAGE_ROWS = matchMedia("(max-width: 760px)").matches ? 25 : 200;

const showOr = (show) => (value) => (value === null || value === "" ? "-" : show(value));

const COLUMNS = [
  { key: "place", title: "line" },
  { key: "kind", title: "kind" },
  { key: "operation", title: "operation" },
  { key: "region", title: "region" },
  { key: "count", title: "count", show: showNumber },
  { key: "perStep", title: "per step", show: showNumber },
  { key: "bytes", title: "bytes", show: showBytes },
  { key: "stall", title: "stall, us", show: showDuration },
  { key: "host", title: "host, us", show: showDuration },
  { key: "syncClass", title: "class" },
  { key: "rule", title: "rule" },
  { key: "planStep", title: "plan step", show: showOr(String) },
];

const byColumn = (key, isDescending) => (first, second) => {
  const [one, other] = [first[key], second[key]];
  if (one === other) return 0;
  if (one === null || one === "") return 1; // what is not known comes last, either way
  if (other === null || other === "") return -1;
  const order = typeof one === "number" ? one - other : one < other ? -1 : 1;
  return isDescending ? -order : order;
};

const siteCell = (site, { key, title, show }) => {
  const attributes = { "data-label": title, class: show ? "number" : null };
  if (key === "place") {
    return element("td", { ...attributes, class: "line" },
      element("button", { type: "button", class: "place", "aria-expanded": "false" }, code(site.place)),
      site.function && element("small", {}, isolated(site.function)),
      site.text && code(site.text, "source"));
  }
  if (key === "kind") {
    const name = site.isBlocking ? "badge blocking" : "badge";
    return element("td", attributes, element("span", { class: name }, site.kind));
  }
  if (key === "operation") return element("td", attributes, code(site.operation));
  const value = site[key];
  return element("td", attributes, show ? show(value) : isolated(value || "-"));
};

const siteDetails = (site, data) => {
  const parts = site.text ? [element("p", {}, code(site.text))] : [];
  const rule = data.rules[site.rule];
  if (rule) {
    parts.push(element("p", {}, element("strong", {}, `${site.rule} `, isolated(rule.title))),
      element("p", {}, prose(rule.advice)),
      element("p", { class: "note" }, `Plan step ${rule.planStep}. More: `, code(`syncprobe explain ${site.rule}`)));
  } else if (site.rule) {
    parts.push(element("p", {}, isolated(site.rule)));
  }
  if (site.isBlocking && site.needed > 0) {
    parts.push(element("p", {}, `${showNumber(Math.min(site.needed, site.perStep))} of ${showNumber(site.perStep)} per ${data.rateNoun} are needed.`));
  }
  if (site.entry) parts.push(element("p", {}, "Through ", code(site.entry), "."));
  for (const { times, frames } of site.callers) {
    const lines = frames.map((frame) => element("li", {}, code(frame.place), " ", isolated(frame.function)));
    parts.push(element("p", { class: "note" }, `Called ${showNumber(times)} times ${frames.length ? "from" : "from the top"}`),
      element("ol", { class: "callers" }, ...lines));
  }
  if (!rule && !site.callers.length) parts.push(element("p", { class: "note" }, "No rule applies, and no caller is known."));
  return element("tr", { class: "details" }, element("td", { colspan: COLUMNS.length }, ...parts));
};

const choice = (label, values) => element("label", {}, element("span", {}, label),
  element("select", { "aria-label": `Filter sites by ${label}` }, element("option", { value: "" }, "all"),
    ...values.map((value) => element("option", { value }, value || "(none)"))));

class SitesTable {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.sorting = { key: "host", isDescending: true };
    this.limit = PAGE_ROWS;
    this.build();
    this.update();
  }

  build() {
    const values = (key) => [...new Set(this.data.sites.map((site) => site[key]))].sort();
    this.search = element("input", { type: "search", placeholder: "path, function, operation, rule ...", "aria-label": "Filter sites by text" });
    this.kind = choice("kind", values("kind"));
    this.region = choice("region", values("region"));
    this.blocking = element("input", { type: "checkbox" });
    this.status = element("output", { class: "note" });
    this.heads = COLUMNS.map((column) => this.head(column));
    this.body = element("tbody");
    this.more = element("button", { type: "button", class: "quiet more" });
    this.root.replaceChildren(
      element("div", { class: "tools" }, this.search, this.kind, this.region,
        element("label", { class: "check" }, this.blocking, element("span", {}, "blocking only")), this.status),
      element("div", { class: "scroll sites", tabindex: "0", role: "region", "aria-label": "Sites" },
        element("table", {}, element("thead", {}, element("tr", {}, ...this.heads)), this.body)),
      this.more);
    const filter = () => { this.limit = PAGE_ROWS; this.update(); };
    this.search.addEventListener("input", later(filter, 120));
    for (const control of [this.kind, this.region, this.blocking]) control.addEventListener("change", filter);
    this.more.addEventListener("click", () => { this.limit += PAGE_ROWS; this.update(); });
    this.body.addEventListener("click", (event) => this.toggle(event));
  }

  head(column) {
    const title = column.title.replace("step", column.key === "perStep" ? this.data.rateNoun : "step");
    const button = element("button", { type: "button", "data-key": column.key }, title);
    button.addEventListener("click", () => {
      const isSame = this.sorting.key === column.key;
      this.sorting = { key: column.key, isDescending: isSame ? !this.sorting.isDescending : Boolean(column.show) };
      this.update();
    });
    return element("th", { scope: "col", class: column.show ? "number" : null }, button);
  }

  matching() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [kind, region] = [this.kind, this.region].map((label) => label.querySelector("select"));
    return this.data.sites.filter((site) =>
      (kind.selectedIndex === 0 || site.kind === kind.value)
      && (region.selectedIndex === 0 || site.region === region.value)
      && (!this.blocking.checked || site.isBlocking)
      && words.every((word) => site.haystack.includes(word)));
  }

  update() {
    const { key, isDescending } = this.sorting;
    this.found = this.matching().sort(byColumn(key, isDescending));
    this.shown = this.found.slice(0, this.limit);
    this.body.replaceChildren(...this.shown.map((site, place) => element("tr", { "data-row": place },
      ...COLUMNS.map((column) => siteCell(site, column)))));
    COLUMNS.forEach((column, place) => {
      const order = column.key !== key ? "none" : isDescending ? "descending" : "ascending";
      this.heads[place].setAttribute("aria-sort", order);
    });
    const total = showNumber(this.data.sites.length);
    this.status.textContent = `${showNumber(this.found.length)} of ${total} sites`;
    const left = this.found.length - this.shown.length;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${showNumber(Math.min(left, PAGE_ROWS))} more (${showNumber(left)} left)`;
  }

  toggle(event) {
    const row = event.target.closest("tr[data-row]");
    if (!row || String(window.getSelection())) return;
    const button = row.querySelector("button.place");
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) row.nextElementSibling.remove();
    else row.after(siteDetails(this.shown[Number(row.dataset.row)], this.data));
  }

  find(text) {
    this.search.value = text;
    this.limit = PAGE_ROWS;
    this.update();
    this.root.scrollIntoView({ block: "start" });
  }
}
