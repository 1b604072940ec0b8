"""The page in a real Chromium, at a real server on loopback.

Playwright drives it, since it waits for what happens instead of asking again and again, tells of every request and of
every line of the console, and needs no driver beside Debian's Chromium.
"""

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

pytest.importorskip("litestar", reason="needs fedkg[serve]")
pytest.importorskip("playwright", reason="needs playwright, an extra of developers")

from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from fedkg.core.answer import decode_answer
from fedkg.serve.clients import Client, digest
from tests.serve.conftest import MakeDesk, Stalled, running
from tests.support.served import ServedGraph, loopback

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
AXE = Path(__file__).resolve().parents[2] / ".engines" / "node_modules" / "axe-core" / "axe.min.js"
pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed (make engines)"),
]
PATIENCE = 30_000
"""Milliseconds that anything may take: a bound for what never happens, and no measure of speed."""
MARIE = "Who are the children of Marie Curie?"
PETS = "Which pet has Ann?"
PHONE: dict[str, Any] = {"viewport": {"width": 320, "height": 640}, "has_touch": True}
POINT = """id => {
  const drawn = document.getElementById("graph")._cyreg.cy.getElementById(id);
  const {x, y} = drawn.isNode() ? drawn.renderedPosition() : drawn.renderedMidpoint();
  return {x, y};
}"""
"""Where a node, or the middle of an edge, is drawn: what a person sees, a program has to ask the library for."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for all tests of this file."""
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=CHROMIUM)
        yield started
        await started.close()


@asynccontextmanager
async def opened(browser: Browser, url: str, place: str = "/", **options: Any) -> AsyncIterator[Page]:
    """The page in a window of its own. A script's fault, a breach of the policy and a foreign request are failures."""
    settings = {"viewport": {"width": 1200, "height": 900}, "locale": "en-GB", "reduced_motion": "reduce", **options}
    context: BrowserContext = await browser.new_context(**settings)
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    faults: list[str] = []
    # a refusal by the server is told by the page itself
    page.on("console", lambda line: faults.append(line.text) if is_fault(line.type, line.text) else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if is_foreign(request.url, url) else None)
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    try:
        await page.goto(url + place)
        await expect(page.locator("#submit")).not_to_be_empty()  # the texts are there
        yield page
        assert faults == []
    finally:
        await context.close()


def is_fault(kind: str, text: str) -> bool:
    """Whether a line of the console tells of a fault of the page."""
    return kind in {"error", "warning"} and not text.startswith("Failed to load resource")


def is_foreign(asked: str, url: str) -> bool:
    """Whether a request goes to another place than the server."""
    return urlsplit(asked).netloc != urlsplit(url).netloc and not asked.startswith(("data:", "blob:"))


async def ask(page: Page, question: str) -> None:
    """Types the question and sends it, by the keyboard."""
    await page.locator("#question").fill(question)
    await page.locator("#question").press("Enter")


async def answered(page: Page, question: str) -> None:
    """Asks, and waits for the answer and its drawing."""
    await expect(page.locator("#served")).not_to_be_empty()
    await ask(page, question)
    await expect(page.locator("#graph[data-drawn]")).to_be_visible()


async def test_ask_watch_and_verify_by_keyboard(browser: Browser, desk: MakeDesk) -> None:
    """The question has the focus; then the answer has it, and Tab and Enter do everything else."""
    async with running(desk("sample", keep=True)) as (url, _), opened(browser, url) as page:
        await expect(page.locator("#question")).to_be_focused()
        await expect(page.locator("#served")).to_have_text("local, 1 endpoint")
        await page.keyboard.type(MARIE)
        await page.keyboard.press("Enter")
        await expect(page.locator("#kept a")).to_be_visible()
        await expect(page.locator("#answer-heading")).to_be_focused()
        await expect(page.locator(".values .value")).to_have_text(["Irène Joliot-Curie", "Ève Curie"])
        await expect(page.locator("#status")).to_contain_text("2 answers")
        walk = page.locator("#walk")
        await expect(walk.locator(".topics")).to_contain_text("Marie Curie")
        await expect(walk.locator(".taken").first).to_contain_text("child")
        await expect(walk.locator(".taken .score").first).to_have_text(re.compile(r"0\.\d\d"))
        await expect(walk.locator("dt")).to_have_text(
            ["Time", "Requests", "From the cache", "Model calls", "Tokens", "Price"]
        )
        await expect(page.locator("#graph[data-drawn]")).to_be_visible()
        for _ in range(3):  # two links to the graph's own pages, then the first button
            await page.keyboard.press("Tab")
        await expect(page.locator("#verify")).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(page.locator(".verification")).to_have_text("Verified: 2 edges hold.")
        await expect(page.locator(".paths .mark")).to_have_text(["holds", "holds"])


