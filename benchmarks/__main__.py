"""``python -m benchmarks`` runs every benchmark; ``python -m benchmarks scoring`` runs one."""

from __future__ import annotations

import sys

from benchmarks import behaviour, builtin, extraction, pages, sampling, scoring, server, statistics

BENCHMARKS = {
    "scoring": scoring.main,
    "extraction": extraction.main,
    "sampling": sampling.main,
    "builtin": builtin.main,
    "behaviour": behaviour.main,
    "statistics": statistics.main,
    "pages": pages.main,
    "server": server.main,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    for name in names or BENCHMARKS:
        BENCHMARKS[name]()
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
