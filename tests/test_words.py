"""Texts from outside on a page, and what a page says of an error."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

import app
from dashboard.runs import series_names
from dashboard.words import say_error, swatches


def _page_with_a_fault() -> None:
    from dashboard.words import say_error

    say_error(KeyError("<b>inner</b> workings"))


def _page_with_a_users_error() -> None:
    from dashboard.words import say_error
    from evaluator_core.errors import ResultNotFound

    say_error(ResultNotFound("there is no result <b>x</b>"))


def test_the_server_says_every_error_that_nothing_caught() -> None:
    assert app.app._on_script_error is say_error


def test_a_fault_of_the_program_is_said_without_its_inner_workings() -> None:
    (shown,) = AppTest.from_function(_page_with_a_fault).run().get("html")
    assert "KeyError" in shown.proto.body
    assert "log has the details" in shown.proto.body
    assert "inner" not in shown.proto.body


def test_an_error_for_the_user_is_said_as_it_is_and_never_as_markup() -> None:
    (shown,) = AppTest.from_function(_page_with_a_users_error).run().get("html")
    assert "there is no result &lt;b&gt;x&lt;/b&gt;" in shown.proto.body


def test_a_key_to_colours_shows_any_name_as_text() -> None:
    assert "<i>" not in swatches({"<i>\u202e": "#123456"})
    assert "#123456" in swatches({"<i>\u202e": "#123456"})


def test_prompts_that_begin_alike_are_lines_of_their_own() -> None:
    begin = "Write a Python function that takes a list of numbers and a second list of numbers, and "
    asked = [("m", f"{begin}adds them."), ("m", f"{begin}subtracts them."), ("m", f"{begin}adds them."), ("n", "short\n one")]
    first, second, again, short = series_names(asked)
    assert first == again != second == f"{first} (2)"
    assert first.endswith("…")
    assert short == "n · short one"