@pytest.mark.exhaustive
async def test_the_list_of_the_proof_is_walked_by_keyboard(browser: Browser, desk: MakeDesk) -> None:
    """A node has its neighbours, an edge its endpoint; the focus goes to the details, and back where it came from."""
    async with running(desk("sample")) as (url, _), opened(browser, url) as page:
        await answered(page, MARIE)
        node = page.get_by_role("button", name="Marie Curie: details and neighbours").first
        await node.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("#details h3")).to_be_focused()
        await expect(page.locator("#details .near li")).to_have_count(17)
        await page.get_by_role("button", name="Close details").press("Enter")
        await expect(node).to_be_focused()
        await page.get_by_role("button", name="child: details of this edge").first.press("Enter")
        await expect(page.locator("#details")).to_contain_text("bundled sample")


async def test_nodes_and_edges_can_be_clicked(browser: Browser, desk: MakeDesk) -> None:
    """In the drawing: a node shows its neighbours, which join it; an edge its endpoint and qualifiers."""
    async with running(desk("sample")) as (url, _), opened(browser, url) as page:
        await answered(page, "Who has held the position of Federal Chancellor of Germany?")
        graph = page.locator("#graph")
        await page.locator("#verify").click()
        await expect(page.locator(".verification .good")).to_be_visible()  # the drawing is further down now
        ids = await page.evaluate("() => document.getElementById('graph')._cyreg.cy.edges().map(edge => edge.id())")
        merkel = next(name for name in ids if "Q567>" in name)
        await graph.click(position=await page.evaluate(POINT, merkel))
        details = page.locator("#details")
        await expect(details.locator("h3")).to_have_text("position held")
        await expect(details).to_contain_text("sample: bundled sample")
        await expect(details).to_contain_text("2005-11-22")
        await graph.click(position=await page.evaluate(POINT, "<http://www.wikidata.org/entity/Q567>"))
        await expect(details.locator("h3")).to_have_text("Angela Merkel")
        await expect(details.locator(".near li").first).to_be_visible()
        drawn = await page.evaluate("() => document.getElementById('graph')._cyreg.cy.edges('.near').length")
        assert drawn > 0


@pytest.mark.exhaustive
async def test_nodes_can_be_touched(browser: Browser, desk: MakeDesk) -> None:
    """On a phone, whose language the page has."""
    async with running(desk()) as (url, _), opened(browser, url, **PHONE, locale="de") as page:
        await answered(page, PETS)
        await page.locator("#graph").tap(position=await page.evaluate(POINT, "<http://x/rex>"))
        await expect(page.locator("#details h3")).to_have_text("Rex")
        await expect(page.locator("#details h4")).to_have_text("1 benachbarte Kante")


@pytest.mark.exhaustive
async def test_what_is_too_much_to_draw_stands_in_the_list(browser: Browser, desk: MakeDesk, tmp_path: Path) -> None:
    """All answers and edges do; a node that was not drawn joins the drawing with its neighbours."""
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    lines = [f'<http://x/ann> {label} "Ann"@en .', f'<http://x/has_pet> {label} "has pet"@en .']
    for number in range(60):
        lines += [
            f"<http://x/ann> <http://x/has_pet> <http://x/{number}> .",
            f'<http://x/{number}> {label} "P{number}" .',
        ]
        lines.append(f'<http://x/{number}> <http://x/age> "{number}" .')
    file = tmp_path / "many.nt"
    file.write_text("\n".join(lines))
    async with running(desk(file)) as (url, _), opened(browser, url) as page:
        await answered(page, PETS)
        await expect(page.locator(".values li")).to_have_count(60)
        await expect(page.locator(".path-list button.relation")).to_have_count(60)
        await expect(page.locator("#proof")).to_contain_text("20 edges stand in the list alone.")
        await page.locator(".path-list details summary").click()
        await page.locator(".path-list button").last.click()
        await expect(page.locator("#details .near li")).to_have_count(2)
        drawn = await page.evaluate("() => document.getElementById('graph')._cyreg.cy.edges().length")
        assert drawn == 41  # 40 of the proof, and the age of the last


