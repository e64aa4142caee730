#!/usr/bin/env python3
"""How soon iotax reaches a verdict.

  times.py PLACE RUNS [ROW...]

PLACE is a directory on a disk with room for 4 GB, RUNS how often each is run. ROWs are names of those
below; without any, all. `--busy` as the first argument runs them beside two busy loops. Prints a row of
a table for each, as it is done. The peel of LUKS and the search engine need root.
"""
import os
import statistics
import subprocess
import sys
import time

from measured import random_file, told

MEM = "mem(size=64M) + delay(latency={}us)"
DISK = "file(path=times.img,size=1G) + delay(latency={}us)"
READS = ["compare", "-w", "randread-4k"]
TWICE = "file(size={}) + luks + luks + ext4"
ROWS = {
    "planted": ("23 % apart", [*READS, "a=" + MEM.format(200), "b=" + MEM.format(260)]),
    "equal": ("equal", [*READS, "a=" + MEM.format(200), "b=" + MEM.format(200)]),
    "disk": ("disk, 8 us more", [*READS, "a=" + DISK.format(1), "b=" + DISK.format(9)]),
    "disk-quick": ("the same with `--quick`",
                   [*READS, "--quick", "a=" + DISK.format(1), "b=" + DISK.format(9)]),
    "peel": ("default peel", ["peel"]),
    "luks": ("LUKS twice, peel", ["peel", "--quick", TWICE.format("1G")]),
    "search": ("search engine at 0.02",
               ["compare", "--quick", "-w", "driver-searcher", "--scale", "0.02",
                "plain=file(size=1600M)+ext4", "double=" + TWICE.format("1600M")]),
}


def run(command):
    begun = time.monotonic()
    return told("iotax", command), time.monotonic() - begun


def row(name, runs):
    title, command = ROWS[name]
    all_runs = [run(command) for _ in range(runs)]
    words = {}
    for one, _ in all_runs:
        word = [c["verdict"] for c in one["comparisons"] if c["metric"] == "throughput"]
        in_most = [c["verdict"] for c in one["comparisons"] if c["metric"] == "trimmed_throughput"]
        key = ", ".join(word) + (" (most slices: " + ", ".join(in_most) + ")" if in_most else "")
        words[key] = words.get(key, 0) + 1
    verdicts = "; ".join(f"{word} {count} of {runs}" for word, count in words.items())
    to_verdict = [one["ending"]["wall_ns"] / 1e9 for one, _ in all_runs]
    spread = lambda values, digits: (f"{statistics.median(values):.{digits}f} "
                                     f"({min(values):.{digits}f} to {max(values):.{digits}f})")
    cells = [title, str(runs), verdicts, spread(to_verdict, 1), spread([took for _, took in all_runs], 1),
             spread([one["ending"]["blocks"] for one, _ in all_runs], 0)]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    args = sys.argv[1:]
    is_busy = args[:1] == ["--busy"]
    args = args[is_busy:]
    if len(args) < 2 or not set(args[2:]) <= set(ROWS):
        sys.exit(__doc__)
    os.chdir(args[0])
    random_file("times.img")
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * is_busy)]
    try:
        print("| arms | runs | verdict | to the verdict, s | in all, s | blocks |")
        print("|---|---|---|---|---|---|", flush=True)
        for name in args[2:] or ROWS:
            row(name, int(args[1]))
    finally:
        for loop in loops:
            loop.kill()


main()
