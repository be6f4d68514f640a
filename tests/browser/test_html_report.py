"""The HTML page in a real browser: drawn, usable, safe, and quick enough with thousands of sites."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncprobe.rendering import FORMATS
from syncprobe.rendering.html.page import render_comparison
from tests.browser.conftest import SCHEMES, sync_api
from tests.rendering import html_samples as samples
from tests.slowness import slow_unless

expect = sync_api.expect
INK = """canvas => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3]) colours.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
    }
    return [...colours];
}"""
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
FIRST_SCREEN_MS = 2_000


def several_steps():
    """A median step with nothing missing, and a longer one that has more events."""
    median = replace(samples.timeline(), spans_left_out=0)
    longest = replace(samples.timeline(60), step=7, spans_left_out=0)
    return samples.profile(timeline=median, other_timelines=(longest,))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "one": FORMATS["html"].render([samples.profile()]),
        "levels": FORMATS["html"].render(samples.levels()),
        "comparison": render_comparison(samples.comparison()),
        "hostile": FORMATS["html"].render([samples.hostile_profile()]),
        "steps": FORMATS["html"].render([several_steps()]),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


def rgb(page, variable: str) -> str:
    """A colour of the style sheet as a canvas has it."""
    return page.evaluate(
        """name => {
            const canvas = document.createElement("canvas");
            const context = canvas.getContext("2d");
            context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
            context.fillRect(0, 0, 1, 1);
            return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).join(",");
        }""",
        variable,
    )


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    slow_unless(
        lambda name, width, scheme: (name, width, scheme) == ("one", 400, "dark"),
        [
            *(("one", width, scheme) for width in (1280, 400) for scheme in SCHEMES),
            ("levels", 1280, "dark"),
            ("levels", 400, "light"),
            ("comparison", 1280, "light"),
            ("comparison", 400, "dark"),
            ("hostile", 1280, "light"),
            ("hostile", 400, "dark"),
        ],
    ),
)
def test_every_page_fits_every_width_in_both_themes(name, width, scheme, pages, visit):
    page = visit(pages[name], width, scheme).page
    assert page.evaluate(OVERFLOW) <= 0
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    assert page.evaluate(OVERFLOW) <= 0
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == {"light": "rgb(246, 247, 249)", "dark": "rgb(14, 17, 22)"}[scheme]


@pytest.mark.slow
def test_charts_are_drawn_in_the_colours_of_the_theme(pages, visit):
    page = visit(pages["one"]).page
    canvas = page.locator("canvas[data-chart='p0-time']")
    light = rgb(page, "--measured")
    assert light in canvas.evaluate(INK)
    page.click("#theme")
    dark = rgb(page, "--measured")
    assert dark != light
    colours = canvas.evaluate(INK)
    assert dark in colours
    assert light not in colours
    assert page.inner_text("#theme") == "Light"


@pytest.mark.slow
def test_the_choice_of_a_theme_is_kept(pages, visit):
    page = visit(pages["one"], scheme="dark").page
    page.click("#theme")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize("name", slow_unless("comparison".__eq__, ["levels", "comparison"]))
def test_every_chart_of_a_panel_is_drawn_when_it_is_shown(name, pages, visit):
    page = visit(pages[name]).page
    for tab in page.query_selector_all("[role=tab]"):
        tab.click()
        panel = tab.get_attribute("aria-controls")
        page.wait_for_selector(f"html[data-ready={panel}]")
        assert page.locator(".panel:visible").count() == 1
        for canvas in page.query_selector_all(f"#{panel} canvas[data-chart]"):
            assert len(canvas.evaluate(INK)) > 2, canvas.get_attribute("data-chart")


def test_the_timeline_shows_waits_and_zooms(pages, visit):
    page = visit(pages["one"]).page
    lanes = page.locator(".lanes")
    whole = lanes.evaluate(INK)
    for name in ("--stall", "--launch", "--kernel", "--own"):
        assert rgb(page, name) in whole, name
    before = lanes.evaluate("canvas => canvas.toDataURL()")
    page.get_by_role("button", name="Zoom to region env").click()
    assert rgb(page, "--stall") not in lanes.evaluate(INK)
    page.get_by_role("button", name="Show all").click()
    assert lanes.evaluate("canvas => canvas.toDataURL()") == before


@pytest.mark.slow
def test_dragging_zooms_and_a_click_names_the_event(pages, visit):
    page = visit(pages["one"]).page
    page.locator(".lanes").scroll_into_view_if_needed()
    box = page.locator(".lanes").bounding_box()
    before = page.locator(".lanes").evaluate("canvas => canvas.toDataURL()")
    page.mouse.move(box["x"] + 60, box["y"] + 70)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 70)
    page.mouse.up()
    assert page.locator(".lanes").evaluate("canvas => canvas.toDataURL()") != before
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Show all").click()
    # Event 9 is a read that waits from 180 to 198 of 1000 us.
    width = box["width"] - 52
    page.mouse.click(box["x"] + 52 + width * 0.19, box["y"] + 20 + 34 + 20)
    readout = page.locator(".readout")
    assert "scalar_read aten::_local_scalar_dense in act" in readout.inner_text()
    assert "waiting 18.0 us" in readout.inner_text()
    readout.locator("button.place").click()
    assert page.input_value("input[type=search]") == "policy/agent.py:40"


def test_another_step_can_be_picked(pages, visit):
    page = visit(pages["steps"]).page
    picker = page.get_by_label("Step to show")
    assert picker.locator("option").all_inner_texts() == [
        "step 3, median",
        "step 7, longest, most events",
    ]
    before = page.locator(".lanes").evaluate("canvas => canvas.toDataURL()")
    picker.select_option("1")
    assert page.locator(".lanes").evaluate("canvas => canvas.toDataURL()") != before
    assert page.inner_text(".caption").startswith("Step 7 of 10")
    picker.select_option("0")
    assert page.inner_text(".caption").startswith("Step 3 of 10")
    assert page.locator(".lanes").evaluate("canvas => canvas.toDataURL()") == before


@pytest.mark.slow
def test_one_step_needs_no_picker(pages, visit):
    assert visit(pages["one"]).page.get_by_label("Step to show").count() == 0


def test_what_was_not_recorded_is_not_drawn_as_idle(pages, visit):
    """The last of 40 events ends at 798 of 1000 us; 7 more did not fit."""
    idle = {}
    for name in ("one", "steps"):
        page = visit(pages[name]).page
        at = """canvas => {
            const ratio = window.devicePixelRatio;
            const x = (52 + (canvas.clientWidth - 52) * 0.9) * ratio;
            const { data } = canvas.getContext("2d").getImageData(x, (20 + 86 + 10) * ratio, 24, 1);
            const seen = new Set();
            for (let i = 0; i < data.length; i += 4) seen.add([...data.slice(i, i + 3)].join(","));
            return [...seen];
        }"""
        idle[name] = (page.locator(".lanes").evaluate(at), rgb(page, "--idle"))
    seen, colour = idle["steps"]
    assert seen == [colour]
    seen, colour = idle["one"]
    assert colour not in seen


@pytest.mark.slow
def test_the_timeline_listens_to_the_keyboard(pages, visit):
    page = visit(pages["one"]).page
    lanes = page.locator(".lanes")
    states = {lanes.evaluate("canvas => canvas.toDataURL()")}
    lanes.focus()
    for key in ("+", "ArrowRight", "-"):
        page.keyboard.press(key)
        states.add(lanes.evaluate("canvas => canvas.toDataURL()"))
    assert len(states) >= 3


def shown(page) -> list[str]:
    return page.locator("tr[data-row] td.line button").all_inner_texts()


@pytest.mark.slow
def test_sites_are_sorted_by_any_column(pages, visit):
    page = visit(pages["one"]).page
    assert shown(page)[0] == "policy/agent.py:41"
    page.click("th button[data-key=count]")
    counts = page.locator("tr[data-row] td:nth-child(4)").all_inner_texts()
    assert [int(text) for text in counts] == [400, 300, 50, 2]
    page.click("th button[data-key=count]")
    assert shown(page)[0] == "policy/agent.py:77"
    assert page.get_attribute("th:has(button[data-key=count])", "aria-sort") == "ascending"


def test_sites_are_filtered_by_text_kind_and_region(pages, visit):
    page = visit(pages["one"]).page
    page.fill("input[type=search]", "train sp102")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    assert shown(page) == ["policy/agent.py:77"]
    page.fill("input[type=search]", "")
    expect(page.locator("tr[data-row]")).to_have_count(4)
    page.get_by_label("Filter sites by kind").select_option("launch")
    assert shown(page) == ["policy/agent.py:40"]
    page.get_by_label("Filter sites by kind").select_option("")
    page.get_by_label("Filter sites by region").select_option("learn")
    assert shown(page) == ["policy/agent.py:77"]
    page.get_by_label("Filter sites by region").select_option("")
    page.get_by_label("blocking only").check()
    assert page.inner_text("[data-sites] output") == "3 of 4 lines"


def test_a_line_is_one_row_with_all_it_does(pages, visit):
    page = visit(pages["one"]).page
    row = page.locator("tr[data-row]", has_text="policy/agent.py:38")
    expect(row).to_have_count(1)
    assert " ".join(row.locator("td:nth-child(2)").inner_text().split()) == (
        "15 copy_to_device 15 conversion"
    )
    row.locator("td.line button").click()
    text = page.inner_text("tr.details")
    assert "copy_to_device torch.Tensor.to in act: 15 per step, 150 in all, 180 us" in text
    assert "conversion torch.tensor in act: 15 per step" in text


def test_a_site_opens_to_its_advice_and_its_callers(pages, visit):
    page = visit(pages["one"]).page
    page.locator("tr[data-row] td.line button").first.click()
    text = page.inner_text("tr.details")
    assert "SP201 Per-sample copy to the host" in text
    assert "syncprobe explain SP201" in text
    assert "policy/trainer.py:88 Trainer.learn" in text
    assert "1 of 5 per step are needed" in text
    page.locator("tr[data-row] td.line button").first.click()
    assert page.locator("tr.details").count() == 0


@pytest.mark.slow
def test_a_costly_line_leads_to_its_sites(pages, visit):
    page = visit(pages["one"]).page
    page.click("button[data-place='policy/agent.py:38']")
    assert shown(page) == ["policy/agent.py:38"]


@pytest.mark.slow
def test_a_link_to_a_section_opens_its_panel(pages, visit):
    page = visit(pages["levels"]).page
    page.evaluate("location.hash = '#p2-sites'")
    page.wait_for_selector("html[data-ready=p2]")
    assert page.locator("#p2").is_visible()
    assert page.get_attribute("#tab-p2", "aria-selected") == "true"


def test_hostile_names_are_shown_and_not_obeyed(pages, visit):
    page = visit(pages["hostile"]).page
    assert page.evaluate("window.hacked === undefined")
    assert page.locator("img").count() == 0
    page.locator("tr[data-row] td.line button").first.click()
    page.fill("input[type=search]", "onerror")
    expect(page.locator("[data-sites] output")).to_have_text("715 of 5,000 lines")
    page.locator("tr[data-row] td.line button").first.click()
    page.locator(".lanes").hover(position={"x": 400, "y": 80})
    page.locator(".finding details summary").first.click()
    page.locator("button[data-more]").click()
    assert samples.IMAGE in page.inner_text("tr[data-row]")
    assert r"user\u202enimda\u202c" in page.inner_text("main")
    assert page.evaluate("window.hacked === undefined")


def test_scripts_that_are_not_ours_do_not_run(pages, visit, tmp_path):
    injected = tmp_path / "injected.html"
    text = pages["one"].read_text(encoding="utf-8")
    injected.write_text(text.replace("<main", "<script>window.hacked = 1</script><main"))
    opened = visit(injected)
    assert opened.page.evaluate("window.hacked === undefined")
    refused = [text for text in opened.complaints if "Content Security Policy" in text]
    assert len(refused) == 1
    opened.complaints.clear()


@pytest.mark.slow
def test_thousands_of_sites_are_quick(pages, visit):
    """The words of the first screen are there long before everything is drawn, and rows come in portions."""
    page = visit(pages["hostile"]).page
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    assert paint < FIRST_SCREEN_MS
    assert page.locator(".verdict").is_visible()
    assert page.locator("tr[data-row]").count() == 200
    page.get_by_role("button", name="Show 200 more (4,800 left)").click()
    assert page.locator("tr[data-row]").count() == 400
    assert page.inner_text("[data-sites] output") == "5,000 of 5,000 lines"