@pytest.mark.exhaustive
async def test_the_document_and_its_queries_can_be_taken_along(browser: Browser, desk: MakeDesk) -> None:
    """The file is what `fedkg verify` reads; a query goes to the clipboard."""
    async with running(desk("sample")) as (url, _), opened(browser, url) as page:
        await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        await answered(page, MARIE)
        async with page.expect_download() as download:
            await page.locator("#download").click()
        saved = await download.value
        assert saved.suggested_filename == "who-are-the-children-of-marie-curie.json"
        assert decode_answer(Path(await saved.path()).read_bytes()).question == MARIE
        await page.locator(".queries summary").click()
        await page.locator(".query button").click()
        await expect(page.locator(".query button")).to_have_text("Copied")
        copied = await page.evaluate("() => navigator.clipboard.readText()")
        assert copied.startswith("SELECT DISTINCT ?i WHERE")


@pytest.mark.parametrize("way", ["button", pytest.param("Escape", marks=pytest.mark.exhaustive)])
async def test_a_question_can_be_stopped(browser: Browser, desk: MakeDesk, pets: Path, way: str) -> None:
    """The page shows it, the endpoint is no longer asked, and another question can be."""
    stalled = Stalled(pets)
    async with running(desk(transport=stalled, at_once=1), stalled) as (url, _), opened(browser, url) as page:
        await expect(page.locator("#served")).not_to_be_empty()
        await ask(page, PETS)
        await stalled.asked.wait()
        await (page.locator("#stop").click() if way == "button" else page.keyboard.press(way))
        await expect(page.locator("#problem")).to_contain_text("Stopped, as you wished.")
        async with asyncio.timeout(20):
            await stalled.given_up.wait()
        stalled.go.set()
        await expect(page.locator("#submit")).to_be_visible()
        await ask(page, PETS)
        await expect(page.locator(".values .value")).to_have_text("Rex")
        await expect(page.locator("#problem")).to_be_empty()


SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>"
QUOTES = "\\\"'`--></title></style>{{7*7}}${1}"
TURNED = "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd"
LONG = "long " * 2_000
HOSTILE = f"""
<http://x/ann> <http://www.w3.org/2000/01/rdf-schema#label> "Ann"@en .
<http://x/has_pet> <http://www.w3.org/2000/01/rdf-schema#label> "has pet {SCRIPT}"@en .
<http://x/ann> <http://x/has_pet> <http://x/script> .
<http://x/script> <http://www.w3.org/2000/01/rdf-schema#label> "{SCRIPT}"@en .
<http://x/ann> <http://x/has_pet> <http://x/quotes> .
<http://x/quotes> <http://www.w3.org/2000/01/rdf-schema#label> "{QUOTES}"@en .
<http://x/ann> <http://x/has_pet> <http://x/turned> .
<http://x/turned> <http://www.w3.org/2000/01/rdf-schema#label> "{TURNED}"@en .
<http://x/ann> <http://x/has_pet> <http://x/long> .
<http://x/long> <http://www.w3.org/2000/01/rdf-schema#label> "{LONG}"@en .
<http://x/ann> <http://x/has_pet> <javascript:alert(3)> .
<javascript:alert(3)> <http://www.w3.org/2000/01/rdf-schema#label> "A link"@en .
<http://x/ann> <http://x/has_pet> <data:text/html,hello> .
<http://x/script> <http://x/has_toy> "{SCRIPT}" .
"""


async def test_hostile_labels_are_text(browser: Browser, desk: MakeDesk) -> None:
    """Scripts, quotes, marks that turn the writing, ten thousand letters, and IRIs that are no web addresses."""
    async with (
        loopback(ServedGraph(HOSTILE)) as endpoint,
        running(desk(endpoint)) as (url, _),
        opened(browser, url, **PHONE) as page,
    ):
        await answered(page, PETS)
        values = await page.locator(".values .value").all_inner_texts()
        assert SCRIPT in values
        assert "A link" in values
        assert not [value for value in values if "\u202e" in value or len(value) > 500]
        assert await page.locator("main script, main img").count() == 0
        links = await page.locator("main a").evaluate_all("links => links.map(({href, rel}) => [href, rel])")
        assert links
        assert all(href.startswith("http") and "noopener" in rel for href, rel in links)
        await page.get_by_role("button", name=f"{SCRIPT}: details and neighbours").first.click()
        await expect(page.locator("#details .near")).to_contain_text("onerror")
        assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.exhaustive
