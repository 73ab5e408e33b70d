"""Two codes side by side: what is shown is what they hold, and nothing in them becomes markup."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dashboard.diff import CONTEXT, MAX_LINES, SAME, diff_html

TAGS = {"div", "style", "table", "caption", "colgroup", "col", "thead", "tbody", "tr", "th", "td", "del", "ins"}
ATTRIBUTES = {"class", "role", "tabindex", "aria-label", "scope", "colspan"}
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
HOSTILE = (
    "</td></tr></table><script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "\" onmouseover='alert(1)' x=\"",
    "&lt;b&gt; &amp; &#60;i&#62; &copy",
    "</style><style>*{display:none}</style><!-- ",
    "<![CDATA[ ]]> <?php ?>",
    "a\x00b\x1b[2J\r\x7f\x9b",
    "lone \ud800 and \udfff",
    "\u202eevil\u202c \u2066x\u2069 \u200e\u200f\u061c\u2028\u2029\ufeff",
)
LINES = st.lists(st.sampled_from(["", "a", "b", "  return x", "c", "\tx", *HOSTILE]) | st.text(max_size=8), max_size=40)
CODES = LINES.map("\n".join)


class Page(HTMLParser):
    """The rows of a diff as a browser would read them."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.rows: list[list[str]] = []
        self.heads: list[str] = []
        self.marked: list[tuple[str, str]] = []
        self.others: list[str] = []
        self._open: list[str] = []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "col":
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag == "td":
            self.rows[-1].append("")
        elif tag == "th":
            self.heads.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self._open:
            self.rows[-1][-1] += data
        elif "th" in self._open:
            self.heads[-1] += data
        if self._open and self._open[-1] in ("del", "ins"):
            self.marked.append((self._open[-1], data))

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def page_of(left: str, right: str) -> Page:
    """The diff, read, once it is known to hold only the table's own markup and no steering character."""
    markup = diff_html(left, right, left_title="Answer 1", right_title="Answer 2")
    assert {c for c in markup if unicodedata.category(c) in STEERING} <= {"\n"}
    page = Page(markup)
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.others == []
    assert page.tags.count("style") == 1
    page.rows = page.rows[1:]  # the first is the head
    return page


def shown(text: str) -> str:
    """What a reader sees of a line, told independently of the module."""
    seen = ""
    for character in text:
        if character == "\t":
            seen += "    "
        elif character < " ":
            seen += chr(0x2400 + ord(character))
        elif character == "\x7f":
            seen += "␡"
        else:
            seen += "\ufffd" if unicodedata.category(character) in STEERING else character
    return seen


def lines_of(code: str) -> list[str]:
    return code.split("\n") if code else []


def assert_tells_both(page: Page, left: list[str], right: list[str]) -> None:
    """Row by row the table gives both codes back, its numbers and signs are right, and only equal lines are folded."""
    i = j = 0
    for row in page.rows:
        if len(row) == 1:
            found = re.fullmatch(r"… ([\d,]+) equal lines …", row[0])
            assert found
            count = int(found[1].replace(",", ""))
            assert count > CONTEXT
            assert left[i : i + count] == right[j : j + count]
            assert len(left[i : i + count]) == count
            i, j = i + count, j + count
            continue
        left_line, left_text, right_line, right_text = row
        signs = left_line.lstrip("0123456789"), right_line.lstrip("0123456789")
        assert signs in {("  ", "  "), (" ~", " ~"), (" −", ""), ("", " +")}
        if left_line:
            assert (left_line.split()[0], left_text) == (str(i + 1), shown(left[i]))
        if right_line:
            assert (right_line.split()[0], right_text) == (str(j + 1), shown(right[j]))
        if left_line and right_line:
            assert (left[i] == right[j]) == (signs == ("  ", "  "))
        else:
            assert "" in (left_text, right_text)
        i, j = i + bool(left_line), j + bool(right_line)
    assert (i, j) == (len(left), len(right))


@pytest.mark.parametrize("code", ["", "a", "a\n", "x\n" * 5000, *HOSTILE])
def test_equal_codes_give_one_sentence(code: str) -> None:
    assert diff_html(code, code, left_title="<b>", right_title="<b>") == f'<p class="code-diff-same">{SAME}</p>'


def test_nothing_beside_something() -> None:
    assert page_of("", "a\nb").rows == [["", "", "1 +", "a"], ["", "", "2 +", "b"]]
    assert page_of("a\nb", "").rows == [["1 −", "a", "", ""], ["2 −", "b", "", ""]]


def test_a_changed_line_marks_the_characters_that_differ() -> None:
    page = page_of("def f(x):\n    return x + 1", "def f(x):\n    return x - 1")
    assert page.rows == [["1  ", "def f(x):", "1  ", "def f(x):"], ["2 ~", "    return x + 1", "2 ~", "    return x - 1"]]
    assert page.marked == [("del", "+"), ("ins", "-")]


def test_an_insertion_and_a_deletion_keep_the_other_lines_side_by_side() -> None:
    assert page_of("a\nb", "a\nnew\nb").rows == [["1  ", "a", "1  ", "a"], ["", "", "2 +", "new"], ["2  ", "b", "3  ", "b"]]
    assert page_of("a\nold\nb", "a\nb").rows == [["1  ", "a", "1  ", "a"], ["2 −", "old", "", ""], ["3  ", "b", "2  ", "b"]]


@pytest.mark.parametrize(
    ("left", "right"), [("a", "a\n"), ("a\r\n", "a\n"), ("\tx", "    x"), ("", "\n"), ("x\u202a", "x\u202b")]
)
def test_codes_that_look_the_same_still_show_their_difference(left: str, right: str) -> None:
    assert any(row[0][-1:] in "−~" or row[2][-1:] in "+~" for row in page_of(left, right).rows)


