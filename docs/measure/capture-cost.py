#!/usr/bin/env python3
"""What recording costs.

  capture-cost.py PLACE PAIRS [PROGRAM...]    PAIRS: 2 to 20; PROGRAM: load, pgbench, etcd, rocksdb-8 [all]; as root

load: `iotax compare` reads 4 KiB from the page cache as fast as it can, and is recorded in every other trial.
The other programs run PAIRS times without and PAIRS times with a recorder, in the order off, on, on, off, on a
simulated disk that adds 250 us. Prints for each the speed with the recorder relative to the one without, and
its 95 % interval (t interval of the logarithms); the overhead that the recorder measures; the number of
events, and of those that were lost; and the bytes per event.
"""
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys

import replays
from measured import told

# 97.5 % quantiles of the t distribution with 1, 2, ... degrees of freedom.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
     2.110, 2.101, 2.093]


class Recorder:
    """Records until the program's load is over."""
    def __init__(self, record, pid):
        command = ["iotax", "capture", "-q", "--max-overhead", "100%", "--pid", pid, "-o", record]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()


class Rocksdb(replays.Rocksdb):
    def run(self, disk, record=None):
        shutil.rmtree(f"{disk.place}/rocks", ignore_errors=True)
        recorder = ["iotax", "capture", "-q", "--max-overhead", "100%", "-o", record, "--"] if record else []
        said = replays.sh(*recorder, "db_bench", "--benchmarks=fillrandom", "--num=1500", "--sync=1",
                          f"--threads={self.threads}", f"--db={disk.place}/rocks", "--value_size=400",
                          "--compression_type=none", stderr=subprocess.DEVNULL)
        return float(re.search(r"micros/op (\d+) ops/sec", said)[1])


def of_program(name, pairs):
    replays.recorder = Recorder
    program = Rocksdb(8) if name == "rocksdb-8" else replays.PROGRAMS[name]()
    disk, logs, ends, bytes_of = replays.Disk("cost", replays.FAST, "ext4"), [], [], []
    try:
        program.prepare(disk)
        for pair in range(pairs):
            rates = {}
            for is_on in ((False, True), (True, False))[pair % 2]:
                rates[is_on] = program.run(disk, "cost.iotx" if is_on else None)
            logs.append(math.log(rates[True] / rates[False]))
            shown = json.loads(replays.sh("iotax", "capture", "show", "--format", "json", "cost.iotx"))
            ends.append(shown["end"])
            bytes_of.append(os.path.getsize("cost.iotx"))
            os.remove("cost.iotx")
    finally:
        disk.down()
    mean, half = statistics.mean(logs), T[pairs - 2] * statistics.stdev(logs) / math.sqrt(pairs)
    ratio = [math.exp(mean + by) for by in (0, -half, half)]
    events, lost = (sum(one[key] for one in ends) for key in ("events", "lost"))
    share = statistics.mean(one["overhead"] for one in ends)
    print(f"| {name} | {ratio[0]:.3f} [{ratio[1]:.3f}, {ratio[2]:.3f}] | {share:.2%} | {events} | {lost} | "
          f"{sum(bytes_of) / events:.1f} |", flush=True)


def of_load(pairs):
    """Each trial reads 64 MiB in memory again and again for 2 s."""
    place = os.path.abspath("load")
    os.makedirs(place, exist_ok=True)
    shutil.rmtree("load-results", ignore_errors=True)
    start = (f"iotax capture -q --max-overhead 100% --pid $PPID --for 1h -o {place}.iotx >/dev/null 2>&1 & "
             f"echo $! >{place}.pid; sleep 1")
    end = (f"kill -INT $(cat {place}.pid); tail --pid=$(cat {place}.pid) -f /dev/null; "
           f"iotax capture show --format json {place}.iotx >>{place}.json; rm {place}.iotx")
    for old in (f"{place}.json", f"{place}.iotx"):
        if os.path.exists(old):
            os.remove(old)
    result = told("iotax", ["compare", "-w", "randread-4k", "--set", "engine=psync", "--set", "size=64M", "--time", "2s",
                            "--max-blocks", str(pairs), "--before", f"on={start}", "--after", f"on={end}",
                            "--out", "load-results", f"off={place}", f"on={place}"])
    one, = (one for one in result["comparisons"] if one["metric"] == "throughput")
    per_io_us = [1e6 / rate for rate in (one["base"], one["with"])]
    ends, decoder, text = [], json.JSONDecoder(), open(f"{place}.json").read()
    while text.strip():
        shown, end = decoder.raw_decode(text.lstrip())
        text = text.lstrip()[end:]
        ends.append(shown["end"])
    events, lost, cpu_ns = (sum(one[key] for one in ends) for key in ("events", "lost", "recorder_cpu_ns"))
    print(f"load: {per_io_us[0]:.2f} us per I/O without, {per_io_us[1]:.2f} us with the recorder (tax {one['tax']:.3f} "
          f"[{one['lo']:.3f}, {one['hi']:.3f}]); {events} events, {lost} lost; the recorder says that it took "
          f"{cpu_ns / events:.0f} ns of CPU time per event", flush=True)


def main():
    programs = ["load", "pgbench", "etcd", "rocksdb-8"]
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(programs) or not 2 <= int(sys.argv[2]) <= 20:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    if os.path.exists("cost.iotx"):
        os.remove("cost.iotx")
    for name in sys.argv[3:] or programs:
        if name == "load":
            of_load(int(sys.argv[2]))
        else:
            of_program(name, int(sys.argv[2]))


main()
