"""One small program in each language that has a grammar: a loop, a condition, a text, a number, a truth value.

Those of the languages with braces are in ``programs_c_family`` and ``programs_with_braces``.
"""

from __future__ import annotations

from tests.programs_c_family import C_FAMILY
from tests.programs_with_braces import BRACES
from tests.rewriting import LITERALS, Program

PROGRAMS = (
    *C_FAMILY,
    *BRACES,
    Program(
        "python",
        """\
def describe(values, limit):
    total = 0
    found = False
    for value in values:
        if value < limit and value > 10:
            total += value * 2
            found = True
    if found:
        return "big " + str(total)
    return "none"
""",
        """\
def describe(
  values,
  limit,
):

  total = 0; found = False
  for value in values:

    if (value < limit
        and value > 10):
      total += value * 2
      found = True
  if found: return 'big ' \\
    + str(total)

  return '''none'''
""",
        line_comment="#",
        block_comment="",
        literals={**LITERALS, "True": "False", "False": "True"},
        both=" and ",
        either=" or ",
    ),
    Program(
        "ruby",
        """\
def describe(values, limit)
  total = 0
  found = false
  for value in values
    if value < limit && value > 10
      total += value * 2
      found = true
    end
  end
  if found
    return "big " + total.to_s
  end
  return "none"
end""",
        """\
def describe(values,
             limit)
    total = 0; found = false

    for value in values do
        if value < limit &&
            value > 10 then total += value * 2; found = true end
    end
    if found then return 'big ' + total.to_s end
    return "none" end""",
        line_comment="#",
        block_comment="",
    ),
    Program(
        "sql",
        """\
SELECT
    customers.name,
    COUNT(orders.id) AS amount,
    'yearly' AS period
FROM customers
JOIN orders ON orders.customer = customers.id
WHERE
    orders.price < 100
    AND customers.country = 'France'
    AND orders.paid = TRUE
GROUP BY customers.name
ORDER BY amount DESC
LIMIT 20;""",
        """\
select customers.name, count(orders.id) as amount,
    'yearly' as period
from customers join orders
    on orders.customer = customers.id

where orders.price < 100 and customers.country = 'France' and orders.paid = true
group by customers.name order by amount desc limit 20
;""",
        line_comment="--",
        names={
            "customers": "people",
            "orders": "b",
            "name": "full_name",
            "id": "number_1",
            "amount": "n",
            "period": "p",
            "customer": "buyer",
            "price": "cost",
            "country": "land",
            "paid": "is_done",
        },
        literals={"100": "7", "'France'": "'it''s'", "'yearly'": "''", "TRUE": "FALSE", "20": "1"},
        both=" AND ",
        either=" OR ",
    ),
    Program(
        "bash",
        """\
describe() {
  local limit=$1
  local total=0
  shift
  for value in "$@"; do
    if (( value < limit && value > 10 )); then
      total=$(( total + value * 2 ))
    fi
  done
  if [ "$total" -gt 0 ]; then
    echo "big " "$total"
    return 0
  fi
  echo "none"
}""",
        """\
describe()
{
    local limit=$1; local total=0
    shift

    for value in "$@"
    do
        if ((value < limit && value > 10))
        then total=$((total + value * 2)); fi
    done
    if [ "$total" -gt 0 ]
    then
        echo "big " \\
            "$total"; return 0
    fi
    echo 'none'; }""",
        line_comment="#",
        block_comment="",
    ),
)
