#!/usr/bin/env python3
"""How soon iotax reaches a verdict.

  times.py PLACE RUNS [ROW...]

PLACE is a directory on a disk with room for 5 GB, RUNS how often each is run. ROWs are names of those
below; without any, all. `--busy` as the first argument runs them beside two busy loops, `--neighbour`
beside an fio that loads another file of the same disk. Prints a row of a table for each, as it is done.
The peel of LUKS and the search engine need root.
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
NEIGHBOUR = ["fio", "--name=n", "--filename=neighbour.img", "--size=1G", "--rw=randrw", "--bs=64k",
             "--direct=1", "--numjobs=2", "--thinktime=200ms", "--thinktime_blocks=100", "--time_based",
             "--runtime=1d"]
TWICE = "file(size={}) + qemu-luks + qemu-luks + ext4"
ROWS = {
    "planted": ("23 % apart", [*READS, "a=" + MEM.format(200), "b=" + MEM.format(260)]),
    "equal": ("equal", [*READS, "a=" + MEM.format(200), "b=" + MEM.format(200)]),
    "disk": ("disk, each read takes 8 us longer", [*READS, "a=" + DISK.format(1), "b=" + DISK.format(9)]),
    "disk-quick": ("disk, each read takes 8 us longer, `--quick`",
                   [*READS, "--quick", "a=" + DISK.format(1), "b=" + DISK.format(9)]),
    "tenth": ("disk, each read takes 10 % longer, `--quick`", [*READS, "--quick", "a=" + DISK.format(1), "b="]),
    "peel": ("default peel", ["peel"]),
    "luks": ("peel of double LUKS", ["peel", "--quick", TWICE.format("1G")]),
    "search": ("search engine at scale 0.02",
               ["compare", "--quick", "-w", "driver-searcher", "--scale", "0.02",
                "plain=file(size=1600M)+ext4", "double=" + TWICE.format("1600M")]),
}


def run(command):
    begun = time.monotonic()
    return told("iotax", command), time.monotonic() - begun


def a_tenth_slower():
    """The arm whose reads take a ninth longer than those of the disk do now."""
    alone = told("iotax", ["run", "randread-4k", DISK.format(1), "--time", "5s", "--ramp", "1s"])
    return DISK.format(round(1 + alone["jobs"][0]["read"]["clat_ns"]["mean"] / 9e3))


def row(name, runs):
    title, command = ROWS[name]
    if name == "tenth":
        command = [*command[:-1], command[-1] + a_tenth_slower()]
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


def beside(what):
    """The programs that run meanwhile."""
    if what == "--busy":
        return [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    if what == "--neighbour":
        neighbour = subprocess.Popen(NEIGHBOUR, stdout=subprocess.DEVNULL)
        while not os.path.exists("neighbour.img") or os.stat("neighbour.img").st_blocks < 2 << 20:
            time.sleep(1)
        return [neighbour]
    return []


def main():
    args = sys.argv[1:]
    meanwhile = args[0] if args[:1] in (["--busy"], ["--neighbour"]) else None
    args = args[meanwhile is not None:]
    if len(args) < 2 or not set(args[2:]) <= set(ROWS):
        sys.exit(__doc__)
    os.chdir(args[0])
    random_file("times.img")
    others = beside(meanwhile)
    try:
        print("| arms | runs | verdict | time to verdict, s | total time, s | blocks |")
        print("|---|---|---|---|---|---|", flush=True)
        for name in args[2:] or ROWS:
            row(name, int(args[1]))
    finally:
        for other in others:
            other.terminate()


main()
