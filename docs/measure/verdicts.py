#!/usr/bin/env python3
"""How often, how well and how soon iotax tells two arms on a real disk apart.

  verdicts.py PLACE COUNT [OLDER_PROGRAM EVERY]

PLACE is a directory on the disk, COUNT how many comparisons there are of equal arms and as many of
arms of which one takes 1 to 60 us longer per read. With OLDER_PROGRAM each EVERY-th is made with
that one, too, in four times the time. PLACE/verdicts.csv keeps what was measured, and the next call goes
on from there. Prints a table; 90 % of the runs took at most the time in brackets.
"""
import csv
import math
import os
import statistics
import sys

from measured import random_file, told

LIMIT_S = {"this": 30, "older": 120}
EXTRA_US = [1, 3, 7, 15, 26, 60]
FIELDS = ["program", "extra_us", "verdict", "in_most", "typical", "any_signed", "tax", "low", "high",
          "planted", "seconds", "pairs"]


def compare(program, limit_s, extra_us, seed):
    disk = "file(path=verdicts.img,size=1G)"
    arms = [f"a={disk} + delay(latency=1us)", f"b={disk} + delay(latency={1 + extra_us}us)"]
    options = ["--quick", "--max-time", f"{limit_s}s", "--seed", str(seed)]
    result = told(program, ["compare", "-w", "randread-4k", *options, *arms])
    of = {one["metric"]: one for one in result["comparisons"] if one.get("subject") == "arm"}
    throughput = of["throughput"]
    word = lambda metric: of.get(metric, {}).get("verdict", "")
    base_us = result["arms"][0]["mean_latency_ns"] / 1e3
    signed = any(one["verdict"] in ("slower", "faster") for one in of.values())
    return {
        "extra_us": extra_us, "verdict": throughput["verdict"], "in_most": word("trimmed_throughput"),
        "typical": word("p50"), "any_signed": int(signed), "tax": throughput["tax"],
        "low": throughput["lo"], "high": throughput["hi"], "planted": extra_us / (base_us + extra_us),
        "seconds": result["ending"]["wall_ns"] / 1e9, "pairs": throughput["blocks"],
    }


def measured(place, count, older, every):
    path = os.path.join(place, "verdicts.csv")
    rows = list(csv.DictReader(open(path))) if os.path.exists(path) else []
    with open(path, "a", newline="") as file:
        out = csv.DictWriter(file, FIELDS)
        if not rows:
            out.writeheader()
        for at in range(sum(row["program"] == "this" for row in rows), 2 * count):
            extra_us = 0 if at % 2 == 0 else EXTRA_US[at // 2 % len(EXTRA_US)]
            programs = [("this", "iotax")]
            if older and at // 2 % every == 0:
                programs.append(("older", older))
            for name, program in programs:
                row = {"program": name, **compare(program, LIMIT_S[name], extra_us, at)}
                out.writerow(row)
                file.flush()
                rows.append({key: "" if value is None else str(value) for key, value in row.items()})
    return rows


def table(rows):
    print("| program | planted | runs | slower | faster | equivalent | undecided "
          "| p50 verdict only | interval contains the true value | false difference | seconds, median (90 %) |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for program in ["this", "older"]:
        for extra_us in [0, *EXTRA_US]:
            some = [row for row in rows
                    if row["program"] == program and int(row["extra_us"]) == extra_us]
            if some:
                print(line(program, extra_us, some))


def line(program, extra_us, rows):
    words = [row["verdict"] if row["verdict"] in ("slower", "faster", "equivalent")
             else row["in_most"] if row["in_most"] in ("slower", "faster", "equivalent") else ""
             for row in rows]
    typical = sum(not word and row["typical"] in ("slower", "faster", "equivalent")
                  for word, row in zip(words, rows))
    with_interval = [row for row in rows if row["low"]]
    held = sum(float(row["low"]) <= float(row["planted"]) <= float(row["high"]) for row in with_interval)
    false = sum(row["any_signed"] == "1" for row in rows) if extra_us == 0 else ""
    seconds = sorted(float(row["seconds"]) for row in rows)
    planted = statistics.median(float(row["planted"]) for row in rows)
    counts = [words.count(word) for word in ("slower", "faster", "equivalent", "")]
    name = "equal" if extra_us == 0 else f"{extra_us} us, {100 * planted:.0f} %"
    cells = [program, name, len(rows), *counts, typical, f"{held} of {len(with_interval)}", false,
             f"{statistics.median(seconds):.1f} ({seconds[math.ceil(0.9 * len(seconds)) - 1]:.1f})"]
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    if len(sys.argv) not in (3, 5):
        sys.exit(__doc__)
    place, count = sys.argv[1], int(sys.argv[2])
    older, every = (os.path.abspath(sys.argv[3]), int(sys.argv[4])) if len(sys.argv) == 5 else (None, 1)
    os.chdir(place)
    random_file("verdicts.img")
    table(measured(".", count, older, every))


main()
