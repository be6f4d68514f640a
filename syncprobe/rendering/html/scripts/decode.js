// From rows of numbers to objects; the order of the fields is that of panel_data.py.

const decodePlace = ([place, fn, text]) => ({ place, function: fn, text });

const decodeSite = (row, names, places) => {
  const [place, kind, operation, entry, region, blocking, count, perStep, bytes, stall, host, needed,
    syncClass, rule, planStep, callers] = row;
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
    planStep,
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

const decodePanel = (id) => {
  const data = embeddedData(`${id}-data`);
  const places = data.places.map(decodePlace);
  const timeline = data.timeline && {
    duration: data.timeline.duration,
    regions: data.timeline.regions.map(([name, start, duration]) => ({
      name: data.names[name],
      start,
      duration,
    })),
    spans: data.timeline.spans.map((row) => decodeSpan(row, data.names, places)),
  };
  return { ...data, timeline, sites: data.sites.map((row) => decodeSite(row, data.names, places)) };
};
