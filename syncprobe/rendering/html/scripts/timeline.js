// Zooming, panning and asking about the timeline.

const MAP_HEIGHT = 26;
const SMALLEST_US = 2;
const DRAG_PX = 4;

class TimelineView {
  constructor(root, timelines, findSite) {
    this.root = root;
    this.findSite = findSite;
    this.lanes = root.querySelector(".lanes");
    this.map = root.querySelector(".map");
    this.readout = root.querySelector(".readout");
    // One colour for a region, whichever step is shown.
    this.names = [...new Set(timelines.flatMap(({ regions }) => regions.map((region) => region.name)))];
    this.addPicker(timelines);
    this.listen();
    this.choose(timelines[0]);
  }

  choose(timeline) {
    this.timeline = timeline;
    this.parts = timeline.spans.flatMap((span) => partsOf(span).map((part) => ({ ...part, span })));
    this.view = { start: 0, end: this.whole };
    this.isKept = false;
    this.caption = this.root.parentElement.querySelector(".caption");
    this.caption.textContent = timeline.caption;
    this.addButtons();
    this.draw();
  }

  addPicker(timelines) {
    if (timelines.length < 2) return;
    const select = element("select", { "aria-label": "Step to show" },
      ...timelines.map((timeline, place) => element("option", { value: place }, timeline.name)));
    select.addEventListener("change", () => this.choose(timelines[select.selectedIndex]));
    this.root.querySelector(".tools").prepend(element("label", { class: "picker" }, element("span", {}, "show"), select));
  }

  colour(name) {
    return cssColour(`region${this.names.indexOf(name) % 6}`);
  }

  addButtons() {
    const button = (text, label, work) => {
      const made = element("button", { type: "button", class: "quiet", "aria-label": label, title: label }, text);
      made.addEventListener("click", work);
      return made;
    };
    const here = this.names.filter((name) => this.timeline.regions.some((region) => region.name === name));
    const regions = here.slice(0, 8).map((name) =>
      button(isolated(name), `Zoom to region ${name}`, () => this.zoomToRegion(name)));
    this.root.querySelector(".zooms").replaceChildren(
      button("−", "Zoom out", () => this.zoom(2)),
      button("+", "Zoom in", () => this.zoom(0.5)),
      button("whole", "Show all", () => this.reset()),
      ...regions);
  }

