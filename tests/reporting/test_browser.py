"""The page in a real browser: no errors, sorting, search, themes and keyboard.

Needs Chromium and its driver (Debian: `chromium` and `chromium-driver`). Without them the tests
are skipped with the reason; PARTITA_REQUIRE_BROWSER=1 makes that a failure. Pictures of the page
are kept in `test-artefacts/`, or where PARTITA_TEST_ARTEFACTS says.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_cases import HOSTILE, full_case, hostile_case, summary_of

from partita.reporting import write_html

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# As root there is no sandbox; nothing of the browser's own may call home.
SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1200,900",
)
ARTEFACTS = Path(
    os.environ.get("PARTITA_TEST_ARTEFACTS", Path(__file__).resolve().parents[2] / "test-artefacts")
)


def browser_or_skip() -> tuple[str, str]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if browser and driver:
        return browser, driver
    reason = (
        f"NO BROWSER, THE REPORT IS NOT TESTED IN ONE: found browser={browser}, chromedriver="
        f"{driver}. On Debian: apt-get install chromium chromium-driver."
    )
    if os.environ.get("PARTITA_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    browser, chromedriver = browser_or_skip()
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = browser
    for switch in SWITCHES:
        options.add_argument(switch)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(tmp_path_factory.mktemp("downloads"))}
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = Chrome(options=options, service=Service(chromedriver))
    yield chrome
    chrome.quit()


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_html(summary_of(full_case()), tmp_path_factory.mktemp("pages") / "full.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_html(summary_of(hostile_case()), tmp_path_factory.mktemp("pages") / "hostile.html")


@pytest.fixture
def page(driver: Any, full: Path) -> Iterator[Any]:
    """Open the full report in the light theme; afterwards the log must have no errors."""
    emulate(driver, scheme="light")
    driver.get(full.as_uri())
    yield driver
    assert driver.get_log("browser") == []


def emulate(driver: Any, *, scheme: str = "light", media: str = "screen") -> None:
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    # Pages are told of it with the next frame that is drawn, styles change at once.
    driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0]))")


def keep_picture(driver: Any, name: str, height: int = 2600) -> None:
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    full = driver.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": 1200, "height": min(full, height), "scale": 1}
    found = driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
    )
    (ARTEFACTS / name).write_bytes(base64.b64decode(found["data"]))


def ground(driver: Any) -> str:
    return str(driver.execute_script("return getComputedStyle(document.body).backgroundColor"))


def ink_of_pictures(driver: Any) -> str:
    script = "return getComputedStyle(document.querySelector('figure svg text')).fill"
    return str(driver.execute_script(script))


def column(driver: Any, table: str, place: int) -> list[str]:
    """Texts of the rows that are shown."""
    script = """
        return Array.from(document.querySelectorAll(`#${arguments[0]}-table tbody tr`))
            .filter((row) => row.offsetParent !== null)
            .map((row) => row.cells[arguments[1]].textContent.trim())"""
    return list(driver.execute_script(script, table, place))


def press(driver: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys(*keys).perform()


def test_it_opens_and_shows_its_figures(page: Any) -> None:
    assert page.title == "Planted clusters"
    sizes = page.execute_script(
        "return Array.from(document.querySelectorAll('figure svg'), (svg) => {"
        "const box = svg.getBoundingClientRect(); return [box.width, box.height]})"
    )
    assert len(sizes) == 16  # the scan has six panels, the embedding two
    assert all(width > 300 and height > 90 for width, height in sizes)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 1200
    keep_picture(page, "report-light.png")


def test_theme_follows_the_system_until_the_reader_chooses(page: Any) -> None:
    button = page.find_element("id", "theme")
    light, ink = ground(page), ink_of_pictures(page)
    assert (light, button.text) == ("rgb(255, 255, 255)", "Dark theme")
    emulate(page, scheme="dark")
    dark = ground(page)
    assert dark != light
    assert button.text == "Light theme"
    assert ink_of_pictures(page) != ink
    keep_picture(page, "report-dark.png")
    button.click()
    assert (ground(page), ink_of_pictures(page), button.text) == (light, ink, "Dark theme")
    button.click()
    assert ground(page) == dark


def test_columns_sort_both_ways_as_numbers_and_as_names(page: Any) -> None:
    headings = page.find_elements("css selector", "#samples-table thead th")
    confidence, sample = headings[2], headings[0]
    assert confidence.get_attribute("aria-sort") is None
    confidence.find_element("tag name", "button").click()
    assert confidence.get_attribute("aria-sort") == "ascending"
    values = [float(value) for value in column(page, "samples", 2)]
    assert len(values) == 120
    assert values == sorted(values)
    confidence.find_element("tag name", "button").click()
    assert confidence.get_attribute("aria-sort") == "descending"
    assert [float(value) for value in column(page, "samples", 2)] == sorted(values, reverse=True)
    sample.find_element("tag name", "button").click()
    assert confidence.get_attribute("aria-sort") is None
    assert column(page, "samples", 0) == [str(i) for i in range(120)]  # 2 before 10


def test_searching_shows_the_rows_with_every_word(page: Any) -> None:
    search = page.find_element("id", "samples-search")
    status = page.find_element("id", "samples-status")
    assert status.text == "120 of 120 shown"
    search.send_keys("doubtful")
    remarks = column(page, "samples", 7)
    assert 0 < len(remarks) < 120
    assert set(remarks) == {"doubtful"}
    assert status.text == f"{len(remarks)} of 120 shown"
    search.clear()
    search.send_keys("no such sample")
    assert column(page, "samples", 0) == []
    assert status.text == "0 of 120 shown"


def test_the_keyboard_reaches_everything_and_shows_where_it_is(page: Any) -> None:
    from selenium.webdriver import Keys

    reached = []
    for _ in range(140):
        press(page, Keys.TAB)
        focused = page.switch_to.active_element
        reached.append(focused.get_attribute("id") or focused.text or focused.tag_name)
        outline = focused.value_of_css_property("outline-width")
        assert outline == "3px", reached[-1]
        if focused.text.startswith("Without it"):
            break
    assert reached[0] == "Skip to the content"
    order = ["theme", "download", "Summary", "Provenance", "samples-search", "Against"]
    places = [reached.index(name) for name in order]
    assert places == sorted(places)
    press(page, Keys.ENTER)
    heading = page.find_elements("css selector", "#partitions-table thead th")[5]
    assert heading.get_attribute("aria-sort") == "ascending"


def test_the_skip_link_leads_to_the_content(page: Any) -> None:
    from selenium.webdriver import Keys

    press(page, Keys.TAB, Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"


def test_print_is_light_and_hides_controls(page: Any) -> None:
    page.find_element("id", "theme").click()
    emulate(page, scheme="dark", media="print")
    assert ground(page) == "rgb(255, 255, 255)"
    assert not page.find_element("tag name", "nav").is_displayed()
    assert not page.find_element("id", "theme").is_displayed()
    assert len(column(page, "samples", 0)) == 40
    keep_picture(page, "report-print.png")
    emulate(page)
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert pdf.startswith(b"%PDF")
    (ARTEFACTS / "report.pdf").write_bytes(pdf)


def test_the_summary_can_be_downloaded(page: Any) -> None:
    folder = page.capabilities["chrome"]["userDataDir"]
    downloads = next(Path(folder).parent.glob("downloads*"))
    page.find_element("id", "download").click()
    path = downloads / "report.json"
    deadline = time.monotonic() + 600
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    embedded = page.execute_script("return document.getElementById('summary-json').textContent")
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(embedded)


def test_a_narrow_screen_scrolls_down_only(page: Any) -> None:
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 380, "height": 800, "deviceScaleFactor": 1, "mobile": False},
    )
    width = page.execute_script("return document.documentElement.scrollWidth")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width <= 380


@pytest.fixture
def phone(page: Any) -> Iterator[Any]:
    """The full report on a phone."""
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.refresh()
    yield page
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_text_in_figures_can_be_read_on_a_phone(phone: Any) -> None:
    assert phone.execute_script("return document.documentElement.scrollWidth") <= 390
    heights = phone.execute_script(
        "return Array.from(document.querySelectorAll('figure svg text'), (text) => {"
        "  const { a, b } = text.getScreenCTM();"  # both: some text is rotated
        "  return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b)})"
    )
    assert len(heights) > 100
    assert min(heights) >= 9.5  # pixels


def test_a_wide_table_says_that_it_scrolls(phone: Any) -> None:
    script = """
        return Array.from(document.querySelectorAll(".scroll"), (box) => [
            box.scrollWidth > box.clientWidth + 1,
            box.parentElement.querySelector(".hint").offsetParent !== null])"""
    on_phone = phone.execute_script(script)
    assert all(wide == hint for wide, hint in on_phone)
    assert any(wide for wide, _ in on_phone)
    phone.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    phone.refresh()
    assert not any(hint for _, hint in phone.execute_script(script))


def test_no_half_of_a_card_is_empty(page: Any) -> None:
    shares = page.execute_script(
        "return Array.from(document.querySelectorAll('figure'), (card) => {"
        "  const right = Math.max(...Array.from(card.querySelectorAll('svg, .note'),"
        "    (part) => part.getBoundingClientRect().right));"
        "  const box = card.getBoundingClientRect();"
        "  return (right - box.left) / box.width})"
    )
    assert min(shares) > 0.7


def test_tables_can_be_downloaded_as_csv(page: Any) -> None:
    import csv

    folder = page.capabilities["chrome"]["userDataDir"]
    downloads = next(Path(folder).parent.glob("downloads*"))
    embedded = page.execute_script("return document.getElementById('summary-json').textContent")
    summary = json.loads(embedded)
    for key in ("samples", "partitions"):
        page.find_element("css selector", f"[data-csv={key}]").click()
        path = downloads / f"{key}.csv"
        deadline = time.monotonic() + 600
        while not path.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if key == "samples":
            assert [row["sample"] for row in rows] == [str(i) for i in range(120)]
            assert [row["cluster"] for row in rows] == summary["assignments"]["cluster"]
        else:
            names = [row["partition"] for row in summary["partitions"]["rows"]]
            assert [row["partition"] for row in rows] == names


def test_hostile_names_do_not_run(driver: Any, hostile: Path) -> None:
    emulate(driver)
    driver.get(hostile.as_uri())
    driver.find_element("id", "samples-search").send_keys("<script>")
    driver.find_elements("css selector", "#samples-table th button")[0].click()
    assert driver.execute_script("return window.hacked") is None
    assert driver.execute_script("return document.scripts.length") == 2
    assert driver.execute_script("return document.images.length") == 0
    assert driver.get_log("browser") == []  # the policy had nothing to forbid either
    text = driver.execute_script("return document.body.textContent")
    assert all(name in text for name in HOSTILE[:7])
    assert driver.title == HOSTILE[1]


def test_the_policy_would_stop_a_script_that_got_in(driver: Any, full: Path) -> None:
    page = full.with_name("broken.html")
    html = full.read_text(encoding="utf-8")
    page.write_text(html.replace("<main", "<script>window.hacked=1</script><main", 1))
    driver.get(page.as_uri())
    assert driver.execute_script("return window.hacked") is None
    assert "Content Security Policy" in driver.get_log("browser")[0]["message"]
