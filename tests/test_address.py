"""Where an address leads: a pure function, tested without touching any network."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

import pytest

from evaluator_core.address import Reach, form_problem, reach_of, reaches, request_problem


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("8.8.8.8", Reach.PUBLIC),
        ("2606:4700::1111", Reach.PUBLIC),
        ("10.0.0.1", Reach.PRIVATE),
        ("172.31.255.255", Reach.PRIVATE),
        ("192.168.1.1", Reach.PRIVATE),
        ("100.64.0.1", Reach.PRIVATE),
        ("fd12:3456::1", Reach.PRIVATE),
        ("fec0::1", Reach.PRIVATE),
        ("127.0.0.1", Reach.LOOPBACK),
        ("127.255.255.254", Reach.LOOPBACK),
        ("::1", Reach.LOOPBACK),
        ("169.254.169.254", Reach.FORBIDDEN),
        ("169.254.0.1", Reach.FORBIDDEN),
        ("fd00:ec2::254", Reach.FORBIDDEN),
        ("100.100.100.200", Reach.FORBIDDEN),
        ("fd20:ce::254", Reach.FORBIDDEN),
        ("168.63.129.16", Reach.FORBIDDEN),
        ("192.0.0.192", Reach.FORBIDDEN),
        ("0.1.2.3", Reach.FORBIDDEN),
        ("fe80::1", Reach.FORBIDDEN),
        ("0.0.0.0", Reach.FORBIDDEN),
        ("::", Reach.FORBIDDEN),
        ("224.0.0.1", Reach.FORBIDDEN),
        ("ff02::1", Reach.FORBIDDEN),
        ("240.0.0.1", Reach.FORBIDDEN),
        ("255.255.255.255", Reach.FORBIDDEN),
        # one address within another
        ("::127.0.0.1", Reach.FORBIDDEN),
        ("::ffff:0:127.0.0.1", Reach.FORBIDDEN),
        ("::ffff:127.0.0.1", Reach.LOOPBACK),
        ("::ffff:10.0.0.1", Reach.PRIVATE),
        ("::ffff:169.254.169.254", Reach.FORBIDDEN),
        ("::ffff:8.8.8.8", Reach.PUBLIC),
        ("2002:7f00:1::", Reach.LOOPBACK),
        ("2002:a9fe:a9fe::", Reach.FORBIDDEN),
        ("64:ff9b::a9fe:a9fe", Reach.FORBIDDEN),
        ("64:ff9b::7f00:1", Reach.LOOPBACK),
    ],
)
def test_who_answers_at_an_ip_address(address: str, reach: Reach) -> None:
    assert reach_of(ipaddress.ip_address(address)) is reach


@pytest.mark.parametrize(
    "address",
    [
        "http://2130706433/v1",  # 127.0.0.1 as one decimal number
        "http://0x7f000001/v1",
        "http://0x7f.1/v1",
        "http://0177.0.0.1/v1",
        "http://127.1/v1",
        "http://127.0.0.01/v1",
        "http://2852039166/v1",  # 169.254.169.254
        "http://0251.0376.0251.0376/v1",
        "http://0xA9FEA9FE/v1",
        "http://[::ffff:a9fe:a9fe%25eth0]/v1",
        "http://0/v1",
        "http://127.0.0.1./v1",
        "http://user@example.org/v1",
        "http://example.org@127.0.0.1/v1",
        "http://:@127.0.0.1/v1",
        "http://example.org\\@127.0.0.1/v1",
        "http://127.0.0.1 .example.org/v1",
        "http://exa%6dple.org/v1",
        "http://\u2460\u2461\u2466.0.0.1/v1",  # digits in circles
        "http://example.org/v1?next=http://127.0.0.1",
        "http://example.org/v1#x",
        "http://example.org:99999/v1",
        "http://[::1/v1",
        "ftp://example.org/v1",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "javascript:alert(1)",
        "//example.org/v1",
        "example.org/v1",
        "http:///v1",
        "",
    ],
)
def test_what_is_written_to_mislead_is_refused(address: str) -> None:
    assert form_problem(address)
    assert request_problem(address, exposed=False, resolve=no_lookup)


@pytest.mark.parametrize(
    "address", ["http://localhost:11434/v1", "https://api.example.org/v1", "http://[::1]:8080/v1", "http://192.168.1.7:8000/v1"]
)
def test_ordinary_addresses_pass_on_loopback_and_never_when_exposed(address: str) -> None:
    assert form_problem(address) is None
    assert request_problem(address, exposed=False, resolve=lambda host: ["127.0.0.1"]) is None
    assert request_problem(address, exposed=True, resolve=no_lookup)


def no_lookup(host: str) -> Sequence[str]:
    raise AssertionError(f"{host} was looked up")


@pytest.mark.parametrize("found", ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "0.0.0.0"])
def test_a_name_is_judged_by_all_the_addresses_it_stands_for(found: str) -> None:
    problem = request_problem("http://metadata.example/v1", exposed=False, resolve=lambda host: ["8.8.8.8", found])
    assert problem is not None
    assert "link-local or reserved" in problem


def test_addresses_written_out_are_not_looked_up() -> None:
    assert reaches("http://[::ffff:10.0.0.1]/v1", no_lookup) == {Reach.PRIVATE}
    assert request_problem("http://169.254.169.254/latest/meta-data", exposed=False, resolve=no_lookup)
    assert request_problem("http://[fe80::1]/v1", exposed=False, resolve=no_lookup)


def test_a_name_that_stands_for_nothing_leads_nowhere() -> None:
    def unknown(host: str) -> Sequence[str]:
        raise socket.gaierror("unknown")

    assert reaches("http://nobody.example/v1", unknown) == frozenset()
    # It is for the request itself to say that nothing answers there.
    assert request_problem("http://nobody.example/v1", exposed=False, resolve=unknown) is None