  listen() {
    this.lanes.addEventListener("pointerdown", (event) => this.press(event));
    this.lanes.addEventListener("pointermove", (event) => this.move(event));
    this.lanes.addEventListener("pointerup", (event) => this.release(event));
    this.lanes.addEventListener("pointercancel", () => { this.pressed = null; this.draw(); });
    this.lanes.addEventListener("dblclick", () => this.reset());
    this.lanes.addEventListener("keydown", (event) => this.key(event));
    this.lanes.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // the page keeps its own scrolling
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.timeAt(event.offsetX));
    }, { passive: false });
    for (const name of ["pointerdown", "pointermove"]) {
      this.map.addEventListener(name, (event) => {
        if (event.buttons !== 1) return;
        this.centre((event.offsetX - GUTTER) / (this.map.clientWidth - GUTTER) * this.whole);
      });
    }
    new ResizeObserver(() => this.draw()).observe(this.lanes);
  }

  get whole() {
    return Math.max(this.timeline.duration, SMALLEST_US);
  }

  timeAt(x) {
    const share = Math.min(Math.max((x - GUTTER) / (this.lanes.clientWidth - GUTTER), 0), 1);
    return this.view.start + share * (this.view.end - this.view.start);
  }

  show(start, end) {
    const length = Math.min(Math.max(end - start, SMALLEST_US), this.whole);
    const first = Math.min(Math.max(start, 0), this.whole - length);
    this.view = { start: first, end: first + length };
    this.draw();
  }

  reset() {
    this.show(0, this.whole);
  }

  centre(at) {
    const half = (this.view.end - this.view.start) / 2;
    this.show(at - half, at + half);
  }

  zoom(factor, at = (this.view.start + this.view.end) / 2) {
    const { start, end } = this.view;
    this.show(at - (at - start) * factor, at + (end - at) * factor);
  }

  // Regions come back again and again within a step: the longest stretch is what is meant.
  zoomToRegion(name) {
    const stretches = this.timeline.regions.filter((region) => region.name === name);
    const longest = stretches.reduce((one, other) => (other.duration > one.duration ? other : one));
    this.show(longest.start - longest.duration * 0.02, longest.start + longest.duration * 1.02);
  }

  key(event) {
    const length = this.view.end - this.view.start;
    const moves = { ArrowLeft: -0.2, ArrowRight: 0.2 };
    if (event.key in moves) this.show(this.view.start + length * moves[event.key], this.view.end + length * moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.zoom(0.5);
    else if (event.key === "-") this.zoom(2);
    else if (event.key === "0" || event.key === "Escape") this.reset();
    else return;
    event.preventDefault();
  }

  press(event) {
    this.pressed = { x: event.offsetX };
    this.lanes.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.pressed) {
      if (!this.isKept) this.tell(this.under(event), false);
      return;
    }
    this.draw();
    const context = this.lanes.getContext("2d");
    context.fillStyle = cssColour("selection");
    context.fillRect(this.pressed.x, 0, event.offsetX - this.pressed.x, LANES_HEIGHT);
  }

  release(event) {
    if (!this.pressed) return;
    const from = this.pressed.x;
    this.pressed = null;
    if (Math.abs(event.offsetX - from) > DRAG_PX) {
      const [start, end] = [this.timeAt(from), this.timeAt(event.offsetX)].sort((one, other) => one - other);
      this.show(start, end);
      return;
    }
    const found = this.under(event);
    if (found?.region) this.show(found.region.start, found.region.start + found.region.duration);
    this.isKept = Boolean(found);
    this.tell(found, true);
  }

  under(event) {
    const at = this.timeAt(event.offsetX);
    const slack = (this.view.end - this.view.start) / this.lanes.clientWidth * 2;
    const lane = Object.entries(LANES).find(([, { top, height }]) => event.offsetY >= top && event.offsetY <= top + height);
    if (!lane || event.offsetX < GUTTER) return null;
    if (lane[0] === "region") {
      const region = this.timeline.regions.find(({ start, duration }) => at >= start && at <= start + duration);
      return region ? { region } : null;
    }
    const near = this.parts.filter((part) => part.lane === lane[0] && at >= part.start - slack && at <= part.start + part.length + slack);
    const distance = (part) => Math.max(part.start - at, at - part.start - part.length, 0);
    near.sort((one, other) => distance(one) - distance(other));
    return near.length ? { span: near[0].span } : null;
  }

  tell(found, isKept) {
    if (!found) return;
    if (found.region) {
      const { name, start, duration } = found.region;
      this.readout.replaceChildren(element("b", {}, isolated(name)), ` ${showTime(duration)}, from ${showTime(start)}`);
      return;
    }
    const { span } = found;
    const facts = [`at ${showTime(span.start)}`, `host ${showTime(span.host)}`];
    if (span.stall) facts.push(`of it waiting ${showTime(span.stall)}`);
    if (span.device) facts.push(`device ${showTime(span.device)} from ${showTime(span.deviceStart)}`);
    if (span.bytes) facts.push(showBytes(span.bytes));
    const link = element("button", { type: "button", class: "place" }, code(span.place));
    link.addEventListener("click", () => this.findSite(span.place));
    this.readout.replaceChildren(
      element("span", { class: span.isBlocking ? "badge blocking" : "badge" }, span.kind), " ",
      code(span.operation), ` in ${span.region}: ${facts.join(", ")}. `, isKept ? link : code(span.place));
  }

  draw() {
    if (!this.lanes.clientWidth) return;
    drawLanes(this.lanes, this.timeline, this.parts, this.view, (name) => this.colour(name));
    this.drawMap();
  }

  drawMap() {
    const { context, width } = prepared(this.map, MAP_HEIGHT);
    const scale = (us) => GUTTER + (us / this.whole) * (width - GUTTER);
    for (const region of this.timeline.regions) {
      context.fillStyle = this.colour(region.name);
      context.fillRect(scale(region.start), 4, Math.max(scale(region.start + region.duration) - scale(region.start), 1), 8);
    }
    context.fillStyle = cssColour("stall");
    for (const part of this.parts) {
      if (part.colour === "stall") context.fillRect(scale(part.start), 14, Math.max(scale(part.start + part.length) - scale(part.start), 1), 8);
    }
    context.fillStyle = cssColour("muted");
    context.fillText("whole", 2, MAP_HEIGHT / 2);
    context.strokeStyle = cssColour("accent");
    context.lineWidth = 1.5;
    context.strokeRect(scale(this.view.start), 1.5, Math.max(scale(this.view.end) - scale(this.view.start) - 1, 3), MAP_HEIGHT - 3);
  }
}
