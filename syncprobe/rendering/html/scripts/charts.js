// Bars and curves by Chart.js, in the colours of the style sheet.

const drawnCharts = new Map();

// Writes the value at the end of each bar; of a stack, the sum at the end of all.
const barLabels = {
  id: "barLabels",
  afterDatasetsDraw(chart, _arguments, { show, colour, isStacked }) {
    if (!show) return;
    const { ctx: context, data } = chart;
    const isLying = chart.options.indexAxis === "y";
    context.save();
    context.fillStyle = colour;
    context.font = `11px ${Chart.defaults.font.family}`;
    context.textAlign = isLying ? "left" : "center";
    context.textBaseline = isLying ? "middle" : "bottom";
    data.datasets.forEach((series, place) => {
      if (isStacked && place < data.datasets.length - 1) return;
      chart.getDatasetMeta(place).data.forEach((bar, index) => {
        const value = isStacked ? data.datasets.reduce((sum, each) => sum + (each.data[index] ?? 0), 0) : series.data[index];
        if (value === null) return;
        context.fillText(show(value), bar.x + (isLying ? 4 : 0), bar.y - (isLying ? 0 : 3));
      });
    });
    context.restore();
  },
};

const seriesOptions = (series, isCurve) => {
  const colour = cssColour(series.colour);
  return {
    label: series.name,
    data: series.values,
    backgroundColor: colour,
    borderColor: colour,
    // Curves that coincide must both be seen: a dashed one lies on a broad one.
    borderWidth: isCurve ? (series.dashed ? 1.5 : 3) : 0,
    borderDash: series.dashed ? [5, 4] : [],
    order: series.dashed ? 0 : 1,
    pointRadius: isCurve && series.values.filter((value) => value !== null).length < 60 ? 2 : 0,
    maxBarThickness: 34,
    borderRadius: 2,
  };
};

const LABEL_LINES = 4;
const LABEL_ROOM = 56; // pixels, right of bars that lie

// A label on as many lines as a bar has room beside it.
const wrapped = (text) => {
  const most = window.innerWidth < 760 ? 14 : 24;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (longer.length <= most || lines.at(-1) === "") lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const shown = lines.slice(0, LABEL_LINES).map((line) => (line.length > most ? `${line.slice(0, most - 1)}…` : line));
  if (lines.length > LABEL_LINES) shown[LABEL_LINES - 1] += " …";
  return shown.length === 1 ? shown[0] : shown;
};

const scales = (spec) => {
  const show = spec.unit === "bytes" ? showBytes : showNumber;
  const grid = { color: cssColour("line") };
  const value = {
    type: spec.logarithmic ? "logarithmic" : "linear",
    beginAtZero: spec.form !== "curve",
    grace: spec.form === "columns" ? "12%" : 0,
    stacked: spec.stacked,
    grid,
    border: { display: false },
    ticks: { maxTicksLimit: 6, callback: (tick) => (spec.logarithmic ? tick.toExponential(0) : show(tick)) },
  };
  const label = {
    stacked: spec.stacked,
    grid: { display: false },
    title: { display: spec.form === "curve", text: spec.labelTitle },
    ticks: { callback: (place) => wrapped(spec.labels[place] ?? ""), autoSkip: spec.form === "curve", maxTicksLimit: spec.form === "curve" ? 8 : undefined, maxRotation: 45 },
  };
  return spec.form === "rows" ? { x: value, y: label } : { x: label, y: value };
};

const drawChart = (canvas, spec) => {
  const isCurve = spec.form === "curve";
  const show = SHOW[spec.unit] || showNumber;
  const tip = (item) => ` ${item.dataset.label}: ${isCurve ? item.raw : show(item.raw)}${spec.unit === "bytes" ? "" : ` ${spec.unit}`}`;
  Chart.defaults.color = cssColour("muted");
  Chart.defaults.font.family = "system-ui, sans-serif";
  drawnCharts.get(canvas)?.destroy();
  drawnCharts.set(canvas, new Chart(canvas, {
    type: isCurve ? "line" : "bar",
    data: { labels: spec.labels, datasets: spec.series.map((series) => seriesOptions(series, isCurve)) },
    options: {
      indexAxis: spec.form === "rows" ? "y" : "x",
      animation: false,
      maintainAspectRatio: false,
      layout: { padding: { right: spec.form === "rows" ? LABEL_ROOM : 0 } },
      interaction: { mode: "index", axis: spec.form === "rows" ? "y" : "x", intersect: false },
      scales: scales(spec),
      plugins: {
        legend: { display: spec.series.length > 1, position: "top", align: "start", labels: { boxWidth: isCurve ? 24 : 10, boxHeight: 10, usePointStyle: isCurve, pointStyle: isCurve ? "line" : undefined } },
        tooltip: { callbacks: { label: tip } },
        barLabels: { show: isCurve ? null : show, colour: cssColour("text"), isStacked: spec.stacked },
      },
    },
    plugins: [barLabels],
  }));
};

const drawCharts = (panel, specs) => {
  for (const canvas of panel.querySelectorAll("canvas[data-chart]")) {
    if (!drawnCharts.has(canvas)) drawChart(canvas, specs[canvas.dataset.chart]);
  }
};

const redrawCharts = (specs) => {
  for (const canvas of drawnCharts.keys()) drawChart(canvas, specs[canvas.dataset.chart]);
};
