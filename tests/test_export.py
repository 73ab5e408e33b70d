"""What people take away from a run: tables and archives that are exact, and a page in which no text of a model acts."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import astuple, replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from evaluator_core.export import answers_zip, pairs_csv, summary_csv
from evaluator_core.languages import LANGUAGES, Language
from evaluator_core.metrics import CAUTION, READING_WORDS, read
from evaluator_core.report import html_report
from evaluator_core.report_heatmap import colour
from evaluator_core.summary import COLUMNS, SummaryRow, parse_summary, row_of
from evaluator_core.types import Reply, Run, RunSettings, SampleFailure
from tests.runs import ALIKE, BUILTIN, LOOP, detailed_run, make_run, run_of

HOSTILE = {
    "closing tags": "</code></pre></details></title></style><script>alert(1)</script>",
    "image": "<img src=x onerror=alert(1)>",
    "attribute": '"onmouseover="alert(1)" x="',
    "single quotes": "' onfocus='alert(1)' autofocus='",
    "link": '<a href="javascript:alert(1)">here</a> [here](javascript:alert(1))',
    "frame": "<iframe src=//example.org></iframe><object data=x></object><link rel=stylesheet href=//example.org>",
    "comment": "<!-- <script>alert(1)</script> --> <![CDATA[ ]]> <?php echo 1 ?>",
    "entities": "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62; &amp",
    "drawing": "</svg><svg onload=alert(1)><style>@import url(//example.org)</style>",
    "right to left": "access = \u202e'resu' \u2066# check\u2069\u200f",
    "NUL": "<scr\0ipt>alert(1)</scr\0ipt>\0",
    "escapes": "\x1b[2J\x9b \x7f\b",
    "surrogates": "\ud800 <b>\udfff</b> \udc80",
    "policy": '<meta http-equiv="refresh" content="0;url=//example.org"><base href="//example.org">',
}
UNSEEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TAGS = set(
    "html head meta title style body main h1 h2 h3 p strong ul li dl dt dd div pre code article details summary figure "
    "figcaption svg g rect path text".split()
)


class Page(HTMLParser):
    """A page as a browser's parser sees it: its tags, attributes and texts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.others: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag != "meta":
            self._open.append(tag)
        self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, "a tag is closed that is not open"

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.texts[tag][-1] += data

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def visible(text: str) -> str:
    """The text as the report shows it: what cannot be seen stands there by its number."""
    return UNSEEN.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)


def many(count: int) -> Run:
    """A run of many answers, most of them different programs."""
    steps = ["total += value", "total = value", "print(total)", "total -= 1", "del value"]
    lines = [[f"    {steps[(k * j + k) % 5]}" for j in range(k % 9 + 1)] for k in range(count)]
    return make_run([f"Here:\n```python\ndef f{k}(total, value):\n" + "\n".join(body) + "\n```" for k, body in enumerate(lines)])


