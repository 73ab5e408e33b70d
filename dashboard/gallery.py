"""Ready prompts to start from, in several languages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadyPrompt:
    """A prompt with a name and the language of its answer."""

    name: str
    language: str
    prompt: str


GALLERY = (
    ReadyPrompt(
        "Palindrome (Python)",
        "python",
        "Write a Python function is_palindrome(text) that returns True if the text reads the same forwards and backwards, "
        "ignoring case, spaces and punctuation.",
    ),
    ReadyPrompt(
        "Interval merge (Python)",
        "python",
        "Write a Python function merge(intervals) that takes a list of (start, end) tuples and returns the merged intervals, "
        "sorted by start. Touching intervals are merged.",
    ),
    ReadyPrompt(
        "Debounce (JavaScript)",
        "javascript",
        "Write a JavaScript function debounce(fn, ms) that returns a function which calls fn once, ms milliseconds after "
        "its last call.",
    ),
    ReadyPrompt(
        "LRU cache (TypeScript)",
        "typescript",
        "Write a TypeScript class LRUCache<K, V> with a capacity, get(key) and set(key, value), each in constant time.",
    ),
    ReadyPrompt(
        "Word count (Go)",
        "go",
        "Write a Go function WordCount(text string) map[string]int that counts words, ignoring case and punctuation.",
    ),
    ReadyPrompt(
        "Binary search (Rust)",
        "rust",
        "Write a Rust function binary_search(items: &[i64], target: i64) -> Option<usize> for a sorted slice.",
    ),
    ReadyPrompt(
        "Top customers (SQL)",
        "sql",
        "Given tables customers(id, name) and orders(id, customer_id, total, created_at), write one SQL query for the ten "
        "customers with the highest total of orders in 2025, with that total.",
    ),
)
