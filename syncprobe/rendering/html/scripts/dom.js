// Everything is built from elements and text nodes: data is never read as markup.

const element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
};

const isolated = (text) => element("bdi", {}, String(text));

// Code runs from left to right, whatever script its names are in.
const code = (text, name = null) =>
  element("code", { class: name }, element("bdi", { dir: "ltr" }, String(text)));

const prose = (text) => element("bdi", {},
  ...text.split("`").map((part, place) => (place % 2 ? code(part) : part)));

const embeddedData = (id) => JSON.parse(document.getElementById(id).textContent);

const whenIdle = (work) => {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    work();
  };
  requestAnimationFrame(() => (window.requestIdleCallback || setTimeout)(once));
  // A page in the background, or in a program that only takes its picture, may be given no frame.
  setTimeout(once, 500);
};

const later = (work, milliseconds) => {
  let waiting = null;
  return () => {
    clearTimeout(waiting);
    waiting = setTimeout(work, milliseconds);
  };
};

// The same rounding as in the rest of the report.

const grouped = (value, digits) =>
  value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });

const showNumber = (value) => {
  if (Number.isInteger(value)) return grouped(value + 0, 0); // there is no minus nought
  const size = Math.abs(value);
  if (size >= 100) return grouped(value, 1);
  if (size < 0.01) return value.toPrecision(1);
  const digits = [2, 3, 4, 5].find((each) => Number(value.toFixed(each)) !== Math.round(value)) ?? 6;
  return String(Number(value.toFixed(digits)));
};

const showDuration = (value) => {
  const size = Math.abs(value);
  if (size >= 100 || value === 0) return grouped(value, 0);
  return value.toFixed(size >= 10 ? 1 : 2);
};

const showBytes = (value) => {
  let amount = value;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (Math.abs(amount) < 1000) {
      return `${unit === "B" ? showNumber(amount) : Number(amount.toPrecision(3))} ${unit}`;
    }
    amount /= 1000;
  }
  return `${grouped(amount, 1)} TB`;
};

const SHOW = { ms: showDuration, bytes: showBytes };

const cssColour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