def files_of(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.mark.parametrize("make", [make_run, detailed_run, lambda: many(40)], ids=["small", "detailed", "many"])
def test_the_pairs_come_back_to_the_last_bit(make: Callable[[], Run]) -> None:
    run = make()
    header, *rows = csv.reader(io.StringIO(pairs_csv(run)))
    assert header == "i j ast_similarity text_similarity hybrid_similarity".split()
    assert [(int(i), int(j), *map(float, values)) for i, j, *values in rows] == list(run.score.pairs())
    count = len(run.score.samples)
    assert len(rows) == count * (count - 1) // 2


def test_without_a_grammar_the_cell_of_the_structure_is_empty() -> None:
    run = make_run(["```dart\nmain() {}\n```", "```dart\nmain() { print(1); }\n```"], language="dart")
    (row,) = csv.DictReader(io.StringIO(pairs_csv(run)))
    assert row["ast_similarity"] == ""
    assert float(row["hybrid_similarity"]) == run.score.hybrid[0, 1]


def test_a_single_answer_has_no_pairs() -> None:
    assert pairs_csv(make_run([LOOP])) == "i,j,ast_similarity,text_similarity,hybrid_similarity\n"


def test_pandas_reads_the_summary_as_it_was() -> None:
    prompts = ["Add.", 'a "quoted", long\nprompt', "=1+2", "añadir 🧮", "", "NA"]
    rows = [row_of(make_run(question=prompt), f"results/eval_{k}.json") for k, prompt in enumerate(prompts)]
    table = pd.read_csv(io.StringIO(summary_csv(iter(rows))), keep_default_na=False)
    assert tuple(table.columns) == COLUMNS
    assert list(table.itertuples(index=False, name=None)) == [astuple(row) for row in rows]


def test_a_summary_with_a_lone_surrogate_can_be_written() -> None:
    row = SummaryRow("2025-09-18_11-20-03", "model", "a\ud800b", 20.0, 77.3, 54.6, 5, "eval_2025-09-18_11-20-03.json")
    text = summary_csv([row]).encode().decode()
    assert parse_summary(text).rows == (replace(row, question="a?b"),)


def test_a_summary_of_no_runs_is_the_header() -> None:
    assert summary_csv([]) == ",".join(COLUMNS) + "\n"


def test_the_archive_holds_each_code_and_each_reply() -> None:
    run = detailed_run()
    files = files_of(answers_zip(run))
    first, refusal, last = run.score.samples
    assert {name: content.decode() for name, content in files.items()} == {
        "sample_00.py": first.code,
        "sample_02.txt": "I would rather not.",
        "sample_04.py": last.code,
        "replies/sample_00.md": LOOP,
        "replies/sample_02.md": refusal.reply.text,
        "replies/sample_04.md": BUILTIN,
    }


def test_the_same_run_gives_the_same_bytes() -> None:
    archive = answers_zip(detailed_run())
    assert archive == answers_zip(detailed_run())
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert {entry.date_time for entry in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_sources_have_the_ending_of_their_language(language: Language) -> None:
    files = files_of(answers_zip(make_run([f"```{language.name}\nx = 1;\n```"] * 2, language=language.name)))
    assert list(files)[:2] == [f"sample_00{language.extension}", f"sample_01{language.extension}"]


def test_a_language_without_grammar_gives_text_files_with_the_code() -> None:
    run = make_run(["```dart\nmain() {}\n```"] * 2, language="../../dart")
    assert files_of(answers_zip(run))["sample_01.txt"].decode() == run.score.samples[1].code


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_chooses_a_name_in_the_archive_or_breaks_it(text: str) -> None:
    texts = [f"```../../{text}.py\n{text}\n```", f"../../etc/passwd {text}", LOOP + text]
    files = files_of(answers_zip(make_run(texts, model=f"../{text}", question=text)))
    assert len(files) == 6
    assert all(re.fullmatch(r"sample_0[0-2]\.(py|txt)|replies/sample_0[0-2]\.md", name) for name in files)
    assert files["replies/sample_01.md"] == texts[1].encode("utf-8", "backslashreplace")


def test_an_archive_of_nothing_is_an_archive() -> None:
    assert files_of(answers_zip(make_run([]))) == {}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_only_ever_text(text: str) -> None:
    replies = [
        Reply(0, f"```python\nprint(1) # {text}\n```", text, 1.0, 2, 3, reported_model=text),
        Reply(1, text),
        Reply(2, f"{text}\n{LOOP}"),
    ]
    run = run_of(
        replies,
        question=text,
        model=text,
        settings=RunSettings(4, system_prompt=text),
        failures=[SampleFailure(3, text, text)],
    )
    hostile_notes = replace(run.score, language=text, notes=(text,))
    html = html_report(replace(run, endpoint=text, score=hostile_notes))
    page = Page(html.encode("utf-8").decode("utf-8"))
    assert set(page.tags) <= TAGS
    assert page.others == []
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name in {"href", "src", "xlink:href"}]
    assert page.tags.count("style") == page.tags.count("svg") == 1
    assert page.tags.count("meta") == 3
    assert not UNSEEN.search(html)
    assert page.texts["pre"][:2] == [visible(text)] * 2, "prompt and system prompt"
    assert page.texts["code"] == [visible(sample.code) for sample in run.score.samples if sample.code]
    assert [part.removeprefix("Whole reply") for part in page.texts["details"]] == [visible(reply.text) for reply in replies]
    assert f"Answer 4: {visible(text)}: {visible(text)}" in page.texts["li"]
    assert page.texts["li"][0] == visible(text), "note"
    assert {visible(text)} <= set(page.texts["dd"])
    assert visible(text) in page.texts["title"][0]


def test_the_page_forbids_scripts_and_fetches_nothing() -> None:
    html = html_report(detailed_run())
    page = Page(html)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert ("meta", "content", policy) in page.attributes
    assert ("meta", "http-equiv", "Content-Security-Policy") in page.attributes
    assert html.index("Content-Security-Policy") < html.index("<title>")
    assert ("meta", "charset", "utf-8") in page.attributes
    assert ("html", "lang", "en") in page.attributes
    assert "url(" not in html
    assert "@import" not in html
    assert "://" not in html


@pytest.mark.parametrize("make", [make_run, detailed_run, lambda: many(20)], ids=["small", "detailed", "many"])
def test_the_numbers_are_those_of_the_run(make: Callable[[], Run]) -> None:
    run = make()
    metrics = run.score.metrics
    page = Page(html_report(run))
    shown = [text for text in page.texts["dd"] if re.fullmatch(r"\d+\.\d %", text)]
    assert [float(text.removesuffix(" %")) for text in shown] == list(astuple(metrics))
    reading = read(metrics)
    assert reading is not None
    assert f"{READING_WORDS[reading]} {CAUTION}" in page.texts["p"]


def test_a_run_without_numbers_says_so() -> None:
    page = Page(html_report(make_run([LOOP])))
    assert page.texts["dd"][:9:3] == ["–"] * 3
    assert page.texts["dd"][1:9:3] == ["not enough samples for an interval"] * 3
    assert "svg" not in page.tags
    assert "Fewer than two answers: there is nothing to compare, so there are no numbers." in page.texts["li"]
    assert "article" not in Page(html_report(make_run([]))).tags


def test_answers_are_numbered_from_one_wherever_they_are_named() -> None:
    run = detailed_run()
    html = html_report(run)
    page = Page(html)
    assert page.texts["h3"] == ["Answer 1", "Answer 3", "Answer 5"]
    assert "Answer 2: timeout: no answer within 60 s" in page.texts["li"]
    assert "Odd one out: Answer 3, with a mean similarity of 0.000 to the others." in page.texts["li"]
    assert f"<title>Answers 1 and 5: {run.score.hybrid[0, 2]:.3f}</title>" in html
    facts = "finish reason: stop · tokens read: 31 · tokens written: 58 · latency: 1.25 s"
    assert page.texts["p"][2].startswith(facts)


def test_groups_of_one_program_are_named() -> None:
    items = Page(html_report(make_run([LOOP, BUILTIN, ALIKE, "No.", BUILTIN]))).texts["li"]
    assert "Answers 2, 3 and 5 are the same program, up to names, literals, comments and layout." in items
    items = Page(html_report(make_run([LOOP, BUILTIN]))).texts["li"]
    assert "No two answers are the same program, up to names, literals, comments and layout." in items


@pytest.mark.parametrize(("count", "has_labels", "has_tooltips"), [(15, True, True), (16, False, True), (61, False, False)])
def test_the_heatmap_tells_as_much_as_fits(count: int, has_labels: bool, has_tooltips: bool) -> None:
    run = many(count)
    html = html_report(run)
    tooltips = re.findall(r"<title>Answers (\d+) and (\d+): ([\d.]+)</title>", html)
    told = [(int(i) - 1, int(j) - 1, value) for i, j, value in tooltips]
    expected = [(i, j, f"{value:.3f}") for (i, j), value in np.ndenumerate(run.score.hybrid)]
    assert told == (expected if has_tooltips else [])
    assert len(re.findall(r'fill="#(?:000|fff)">\d\.\d\d</text>', html)) == (count * count if has_labels else 0)
    page = Page(html)
    assert ("svg", "role", "img") in page.attributes
    assert any(tag == "svg" and name == "aria-label" and f"{count} answers" in str(value) for tag, name, value in page.attributes)


def test_every_pair_of_a_large_run_is_drawn_in_its_colour() -> None:
    run = many(70)
    drawn: dict[tuple[int, ...], str] = {}
    for fill, path in re.findall(r'<path fill="(#\w{6})" shape-rendering="crispEdges" d="([^"]+)"', html_report(run)):
        drawn |= {(int(y) // 8, int(x) // 8): fill for x, y in re.findall(r"M(\d+) (\d+)h8v8h-8z", path)}
    assert drawn == {place: colour(round(value * 100) / 100) for place, value in np.ndenumerate(run.score.hybrid)}


def test_the_report_of_a_hundred_answers_is_small() -> None:
    run = many(100)
    html = html_report(run)
    assert len(html.encode()) < 3_000_000
    assert Page(html).texts["code"] == [sample.code for sample in run.score.samples]


def test_a_run_of_very_many_answers_is_drawn_by_blocks() -> None:
    run = many(401)
    html = html_report(run)
    assert html.count("h4v4h-4z") == 134 * 134
    assert "Each cell is the mean of up to 3 × 3 pairs." in html


def test_colours_run_from_dark_to_light_and_labels_stand_out() -> None:
    lightness = [_luminance(colour(value)) for value in np.linspace(0, 1, 101).tolist()]
    assert lightness == sorted(set(lightness)), "a higher similarity is always lighter"
    assert (colour(0), colour(1), colour(-1), colour(2)) == ("#00224e", "#fee838", "#00224e", "#fee838")
    labels = re.findall(r'fill="(#\w{6})"><title>[^<]+</title></rect>\n<text [^>]*fill="(#\w{3})"', html_report(many(15)))
    assert len(labels) == 15 * 15
    for ground, ink in labels:
        lower, higher = sorted((_luminance(ground), 0.0 if ink == "#000" else 1.0))
        assert (higher + 0.05) / (lower + 0.05) >= 4.5


def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