async def test_language_and_colours_are_chosen_and_kept(browser: Browser, desk: MakeDesk) -> None:
    """German where the browser wants it; all that is shown changes with the switch, and stays so."""
    async with running(desk()) as (url, _), opened(browser, url, locale="de-AT", color_scheme="dark") as page:
        await expect(page.locator("#submit")).to_have_text("Fragen")
        assert await page.evaluate("document.documentElement.lang") == "de"
        await answered(page, PETS)
        await expect(page.locator("#walk-heading")).to_have_text("Der Weg")
        dark = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        await page.locator("#theme").select_option("light")
        assert await page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
        await page.locator("#language").select_option("en")
        for place, text in (("#walk-heading", "The walk"), ("#answer-heading", "Answer"), ("#proof-heading", "Proof")):
            await expect(page.locator(place)).to_have_text(text)
        await page.reload()
        await expect(page.locator("#submit")).to_have_text("Ask")
        assert await page.evaluate("document.documentElement.dataset.theme") == "light"


@pytest.mark.exhaustive
async def test_the_token_is_asked_for_and_kept_in_the_tab(browser: Browser, desk: MakeDesk) -> None:
    """A wrong one is refused, the right one opens the page, and nothing but the tab's own storage has it."""
    clients = {"alice": Client(digest("a token of alice"))}
    async with running(desk(clients=clients)) as (url, _), opened(browser, url) as page:
        for token in ("wrong", "a token of alice"):
            await expect(page.locator("#token-value")).to_be_focused()
            await page.keyboard.type(token)
            await page.keyboard.press("Enter")
            if token == "wrong":
                await expect(page.locator("#token-refused")).to_be_visible()
        await answered(page, PETS)
        await expect(page.locator(".values .value")).to_have_text("Rex")
        kept = await page.evaluate("[JSON.stringify(localStorage), document.cookie, JSON.stringify(sessionStorage)]")
        assert ["alice" in text for text in kept] == [False, False, True]


@pytest.mark.exhaustive
async def test_too_many_questions(browser: Browser, desk: MakeDesk, pets: Path) -> None:
    """The page says so, when to ask again, and does so at a click."""
    stalled = Stalled(pets)
    made = desk(transport=stalled, at_once=1, waiting=0)
    async with running(made, stalled) as (url, _), opened(browser, url) as page:
        await expect(page.locator("#served")).not_to_be_empty()
        async with made.gate.turn():
            await ask(page, PETS)
            await expect(page.locator("#problem")).to_contain_text("Too many questions at once")
            await expect(page.locator("#problem")).to_contain_text("Ask again after 2 seconds.")
        stalled.go.set()
        await page.get_by_role("button", name="Ask again").click()
        await expect(page.locator(".values .value")).to_have_text("Rex")


@pytest.mark.exhaustive
async def test_a_lost_connection(browser: Browser, desk: MakeDesk, pets: Path) -> None:
    """Is told, in the language of the page."""
    async with running(desk(pets)) as (url, _), opened(browser, url, locale="de") as page:
        await expect(page.locator("#served")).not_to_be_empty()
        await page.context.set_offline(True)
        await ask(page, PETS)
        await expect(page.locator("#problem")).to_contain_text("Die Verbindung zum Server ist abgebrochen.")


@pytest.mark.exhaustive
async def test_an_entity_that_is_not_there(browser: Browser, desk: MakeDesk) -> None:
    """The server's own sentence, as English."""
    async with running(desk()) as (url, _), opened(browser, url) as page:
        await page.locator("#choices summary").click()
        await page.locator("#topics").fill("Bob")
        await ask(page, "Which pet has Bob?")
        await expect(page.locator("#problem .heading")).to_have_text("The graph has no entity of this name.")
        await expect(page.locator("#problem [lang=en]").first).to_contain_text("Bob")


