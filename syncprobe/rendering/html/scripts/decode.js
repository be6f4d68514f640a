// From rows of numbers to objects; the order of the fields is that of panel_data.py.

const decodePlace = ([place, fn, text]) => ({ place, function: fn, text });

const decodeSite = (row, names, places) => {
  const [place, kind, operation, entry, region, blocking, count, perStep, bytes, stall, host, needed,
    syncClass, rule, callers] = row;
  const site = {
    ...places[place],
    kind: names[kind],
    operation: names[operation],
    entry: names[entry],
    region: names[region],
    isBlocking: blocking === 1,
    count,
    perStep,
    bytes,
    stall,
    host,
    needed,
    syncClass: names[syncClass],
    rule: names[rule],
    callers: callers.map(([times, ...frames]) => ({ times, frames: frames.map((each) => places[each]) })),
  };
  site.haystack = [site.place, site.function, site.text, site.kind, site.operation, site.entry,
    site.region, site.syncClass, site.rule].join("\n").toLowerCase();
  return site;
};

const decodeSpan = (row, names, places) => {
  const [place, kind, operation, region, blocking, bytes, start, host, stall, deviceStart, device] = row;
  return {
    ...places[place],
    kind: names[kind],
    operation: names[operation],
    region: names[region],
    isBlocking: blocking === 1,
    bytes,
    start,
    host,
    stall,
    deviceStart,
    device,
  };
};

const decodeTimeline = (timeline, names, places) => ({
  ...timeline,
  regions: timeline.regions.map(([name, start, duration]) => ({ name: names[name], start, duration })),
  spans: timeline.spans.map((row) => decodeSpan(row, names, places)),
});

const decodePanel = (id) => {
  const data = embeddedData(`${id}-data`);
  const places = data.places.map(decodePlace);
  return {
    ...data,
    timelines: data.timelines.map((each) => decodeTimeline(each, data.names, places)),
    sites: data.sites.map((row) => decodeSite(row, data.names, places)),
  };
};
