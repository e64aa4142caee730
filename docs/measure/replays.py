#!/usr/bin/env python3
"""How well the replay of a recording predicts what another disk does to the program.

  replays.py PLACE RUNS PROGRAM...      PROGRAM: sqlite-delete, sqlite-wal, pgbench; as root

Each program runs on simulated disks with ext4, which differ in latency: a real run on each disk in
turn, RUNS times. One run on the first disk and one on the last are recorded, and both recordings are
replayed on all disks by `iotax compare`. Prints the rate of each disk relative to the disk of the
recording: as measured, and as the replay says. PLACE is an empty directory.
"""
import os
import pwd
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

from measured import told

DISKS = {"250us": "delay(latency=250us)", "1ms": "delay(latency=1ms)", "4ms": "delay(latency=4ms)"}
COMMITS = 300
SECONDS = 8
PORT = "5499"


def sh(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


class Disk:
    def __init__(self, name, layer):
        self.name, self.mount = name, f"m-{name}"
        os.makedirs(self.mount, exist_ok=True)
        os.makedirs(name, exist_ok=True)
        sh("iotax", "disk", "up", f"{name}=mem(size=2G) + {layer}")
        self.loop = sh("losetup", "-f", "--show", "--direct-io=on", f"{name}/disk").strip()
        sh("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.loop)
        sh("mount", self.loop, self.mount)
        os.chmod(self.mount, 0o711)

    def down(self):
        sh("umount", self.mount)
        sh("losetup", "-d", self.loop)
        sh("iotax", "disk", "down", self.name)


def commits(path, journal):
    """Commits to a fresh SQLite database."""
    if os.path.exists(path):
        os.remove(path)
    base = sqlite3.connect(path, isolation_level=None)
    base.execute(f"pragma journal_mode={journal}")
    base.execute("pragma synchronous=full")
    base.execute("create table t(k integer primary key, v blob)")
    for number in range(COMMITS):
        base.execute("begin")
        base.execute("insert or replace into t values(?,?)", (number * 7919 % 20000, os.urandom(300)))
        base.execute("commit")


class Sqlite:
    def __init__(self, journal):
        self.journal = journal

    def prepare(self, _disk):
        pass

    def run(self, disk, record=None):
        command = [sys.executable, os.path.abspath(__file__), "commits", f"{disk.mount}/s.db", self.journal]
        if record:
            sh("iotax", "capture", "-q", "--max-overhead", "100%", "-o", record, "--", *command)
            return None
        # The recording contains the start of the program, too.
        began = time.monotonic()
        sh(*command)
        return COMMITS / (time.monotonic() - began)

    def clean(self, disk):
        for name in os.listdir(disk.mount):
            if name.startswith("s.db"):
                os.remove(f"{disk.mount}/{name}")


class Pgbench:
    binaries = next((f"/usr/lib/postgresql/{version}/bin" for version in
                     sorted(os.listdir("/usr/lib/postgresql"), reverse=True)), "") \
        if os.path.isdir("/usr/lib/postgresql") else ""

    def tool(self, name, *arguments):
        user = pwd.getpwnam("postgres")
        return sh(f"{self.binaries}/{name}", *arguments, user=user.pw_uid, group=user.pw_gid,
                  extra_groups=[], cwd="/", stderr=subprocess.DEVNULL)

    def server(self, disk, *action):
        place = os.path.abspath(disk.mount)
        options = f"-k {place} -p {PORT} -c listen_addresses= -c shared_buffers=64MB"
        self.tool("pg_ctl", "-D", f"{place}/pg", "-o", options, "-l", f"{place}/log", "-w", *action)

    def prepare(self, disk):
        place = os.path.abspath(disk.mount)
        user = pwd.getpwnam("postgres")
        os.makedirs(f"{place}/pg")
        os.chown(place, user.pw_uid, user.pw_gid)
        os.chown(f"{place}/pg", user.pw_uid, user.pw_gid)
        self.tool("initdb", "-D", f"{place}/pg", "-A", "trust", "-N")
        self.server(disk, "start")
        self.tool("createdb", "-h", place, "-p", PORT, "bench")
        self.tool("pgbench", "-h", place, "-p", PORT, "-i", "-q", "-s", "8", "bench")
        self.server(disk, "stop")

    def run(self, disk, record=None):
        place = os.path.abspath(disk.mount)
        self.server(disk, "start")
        pid = open(f"{place}/pg/postmaster.pid").readline().strip()
        recorder = record and subprocess.Popen(
            ["iotax", "capture", "-q", "--max-overhead", "100%", "--pid", pid, "--for", f"{SECONDS - 2}s",
             "-o", record], stdout=subprocess.DEVNULL)
        said = self.tool("pgbench", "-h", place, "-p", PORT, "-n", "-c", "8", "-T", str(SECONDS), "bench")
        if recorder:
            recorder.wait()
        self.server(disk, "stop")
        return next(float(line.split()[2]) for line in said.splitlines() if line.startswith("tps"))

    def clean(self, disk):
        shutil.rmtree(f"{disk.mount}/pg", ignore_errors=True)


PROGRAMS = {"sqlite-delete": lambda: Sqlite("delete"), "sqlite-wal": lambda: Sqlite("wal"),
            "pgbench": Pgbench}


def replayed(recording, base, disks):
    """By disk: the rate relative to that of `base`, and its interval."""
    others = [disk for disk in disks if disk is not base]
    arms = [f"d{disk.name}={disk.mount}" for disk in [base, *others]]
    result = told("iotax", ["compare", "-w", recording, "--max-blocks", "6", *arms])
    found = {}
    for one in result["comparisons"]:
        if one["metric"] == "throughput" and one.get("subject") == "arm":
            found[one["arm"][1:]] = [1 - one[key] for key in ("tax", "hi", "lo")]
    return found


def measure(name, disks, runs):
    program = PROGRAMS[name]()
    for disk in disks:
        program.prepare(disk)
    rates = {disk.name: [] for disk in disks}
    for _ in range(runs):
        for disk in disks:
            rates[disk.name].append(program.run(disk))
    recordings = {}
    for disk in [disks[0], disks[-1]]:
        recordings[disk.name] = f"{name}-{disk.name}.iotx"
        program.run(disk, record=recordings[disk.name])
    for disk in disks:
        program.clean(disk)
    for base in [disks[0], disks[-1]]:
        predicted = replayed(recordings[base.name], base, disks)
        for disk in disks:
            if disk is base:
                continue
            real = statistics.median(rates[disk.name]) / statistics.median(rates[base.name])
            factor, low, high = predicted[disk.name]
            print(f"| {name} | {base.name} to {disk.name} | {real:.3f} | {factor:.3f} [{low:.3f}, {high:.3f}] "
                  f"| {100 * (factor / real - 1):+.0f} % |", flush=True)


def main():
    if sys.argv[1:2] == ["commits"]:
        commits(*sys.argv[2:])
        return
    if len(sys.argv) < 4 or any(name not in PROGRAMS for name in sys.argv[3:]):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    print("| program | disk | real | replay | error |\n|---|---|---|---|---|")
    for name in sys.argv[3:]:
        disks = []
        try:
            disks.extend(Disk(*one) for one in DISKS.items())
            measure(name, disks, int(sys.argv[2]))
        finally:
            for disk in disks:
                disk.down()


main()
