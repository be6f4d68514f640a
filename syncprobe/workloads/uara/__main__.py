"""``python -m syncprobe.workloads.uara --replay MANIFEST.json``: is the recorded run what the code does?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from syncprobe.errors import SyncprobeError
from syncprobe.workloads.uara.replay import Golden, differences, replay


def main(words: list[str] | None = None) -> int:
    """Replay a manifest; 0 if all arrays are equal, 1 if not, 2 if it cannot be run."""
    parser = argparse.ArgumentParser(prog="python -m syncprobe.workloads.uara")
    parser.add_argument("--replay", type=Path, required=True, metavar="MANIFEST.json")
    parser.add_argument(
        "--exact",
        action="store_true",
        help="allow nothing to what is learnt, either: for machines that round as the recording's did",
    )
    arguments = parser.parse_args(words)
    try:
        golden = Golden.load(arguments.replay)
        arrays, rows = replay(golden)
    except SyncprobeError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    rounded = differences(golden, arrays)
    wrong = rounded if arguments.exact else differences(golden, arrays, is_exact=False)
    equal, total = len(golden.arrays) - len(rounded), len(golden.arrays)
    besides = []
    if rows != golden.manifest.get("csv_rows_without_time", rows):
        besides.append("the lines of the CSV file differ")
    if not golden.is_as_written:
        besides.append(
            "the arrays are not those that the manifest was written for: their checksum differs"
        )
    sys.stdout.write("".join(f"{line}\n" for line in (*wrong, *besides)))
    within = len(rounded) - len(set(rounded) & set(wrong))
    sys.stdout.write(
        f"{total} arrays compared: {equal} equal bit for bit, {within} within the tolerance of other "
        f"arithmetic, {len(wrong)} wrong\n"
    )
    return 1 if wrong or besides else 0


if __name__ == "__main__":
    sys.exit(main())
