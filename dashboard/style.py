"""How the pages look beyond the theme of ``.streamlit/config.toml``: one sheet of styles and the mark in the header."""

from __future__ import annotations

import streamlit as st

# The browser itself tells the themes apart (``light-dark``): the server hears of the theme only after the first drawing.
# Its colours of code are too pale to read on either background.
# Streamlit writes white on the primary colour, which is light in the dark theme: hence the ink of buttons and tags.
_SHEET = """<style>
.stApp {
  --soft: light-dark(#4a5868, #a9b6c4); --line: light-dark(#d3dbe5, #33414f); --panel: light-dark(#f3f6fa, #18222e);
  --card: light-dark(#ffffff, #131d28); --accent: light-dark(#0b5cad, #6cb2f5);
  --strong: light-dark(#14693f, #5fd39a); --moderate: light-dark(#8a5200, #f0b35a); --low: light-dark(#b3261e, #ff9d94);
}
[data-testid="stMultiSelect"] span[title], [data-testid="stBaseButton-primary"]:enabled { color: light-dark(#ffffff, #04101c); }
[data-testid="stHeader"] { border-bottom: 1px solid var(--line); }
[data-testid="stMainBlockContainer"] { max-width: 1240px; margin: 0 auto; padding-bottom: 4rem; }
[data-testid="stMainBlockContainer"] h1 { letter-spacing: -0.02em; padding-top: 0; }
[data-testid="stHeading"]:has(h3), .stMarkdown h3 { border-top: 1px solid var(--line); margin-top: 0.9rem; padding-top: 0.7rem; }
.stMarkdown h3 { padding-top: 1.4rem; }
.st-key-cards, .st-key-behaviour-cards { align-items: stretch; }
.st-key-cards > *, .st-key-behaviour-cards > * { flex: 1 1 190px !important; min-width: min(190px, 100%); }
[class*="st-key-card-"], [class*="st-key-panel-"] { background: var(--card); box-shadow: 0 1px 2px rgba(4, 16, 28, 0.06); }
[class*="st-key-card-"] { gap: 0.35rem; }
[class*="st-key-card-"] .soft { line-height: 1.4; }
.reading { border: 1px solid var(--line); border-left: 5px solid var(--tone); border-radius: 8px; background: var(--panel);
  padding: 0.9rem 1rem; height: 100%; box-sizing: border-box; }
.reading .name { font-size: 1.5rem; font-weight: 700; line-height: 1.3; color: var(--tone); }
.reading p { margin: 0.25rem 0 0; font-size: 0.9rem; line-height: 1.45; }
.reading .label, .reading .caution, .soft { color: var(--soft); font-size: 0.875rem; }
.interval { font-size: 0.875rem; font-variant-numeric: tabular-nums; cursor: help; }
.interval .range { position: relative; height: 6px; border-radius: 3px; background: var(--line); margin: 0.1rem 0 0.35rem; }
.interval .range i { position: absolute; top: 0; bottom: 0; border-radius: 3px; background: var(--accent); max-width: 100%; }
.drift { border-left: 3px solid var(--line); padding: 0.1rem 0.8rem; overflow-wrap: anywhere; }
.st-key-pair .code-diff { max-height: 34rem; overflow-y: auto; }
.stApp .stCode .token:is(.keyword, .function, .class-name, .tag, .selector) { color: light-dark(#0b5cad, #6cb2f5); }
.stApp .stCode .token:is(.string, .char, .attr-value, .regex) { color: light-dark(#14693f, #5fd39a); }
.stApp .stCode .token:is(.number, .boolean, .constant, .symbol) { color: light-dark(#0e655a, #58c9b9); }
.stApp .stCode .token:is(.operator, .decorator, .annotation, .variable, .important) { color: light-dark(#8f3f00, #f0a35a); }
.stApp .stCode .token:is(.comment, .punctuation, .prolog, .doctype) { color: light-dark(#4f5b6b, #a9b6c4); }
.groups { display: grid; gap: 0.7rem; font-size: 0.95rem; overflow-wrap: anywhere; }
.groups .bar { height: 6px; border-radius: 3px; background: var(--accent); margin-top: 0.3rem; }
.runs { display: grid; gap: 0.5rem; }
.runs a { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; padding: 0.6rem 0.8rem; border: 1px solid var(--line);
  border-radius: 8px; background: var(--card); color: inherit; text-decoration: none; }
.runs a:hover, .runs a:focus-visible { border-color: var(--accent); }
.runs .what { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.runs .numbers { font-variant-numeric: tabular-nums; font-weight: 600; text-align: right; }
.swatches { display: flex; flex-wrap: wrap; gap: 0.3rem 1.1rem; font-size: 0.85rem; }
.swatches > div { display: flex; align-items: center; gap: 0.45rem; max-width: 100%; }
.swatches i { flex: none; width: 0.8rem; height: 0.8rem; border-radius: 50%; }
.swatches span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.settings { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
.settings th, .settings td { border: 0; border-bottom: 1px solid var(--line); padding: 0.45rem 0.7rem; text-align: start;
  vertical-align: top; overflow-wrap: anywhere; }
.settings th[scope="row"] { width: 8.5rem; overflow-wrap: normal; }
.settings td > div { max-height: 7.5em; overflow-y: auto; white-space: pre-wrap; }
.settings tr.differs > * { background: rgba(226, 163, 54, 0.18); }
.scrolls { overflow-x: auto; }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding-left: 1rem; padding-right: 1rem; }
  .runs a { grid-template-columns: 1fr; } .runs .numbers { text-align: start; }
}
</style>"""

_CELLS = ("#fee838", "#8a8678", "#3b496c", "#8a8678", "#fee838", "#707173", "#3b496c", "#707173", "#fee838")


def dress() -> None:
    """The sheet and the mark, on every page."""
    st.html(_SHEET)
    st.logo(_mark(), size="large")


def _mark() -> str:
    """A small heatmap and the name, as SVG; an image in a page follows the page's theme."""
    cells = "".join(
        f'<rect x="{place % 3 * 9}" y="{place // 3 * 9 + 1}" width="8" height="8" rx="1.5" fill="{colour}"/>'
        for place, colour in enumerate(_CELLS)
    )
    style = "text{font:700 15px Inter,system-ui,sans-serif;fill:#04101c}@media(prefers-color-scheme:dark){text{fill:#e8eef5}}"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="150" height="28" viewBox="0 0 150 28">'
        f'<style>{style}</style>{cells}<text x="36" y="19.5">AI Evaluator</text></svg>'
    )