@pytest.mark.exhaustive
async def test_what_came_closest_is_no_answer(browser: Browser, desk: MakeDesk) -> None:
    """It stands apart, with the paths to it, where the confidence was too low."""
    made = desk("sample", refuse_below=0.999, guess_below=0.999)
    async with running(made) as (url, _), opened(browser, url) as page:
        await answered(page, MARIE)
        await expect(page.locator(".outcome")).to_contain_text("No answer")
        await expect(page.locator(".closest")).to_contain_text("Irène Joliot-Curie")
        await expect(page.locator(".values")).to_have_count(0)
        await expect(page.locator("#proof-heading")).to_have_text("Paths")


@pytest.mark.exhaustive
async def test_a_guess_is_called_one(browser: Browser, desk: MakeDesk) -> None:
    """Beside each answer and among what is to be kept in mind, with the confidence."""
    async with running(desk("sample", guess_below=0.999)) as (url, _), opened(browser, url) as page:
        await answered(page, MARIE)
        await expect(page.locator(".badge.guess")).to_have_text(["guess", "guess"])
        await expect(page.locator(".caveats")).to_contain_text("The answer is a guess")
        await expect(page.locator(".confidence")).to_contain_text("%")


@pytest.mark.exhaustive
async def test_endpoints_and_method_are_chosen(browser: Browser, desk: MakeDesk) -> None:
    """What is chosen is asked for; the last endpoint cannot be taken away."""
    made = desk("sample", "sample-library", offered=("kaping",))
    async with running(made) as (url, _), opened(browser, url) as page:
        await expect(page.locator("#examples")).to_be_visible()
        await page.locator("#choices summary").click()
        boxes = page.locator("#endpoints input")
        await expect(boxes).to_have_count(2)
        await boxes.nth(1).uncheck()
        await boxes.nth(0).click()
        await expect(boxes.nth(0)).to_be_checked()
        await page.locator("#method").select_option("kaping")
        async with page.expect_request("**/ask") as request:
            await ask(page, MARIE)
        body = json.loads(str((await request.value).post_data))
        assert (body["endpoints"], body["method"]) == (["sample"], "kaping")
        await expect(page.locator("#answer")).to_contain_text("Method kaping")


@pytest.mark.exhaustive
async def test_a_kept_answer_has_an_address(browser: Browser, desk: MakeDesk) -> None:
    """Which opens in the page of somebody else, with its proof and without its walk."""
    async with running(desk(keep=True)) as (url, _):
        async with opened(browser, url) as page:
            await answered(page, PETS)
            address = await page.locator("a[href^='#/answers/']").get_attribute("href")
        async with opened(browser, url, f"/{address}") as page:
            await expect(page.locator(".values .value")).to_have_text("Rex")
            await expect(page.locator("#graph[data-drawn]")).to_be_visible()
        async with opened(browser, url, "/#/answers/nothing") as page:
            await expect(page.locator("#problem")).to_contain_text("The server has nothing of this name.")


WINDOWS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {**PHONE, "locale": "de-DE"},
    "dark phone": {**PHONE, "color_scheme": "dark"},
}


@pytest.mark.parametrize(
    "window", [pytest.param(name, marks=pytest.mark.exhaustive if name != "light" else ()) for name in WINDOWS]
)
async def test_axe_finds_no_serious_fault(browser: Browser, desk: MakeDesk, window: str) -> None:
    """Before a question, with the form unfolded, and with an answer, its details, its queries and a verification."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed (make engines)")
    async with running(desk("sample")) as (url, _), opened(browser, url, **WINDOWS[window]) as page:
        await expect(page.locator("#examples")).to_be_visible()
        await page.locator("#choices summary").click()
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        assert await faults_of(page) == []
        await answered(page, "Who has held the position of Federal Chancellor of Germany?")
        await page.locator("#verify").click()
        await page.locator(".path-list button").first.click()
        await expect(page.locator("#details .near li").first).to_be_visible()
        await page.locator(".queries summary").click()
        await expect(page.locator(".verification .good")).to_be_visible()
        await expect(page.locator(".query").first).to_be_visible()
        assert await faults_of(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


async def faults_of(page: Page) -> list[tuple[str, str]]:
    """What axe calls serious or critical, with the first place where it is."""
    found = await page.evaluate("() => axe.run()")
    grave = [fault for fault in found["violations"] if fault["impact"] in {"serious", "critical"}]
    return [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in grave]