def test_long_equal_stretches_are_folded_between_three_lines_of_context() -> None:
    same = [f"line {number}" for number in range(18)]
    rows = page_of("\n".join(["a", *same, "c"]), "\n".join(["b", *same, "d"])).rows
    assert [row[0] for row in rows] == ["1 ~", "2  ", "3  ", "4  ", "… 12 equal lines …", "17  ", "18  ", "19  ", "20 ~"]
    rows = page_of("\n".join([*same, "a", *same]), "\n".join([*same, *same])).rows
    assert [row[0] for row in rows] == [
        *("… 15 equal lines …", "16  ", "17  ", "18  ", "19 −", "20  ", "21  ", "22  ", "… 15 equal lines …"),
    ]


def test_a_short_equal_stretch_is_not_folded() -> None:
    same = ["same"] * (3 * CONTEXT)
    assert len(page_of("\n".join(["a", *same, "c"]), "\n".join(["b", *same, "d"])).rows) == 2 + len(same)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_text_becomes_markup(text: str) -> None:
    for left, right in ((text, ""), ("", text), (text, text + "!"), (f"x\n{text}", f"y\n{text}"), (text * 50, text * 60)):
        assert_tells_both(page_of(left, right), lines_of(left), lines_of(right))
    page = Page(diff_html("a", "b", left_title=text, right_title=text))
    assert page.heads == ["Line", shown(text), "Line", shown(text)]
    assert set(page.tags) <= TAGS
    assert page.attributes <= ATTRIBUTES


@given(CODES, CODES)
@example("a", "a\n")
@example("\n", "")
@example("a\n" * 30 + "b", "a\n" * 30)
def test_the_table_tells_both_codes(left: str, right: str) -> None:
    if left == right:
        assert SAME in diff_html(left, right, left_title="", right_title="")
        return
    assert_tells_both(page_of(left, right), lines_of(left), lines_of(right))


@given(st.text(max_size=600), st.text(max_size=600), st.text(), st.text())
def test_any_text_is_shown_without_complaint(left: str, right: str, left_title: str, right_title: str) -> None:
    if left != right:
        page = Page(diff_html(left, right, left_title=left_title, right_title=right_title))
        assert page.heads == ["Line", shown(left_title), "Line", shown(right_title)]
        assert len(page_of(left, right).rows) <= len(lines_of(left)) + len(lines_of(right))


@given(st.text(alphabet="ab<&\t ", max_size=30), st.text(alphabet="ab<&\t ", max_size=30))
def test_marks_leave_the_same_characters_outside_them(old: str, new: str) -> None:
    if old and new and old != new:
        markup = diff_html(old, new, left_title="", right_title="")
        left, right = re.findall(r'<td class="code changed">(.*?)</td>', markup)
        assert re.sub("<del>.*?</del>", "", left) == re.sub("<ins>.*?</ins>", "", right)


@pytest.mark.timeout(20)
def test_only_the_first_lines_of_very_long_codes_are_compared() -> None:
    left = [f"line {number}" for number in range(MAX_LINES + 50)]
    right = ["other", *left]
    page = page_of("\n".join(left), "\n".join(right))
    note = page.rows.pop(0)
    assert note == ["Only the first 3,000 lines of each code are compared: the left one has 3,050, the right one 3,051."]
    assert_tells_both(page, left[:MAX_LINES], right[:MAX_LINES])
    assert page_of("\n".join(left), "\n".join([*left, "end"])).rows[1:] == [["… 3,000 equal lines …"]]
    assert len(page_of("\n".join(left[:MAX_LINES]), "").rows) == MAX_LINES


@pytest.mark.timeout(20)
def test_lines_that_repeat_do_not_hold_the_page_up() -> None:
    # difflib takes minutes for these.
    left, right = [""] * MAX_LINES, ["", "x"] * (MAX_LINES // 2)
    assert_tells_both(page_of("\n".join(left), "\n".join(right)), left, right)


@pytest.mark.timeout(20)
def test_one_enormous_line_ends() -> None:
    left, right = "ab<" * 66_667, "ba<" * 66_667
    page = page_of(left, right)
    assert page.rows == [["1 ~", left, "1 ~", right]]
    assert page.marked == []
    assert page_of(left, "").rows == [["1 −", left, "", ""]]


@pytest.mark.parametrize("page", [(255, 255, 255), (14, 17, 23)], ids=["light", "dark"])
def test_every_background_leaves_enough_contrast(page: tuple[int, int, int]) -> None:
    text = (49, 51, 63) if page[0] > 128 else (250, 250, 250)
    style = diff_html("a", "b", left_title="", right_title="")
    found = re.findall(r"(td\.\w+|del|ins) {[^}]*background: rgba\((\d+), (\d+), (\d+), ([\d.]+)\)", style)
    assert len(found) == 7
    colours = {name: ((int(red), int(green), int(blue)), float(alpha)) for name, red, green, blue, alpha in found}
    cells = [over(page, *colour) for name, colour in colours.items() if name.startswith("td")]
    marks = [over(cell, *colours[name]) for cell in cells for name in ("del", "ins")]
    for background in (*cells, *marks):
        darker, lighter = sorted((luminance(background), luminance(text)))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def over(below: tuple[float, ...], colour: tuple[int, ...], alpha: float) -> tuple[float, ...]:
    return tuple(alpha * top + (1 - alpha) * bottom for top, bottom in zip(colour, below, strict=True))


def luminance(colour: tuple[float, ...]) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
