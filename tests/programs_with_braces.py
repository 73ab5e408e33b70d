"""The programs of ``programs`` in the other languages that close their blocks with braces."""

from __future__ import annotations

from tests.rewriting import NAMES, Program

BRACES = (
    Program(
        "go",
        """\
func describe(values []int, limit int) string {
	total := 0
	found := false
	for _, value := range values {
		if value < limit && value > 10 {
			total += value * 2
			found = true
		}
	}
	if found {
		return "big " + fmt.Sprint(total)
	}
	return "none"
}""",
        """\
func describe(
  values []int,
  limit int,
) string {
  total := 0; found := false

  for _, value := range values { if value < limit &&
      value > 10 { total += value * 2; found = true } }
  if found { return "big " + fmt.Sprint(total) }; return "none"; }""",
    ),
    Program(
        "rust",
        """\
fn describe(values: &[i32], limit: i32) -> String {
    let mut total = 0;
    let mut found = false;
    for value in values {
        if *value < limit && *value > 10 {
            total += value * 2;
            found = true;
        }
    }
    if found {
        return String::from("big ") + &total.to_string();
    }
    String::from("none")
}""",
        """\
fn describe(
  values: &[i32],
  limit: i32,
) -> String
{
  let mut total = 0; let mut found = false;

  for value in values { if *value < limit
      && *value > 10 { total += value * 2; found = true; } }
  if found { return String::from("big ")
      + &total.to_string(); }
  String::from("none") }""",
        names={**NAMES, "limit": "upper_bound"},
    ),
    Program(
        "kotlin",
        """\
fun describe(values: List<Int>, limit: Int): String {
    var total = 0
    var found = false
    for (value in values) {
        if (value < limit && value > 10) {
            total += value * 2
            found = true
        }
    }
    if (found) {
        return "big " + total
    }
    return "none"
}""",
        """\
fun describe(
  values: List<Int>,
  limit: Int,
): String
{
  var total = 0; var found = false

  for (value in values) { if (value < limit &&
      value > 10) { total += value * 2; found = true } }
  if (found) { return "big " + total }
  return "none"; }""",
    ),
    Program(
        "swift",
        """\
func describe(values: [Int], limit: Int) -> String {
    var total = 0
    var found = false
    for value in values {
        if value < limit && value > 10 {
            total += value * 2
            found = true
        }
    }
    if found {
        return "big " + String(total)
    }
    return "none"
}""",
        """\
func describe(
  values: [Int],
  limit: Int
) -> String
{
  var total = 0; var found = false

  for value in values { if value < limit
      && value > 10 { total += value * 2; found = true } }
  if found { return "big " + String(total) }
  return "none"; }""",
    ),
    Program(
        "scala",
        """\
def describe(values: List[Int], limit: Int): String = {
  var total = 0
  var found = false
  for (value <- values) {
    if (value < limit && value > 10) {
      total += value * 2
      found = true
    }
  }
  if (found) {
    return "big " + total
  }
  return "none"
}""",
        """\
def describe(values: List[Int],
             limit: Int): String =
{
    var total = 0; var found = false

    for (value <- values) { if (value < limit &&
        value > 10) { total += value * 2; found = true } }
    if (found) { return "big " + total }
    return "none"; }""",
    ),
)
