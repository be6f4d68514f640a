// The table of sites, one row for each line of source: thousands stay quick because only some are in the page.

const PAGE_ROWS = matchMedia("(max-width: 760px)").matches ? 25 : 200;

const COLUMNS = [
  { key: "place", title: "line" },
  { key: "what", title: "what, per step" },
  { key: "region", title: "region" },
  { key: "count", title: "count", show: showNumber },
  { key: "bytes", title: "bytes", show: showBytes },
  { key: "stall", title: "stall, us", show: showDuration },
  { key: "host", title: "host, us", show: showDuration },
  { key: "syncClass", title: "class" },
  { key: "rule", title: "rule" },
];
const SUMS = ["count", "perStep", "bytes", "stall", "host"];
const LISTS = ["region", "syncClass", "rule"];

const sumOf = (sites, key) => sites.reduce((sum, site) => sum + site[key], 0);

// All that the sites of one line do, together.
const lineOf = (sites) => {
  const [{ place, function: fn, text }] = sites;
  const line = { place, function: fn, text, sites, kinds: new Map() };
  for (const key of SUMS) line[key] = sumOf(sites, key);
  for (const key of LISTS) line[key] = [...new Set(sites.map((site) => site[key]))].filter(Boolean).sort().join(", ");
  for (const site of sites) line.kinds.set(site.kind, [...(line.kinds.get(site.kind) ?? []), site]);
  line.what = [...line.kinds.keys()].join(" ");
  return line;
};

const byLine = (sites) => {
  const lines = new Map();
  for (const site of sites) {
    if (!lines.has(site.place)) lines.set(site.place, []);
    lines.get(site.place).push(site);
  }
  return [...lines.values()].map(lineOf);
};

const byColumn = (key, isDescending) => (first, second) => {
  const [one, other] = [first[key], second[key]];
  if (one === other) return 0;
  if (one === "") return 1; // what is not known comes last, either way
  if (other === "") return -1;
  const order = typeof one === "number" ? one - other : one < other ? -1 : 1;
  return isDescending ? -order : order;
};

const kindBadge = (kind, isBlocking) => element("span", { class: isBlocking ? "badge blocking" : "badge" }, kind);

const lineCell = (line, { key, title, show }) => {
  const attributes = { "data-label": title, class: show ? "number" : null };
  if (key === "place") {
    return element("td", { ...attributes, class: "line" },
      element("button", { type: "button", class: "place", "aria-expanded": "false" }, code(line.place)),
      line.function && element("small", {}, isolated(line.function)),
      line.text && code(line.text, "source"));
  }
  if (key === "what") {
    const kinds = [...line.kinds].flatMap(([kind, sites]) => [element("span", { class: "kind" },
      `${showNumber(sumOf(sites, "perStep"))} `, kindBadge(kind, sites.some((site) => site.isBlocking))), " "]);
    return element("td", attributes, ...kinds);
  }
  return element("td", attributes, show ? show(line[key]) : isolated(line[key] || "-"));
};

const siteFacts = (site, data) => {
  const facts = [`${showNumber(site.perStep)} per ${data.rateNoun}`, `${showNumber(site.count)} in all`,
    `${showDuration(site.host)} us ${data.modelled}`];
  if (site.stall) facts.push(`of it waiting ${showDuration(site.stall)}`);
  if (site.bytes) facts.push(showBytes(site.bytes));
  if (site.syncClass) facts.push(site.syncClass);
  return facts.join(", ");
};

const ruleText = (name, data) => {
  const rule = data.rules[name];
  if (!rule) return [element("p", {}, isolated(name))];
  const step = rule.planStep ? `Plan step ${rule.planStep}. ` : "";
  return [
    element("p", {}, element("strong", {}, `${name} `, isolated(rule.title))),
    element("p", {}, prose(rule.advice)),
    element("p", { class: "note" }, `${step}More: `, code(`syncprobe explain ${name}`))];
};

const siteText = (site, data) => {
  const parts = [element("p", {}, kindBadge(site.kind, site.isBlocking), " ", code(site.operation),
    " in ", isolated(site.region), `: ${siteFacts(site, data)}.`)];
  if (site.isBlocking && site.needed > 0) {
    parts.push(element("p", {}, `${showNumber(Math.min(site.needed, site.perStep))} of ${showNumber(site.perStep)} per ${data.rateNoun} are needed.`));
  }
  if (site.entry) parts.push(element("p", {}, "Through ", code(site.entry), "."));
  for (const { times, frames } of site.callers) {
    const lines = frames.map((frame) => element("li", {}, code(frame.place), " ", isolated(frame.function)));
    parts.push(element("p", { class: "note" }, `Called ${showNumber(times)} times ${frames.length ? "from" : "from the top"}`),
      element("ol", { class: "callers" }, ...lines));
  }
  return parts;
};

const lineDetails = (line, data) => {
  const rules = [...new Set(line.sites.map((site) => site.rule))].filter(Boolean);
  const parts = [
    ...(line.text ? [element("p", {}, code(line.text))] : []),
    ...rules.flatMap((name) => ruleText(name, data)),
    ...line.sites.flatMap((site) => siteText(site, data))];
  return element("tr", { class: "details" }, element("td", { colspan: COLUMNS.length }, ...parts));
};

const choice = (label, values) => element("label", {}, element("span", {}, label),
  element("select", { "aria-label": `Filter sites by ${label}` }, element("option", { value: "" }, "all"),
    ...values.map((value) => element("option", { value }, value || "(none)"))));

class SitesTable {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.total = byLine(data.sites).length;
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
    const title = column.title.replace("step", this.data.rateNoun);
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
    this.found = byLine(this.matching()).sort(byColumn(key, isDescending));
    this.shown = this.found.slice(0, this.limit);
    this.body.replaceChildren(...this.shown.map((line, place) => element("tr", { "data-row": place },
      ...COLUMNS.map((column) => lineCell(line, column)))));
    COLUMNS.forEach((column, place) => {
      const order = column.key !== key ? "none" : isDescending ? "descending" : "ascending";
      this.heads[place].setAttribute("aria-sort", order);
    });
    this.status.textContent = `${showNumber(this.found.length)} of ${showNumber(this.total)} lines`;
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
    else row.after(lineDetails(this.shown[Number(row.dataset.row)], this.data));
  }

  find(text) {
    this.search.value = text;
    this.limit = PAGE_ROWS;
    this.update();
    this.root.scrollIntoView({ block: "start" });
  }
}
