"""The programs of ``programs`` in the languages whose blocks and statements are written as in C."""

from __future__ import annotations

from tests.rewriting import NAMES, Program

C_FAMILY = (
    Program(
        "javascript",
        """\
function describe(values, limit) {
  let total = 0;
  let found = false;
  for (const value of values) {
    if (value < limit && value > 10) {
      total += value * 2;
      found = true;
    }
  }
  if (found) {
    return "big " + total;
  }
  return "none";
}""",
        """\
function describe(values, limit)
{
    let total = 0
    let found = false

    for (const value of values) { if (value < limit
        && value > 10) { total += value * 2; found = true } }
    if (found) { return "big " + total }
    return 'none'
}""",
    ),
    Program(
        "typescript",
        """\
function describe(values: number[], limit: number): string {
  let total: number = 0;
  let found = false;
  for (const value of values) {
    if (value < limit && value > 10) {
      total += value * 2;
      found = true;
    }
  }
  if (found) {
    return "big " + total;
  }
  return "none";
}""",
        """\
function describe(
    values: number[],
    limit: number,
): string {
    let total: number = 0
    let found = false; for (const value of values) {

        if (value < limit && value > 10) { total += value * 2
            found = true }
    }
    if (found) { return 'big ' + total }
    return "none" }""",
    ),
    Program(
        "java",
        """\
class Report {
    static String describe(int[] values, int limit) {
        int total = 0;
        boolean found = false;
        for (int value : values) {
            if (value < limit && value > 10) {
                total += value * 2;
                found = true;
            }
        }
        if (found) {
            return "big " + total;
        }
        return "none";
    }
}""",
        """\
class Report
{
  static String describe(int[] values,
                         int limit)
  {
    int total = 0; boolean found = false;

    for (int value : values) { if (value < limit
        && value > 10) { total += value * 2; found = true; } }
    if (found) { return "big " + total; } return "none"; } }""",
    ),
    Program(
        "c",
        """\
const char *describe(const int *values, int size, int limit) {
    int total = 0;
    bool found = false;
    for (int i = 0; i != size; i++) {
        if (values[i] < limit && values[i] > 10) {
            total += values[i] * 2;
            found = true;
        }
    }
    if (found) {
        printf("big ", total);
    }
    return "none";
}""",
        """\
const char* describe( const int* values, int size,
                      int limit )
{
  int total = 0; bool found = false;

  for (int i = 0; i != size; i++) { if (values[i] < limit
      && values[i] > 10) { total += values[i] * 2; found = true; } }
  if (found) { printf("big ", total); } return "none"; }""",
        names={**NAMES, "size": "n", "i": "position"},
    ),
    Program(
        "cpp",
        """\
std::string describe(const std::vector<int>& values, int limit) {
    int total = 0;
    bool found = false;
    for (int value : values) {
        if (value < limit && value > 10) {
            total += value * 2;
            found = true;
        }
    }
    if (found) {
        return "big " + std::to_string(total);
    }
    return "none";
}""",
        """\
std::string describe(const std::vector<int> &values,
                     int limit)
{
  int total = 0; bool found = false;

  for (int value : values) { if (value < limit
      && value > 10) { total += value * 2; found = true; } }
  if (found) { return "big " + std::to_string(total); } return "none"; }""",
    ),
    Program(
        "csharp",
        """\
class Report {
    static string Describe(int[] values, int limit) {
        int total = 0;
        bool found = false;
        foreach (int value in values) {
            if (value < limit && value > 10) {
                total += value * 2;
                found = true;
            }
        }
        if (found) {
            return "big " + total;
        }
        return "none";
    }
}""",
        """\
class Report
{
  static string Describe(int[] values,
                         int limit)
  {
    int total = 0; bool found = false;

    foreach (int value in values) { if (value < limit
        && value > 10) { total += value * 2; found = true; } }
    if (found) { return "big " + total; } return "none"; } }""",
        names={**NAMES, "Describe": "SummariseIt"},
    ),
    Program(
        "php",
        """\
<?php
function describe($values, $limit) {
    $total = 0;
    $found = false;
    foreach ($values as $value) {
        if ($value < $limit && $value > 10) {
            $total += $value * 2;
            $found = true;
        }
    }
    if ($found) {
        return "big " . $total;
    }
    return "none";
}""",
        """\
<?php

function describe($values,
                  $limit)
{
  $total = 0; $found = false;

  foreach ($values as $value) { if ($value < $limit
      && $value > 10) { $total += $value * 2; $found = true; } }
  if ($found) { return "big " . $total; } return 'none'; }""",
    ),
)
