// Draws a stretch of the timeline: regions, host and device, one above the other.

const GUTTER = 52;
const AXIS = 20;
const LANES = {
  region: { top: AXIS + 4, height: 22, title: "region" },
  host: { top: AXIS + 34, height: 44, title: "host" },
  device: { top: AXIS + 86, height: 44, title: "device" },
};
const LANES_HEIGHT = AXIS + 136;
const TRANSFERS = new Set(["scalar_read", "copy_to_host", "copy_to_device"]);

const showTime = (us) => (Math.abs(us) >= 1000 ? `${showDuration(us / 1000)} ms` : `${showDuration(us)} us`);

const niceStep = (rough) => {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
};

const prepared = (canvas, height) => {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  return { context, width };
};

// Where one event is: parts of lanes, each with its colour.
const partsOf = (span) => {
  const parts = [];
  const issuing = span.host - span.stall;
  if (span.kind === "conversion") {
    parts.push({ lane: "host", start: span.start, length: 0, colour: "conversion", isTick: true });
  }
  if (issuing > 0) parts.push({ lane: "host", start: span.start, length: issuing, colour: TRANSFERS.has(span.kind) ? "transfer" : "launch" });
  if (span.stall > 0) parts.push({ lane: "host", start: span.start + issuing, length: span.stall, colour: "stall" });
  if (span.device > 0) {
    parts.push({ lane: "device", start: span.deviceStart, length: span.device, colour: TRANSFERS.has(span.kind) ? "transfer" : "kernel" });
  }
  return parts;
};

const drawAxis = (context, view, width, scale) => {
  const step = niceStep(((view.end - view.start) / (width - GUTTER)) * 90);
  context.fillStyle = cssColour("muted");
  context.strokeStyle = cssColour("line");
  context.textAlign = "left";
  for (let at = Math.ceil(view.start / step) * step; at <= view.end; at += step) {
    const x = Math.round(scale(at)) + 0.5;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, LANES_HEIGHT);
    context.stroke();
    if (x < width - 40) context.fillText(showTime(at), x + 4, AXIS / 2);
  }
};

const drawRegions = (context, timeline, view, scale, colours) => {
  const { top, height } = LANES.region;
  for (const region of timeline.regions) {
    const left = Math.max(scale(region.start), GUTTER);
    const right = scale(Math.min(region.start + region.duration, view.end));
    if (right < GUTTER || region.start > view.end) continue;
    context.fillStyle = colours(region.name);
    context.fillRect(left, top, Math.max(right - left - 1, 1), height);
    if (right - left > 18) {
      context.save();
      context.beginPath();
      context.rect(left, top, right - left - 3, height);
      context.clip();
      context.fillStyle = cssColour("on-region");
      context.fillText(region.name, left + 5, top + height / 2 + 1);
      context.restore();
    }
  }
};

// Waits come last, on top of everything: they are what people look for.
const COLOURS = ["conversion", "launch", "transfer", "kernel", "stall"];
const LEAST_PX = 3;

const drawSpans = (context, parts, view, scale) => {
  const thin = new Map();
  for (const colour of COLOURS) {
    context.fillStyle = cssColour(colour);
    for (const part of parts) {
      if (part.colour !== colour || part.start + part.length < view.start || part.start > view.end) continue;
      const { top, height } = LANES[part.lane];
      const left = Math.max(scale(part.start), GUTTER);
      const width = scale(Math.min(part.start + part.length, view.end)) - left;
      if (part.isTick) context.fillRect(left, top + height * 0.7, 1, height * 0.3);
      else if (width >= 1) context.fillRect(left, top, width, height);
      else {
        const key = `${part.lane} ${Math.floor(left)} ${colour}`;
        thin.set(key, (thin.get(key) ?? 0) + Math.max(width, 0));
      }
    }
  }
  drawThin(context, thin);
};

// What is thinner than a pixel must not look like a whole one: its height says how much of the pixel it fills.
const drawThin = (context, thin) => {
  const filled = new Map();
  for (const [key, share] of thin) {
    const [lane, x, colour] = key.split(" ");
    const { top, height } = LANES[lane];
    const below = filled.get(`${lane} ${x}`) ?? 0;
    const tall = Math.min(Math.max(share * height, LEAST_PX), height - below);
    context.fillStyle = cssColour(colour);
    context.fillRect(Number(x), top + height - below - tall, 1, tall);
    filled.set(`${lane} ${x}`, below + tall);
  }
};

// Where nothing was recorded, or the device works for somebody else, there is nothing to say: no lane is empty there.
const unknownStretches = (timeline) => {
  const stretches = [];
  if (timeline.leftOut) {
    const last = timeline.spans.at(-1);
    const start = last ? last.start + last.host : 0;
    stretches.push({ lane: "host", start, end: timeline.duration }, { lane: "device", start, end: timeline.duration });
  }
  if (timeline.deviceFree > 0) stretches.push({ lane: "device", start: 0, end: Math.min(timeline.deviceFree, timeline.duration) });
  return stretches;
};

const drawUnknown = (context, timeline, view, scale) => {
  for (const { lane, start, end } of unknownStretches(timeline)) {
    const { top, height } = LANES[lane];
    const left = Math.max(scale(start), GUTTER);
    const right = scale(Math.min(end, view.end));
    if (right <= left) continue;
    context.save();
    context.beginPath();
    context.rect(left, top, right - left, height);
    context.clip();
    context.fillStyle = cssColour("surface");
    context.fillRect(left, top, right - left, height);
    context.strokeStyle = cssColour("unknown");
    context.lineWidth = 1;
    context.beginPath();
    for (let x = Math.floor(left / 8) * 8 - height; x < right; x += 8) {
      context.moveTo(x, top + height);
      context.lineTo(x + height, top);
    }
    context.stroke();
    context.restore();
  }
};

const drawLanes = (canvas, timeline, parts, view, colours) => {
  const { context, width } = prepared(canvas, LANES_HEIGHT);
  const scale = (us) => GUTTER + ((us - view.start) / (view.end - view.start)) * (width - GUTTER);
  drawAxis(context, view, width, scale);
  context.fillStyle = cssColour("own");
  context.fillRect(GUTTER, LANES.host.top, width - GUTTER, LANES.host.height);
  context.fillStyle = cssColour("idle");
  context.fillRect(GUTTER, LANES.device.top, width - GUTTER, LANES.device.height);
  drawUnknown(context, timeline, view, scale);
  drawRegions(context, timeline, view, scale, colours);
  drawSpans(context, parts, view, scale);
  context.fillStyle = cssColour("muted");
  for (const { top, height, title } of Object.values(LANES)) context.fillText(title, 2, top + height / 2);
};
