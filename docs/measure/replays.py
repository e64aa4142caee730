#!/usr/bin/env python3
"""How well the replay of a recording predicts what a change of the storage does to a program.

  replays.py [--layers] PLACE RUNS PROGRAM...    PROGRAM: sqlite-delete, sqlite-wal, pgbench, redis, rocksdb,
                                                 rocksdb-8, etcd, git, pool; as root

For each change of CHANGES, each program runs on a simulated disk before and after the change, in turn,
RUNS times on each. It is recorded once on the disk before the change, and `iotax compare` replays that
recording on both disks. Prints the program's rate after the change relative to the rate before: as
measured (median of the runs), as the replay says, and as fio says in four ways (see WAYS); and the rate of
the replay before the change relative to that of the recording (same). PLACE is a directory;
PLACE/replays.csv keeps what was measured, and the next call goes on from there.

With --layers, the changes are those of LAYERS: dm-crypt and NFS on disks in memory. They need a kernel that
has these, such as that of in-guest.sh.
"""
import concurrent.futures
import csv
import functools
import http.client
import json
import os
import pwd
import queue
import selectors
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

from measured import told

FAST, MIDDLE, SLOW = (f"delay(latency={latency})" for latency in ("250us", "1ms", "4ms"))
CAP = f"{FAST} + throttle(iops=1000)"
# By name: layers and file system before and after the change, and whether another program writes there.
CHANGES = {
    "250us to 1ms": [(FAST, "ext4"), (MIDDLE, "ext4")],
    "250us to 4ms": [(FAST, "ext4"), (SLOW, "ext4")],
    "1ms to 250us": [(MIDDLE, "ext4"), (FAST, "ext4")],
    "4ms to 250us": [(SLOW, "ext4"), (FAST, "ext4")],
    "50 to 450us": [(FAST, "ext4"), ("delay(latency=250us, jitter=200us)", "ext4")],
    "cap of 1000 IOPS": [(FAST, "ext4"), (CAP, "ext4")],
    "cap of 200 IOPS": [(FAST, "ext4"), (f"{FAST} + throttle(iops=200)", "ext4")],
    "cap of 4 MiB/s": [(FAST, "ext4"), (f"{FAST} + throttle(bw=4M)", "ext4")],
    "work queue": [(FAST, "ext4"), (f"{FAST} + queue(workers=1)", "ext4")],
    "AES twice": [(FAST, "ext4"), (f"{FAST} + aes + aes", "ext4")],
    "noisy neighbor": [(CAP, "ext4"), (CAP, "ext4", "a neighbor")],
    "ext4 to XFS": [(FAST, "ext4"), (FAST, "xfs")],
    "ext4 to Btrfs": [(FAST, "ext4"), (FAST, "btrfs")],
    "4ms to 1ms": [(SLOW, "ext4"), (MIDDLE, "ext4")],
    "AES": [(FAST, "ext4"), (f"{FAST} + aes", "ext4")],
}
QUEUES = ["--perf-no_read_workqueue", "--perf-no_write_workqueue"]
# By name: what is on a disk in memory before and after the change.
LAYERS = {
    "dm-crypt": [{}, {"crypt": []}],
    "dm-crypt without work queues": [{"crypt": []}, {"crypt": QUEUES}],
    "dm-crypt twice": [{"crypt": []}, {"crypt": [], "above": []}],
    "NFS, sync to async": [{"delay_ms": 20, "export": "sync"}, {"delay_ms": 20, "export": "async"}],
}
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
# What else predicts the effect: fio replays the recording as a log, with the recorded times or without
# waiting; and fio generates similar I/O, as fast as it can or at the recorded rate.
WAYS = ["log", "log_no_stall", "closed", "open"]
FIELDS = ["program", "change", "real", "lowest", "highest", "replay", "low", "high", *WAYS, "same"]
NAMES = {"rocksdb-8": "RocksDB", "pgbench": "PostgreSQL", "sqlite-wal": "SQLite", "pool": "thread pool"}
NEIGHBOR = "of-the-neighbor"
COMMITS = 300
SECONDS = 8


def sh(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


class Disk:
    def __init__(self, name, layers, system, neighbor=None):
        self.name, self.mount, self.loop, self.is_mounted = name, f"m-{name}", None, False
        self.neighbor = None
        os.makedirs(self.mount, exist_ok=True)
        os.makedirs(name, exist_ok=True)
        sh("iotax", "disk", "up", f"{name}=mem(size=2G) + {layers}")
        try:
            self.loop = sh("losetup", "-f", "--show", "--direct-io=on", f"{name}/disk").strip()
            sh(*MAKE[system], self.loop)
            sh("mount", self.loop, self.mount)
            self.is_mounted = True
            if neighbor:
                self.neighbor = subprocess.Popen(
                    ["fio", "--name=neighbor", f"--filename={self.mount}/{NEIGHBOR}", "--size=64M", "--rw=randwrite",
                     "--bs=4k", "--direct=1", "--ioengine=psync", "--numjobs=2", "--rate_iops=300", "--time_based",
                     "--thread", "--runtime=1h"], stdout=subprocess.DEVNULL)
        except BaseException:
            self.down()
            raise
        os.chmod(self.mount, 0o711)
        self.place = os.path.abspath(self.mount)

    def clear(self):
        for left in os.listdir(self.place):
            path = f"{self.place}/{left}"
            if left != NEIGHBOR:
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def down(self):
        if self.neighbor:
            self.neighbor.terminate()
            self.neighbor.wait()
        if self.is_mounted:
            sh("umount", self.mount)
        if self.loop:
            sh("losetup", "-d", self.loop)
        sh("iotax", "disk", "down", self.name)


class Layers:
    """ext4 on layers above a disk in memory, perhaps exported by NFS and mounted over loopback."""
    sides = ("before", "after")

    def __init__(self, name, crypt=None, above=None, delay_ms=0, export=None):
        self.name, self.mount, self.undo = name, f"m-{name}", []
        number = self.sides.index(name)
        if not os.path.exists("/dev/ram0"):
            sh("modprobe", "brd", f"rd_nr={len(self.sides)}", f"rd_size={400 << 10}")
        os.makedirs(self.mount, exist_ok=True)
        device = f"/dev/ram{number}"
        try:
            if delay_ms:
                sectors = sh("blockdev", "--getsz", device).strip()
                self.mapped(f"delay{number}", "dmsetup", "create", f"delay{number}", "--table",
                            f"0 {sectors} delay {device} 0 {delay_ms}")
                device = f"/dev/mapper/delay{number}"
            for layer, options in (("crypt", crypt), ("above", above)):
                if options is not None:
                    mapper = f"{layer}{number}"
                    self.mapped(mapper, "cryptsetup", "open", "--type", "plain", "--cipher", "aes-xts-plain64",
                                "--key-size", "512", "--key-file", "/dev/urandom", *options, device, mapper)
                    device = f"/dev/mapper/{mapper}"
            sh(*MAKE["ext4"], device)
            if export:
                exported = f"{exports()}/{name}"
                self.mounted(device, exported)
                sh("exportfs", "-o", f"rw,{export},no_subtree_check,insecure,no_root_squash,fsid={number + 1}",
                   f"127.0.0.1:{exported}")
                self.undo.append(["exportfs", "-u", f"127.0.0.1:{exported}"])
                self.mounted("127.0.0.1:/" + name, self.mount, "-t", "nfs4")
            else:
                self.mounted(device, self.mount)
        except BaseException:
            self.down()
            raise
        os.chmod(self.mount, 0o711)
        self.place = os.path.abspath(self.mount)

    def mapped(self, mapper, *command):
        sh(*command)
        self.undo.append(["dmsetup", "remove", mapper])

    def mounted(self, device, place, *options):
        os.makedirs(place, exist_ok=True)
        sh("mount", *options, device, place)
        self.undo.append(["umount", place])

    clear = Disk.clear

    def down(self):
        while self.undo:
            sh(*self.undo.pop())


@functools.cache
def exports():
    """The directory that the NFS server exports, once the server runs."""
    root = "/srv/nfs"
    os.makedirs(root, exist_ok=True)
    sh("modprobe", "-a", "sunrpc", "nfsd", "nfs", "nfsv4")
    sh("mount", "-t", "tmpfs", "tmpfs", root)
    sh("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    os.makedirs("/var/lib/nfs/v4recovery", exist_ok=True)
    sh("rpcbind")
    sh("rpc.mountd", "-N", "2")
    sh("rpc.nfsd", "-L", "10", "-G", "10", "8")
    with open("/proc/fs/nfsd/v4_end_grace", "w") as end:
        end.write("Y")
    sh("exportfs", "-o", "ro,fsid=0,no_subtree_check,insecure", f"127.0.0.1:{root}")
    return root


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


def timed(command, record):
    """How long a command takes; of a recorded one nobody knows."""
    if record:
        sh("iotax", "capture", "-q", "--max-overhead", "100%", "-o", record, "--", *command,
           stderr=subprocess.DEVNULL)
        return None
    # The recording contains the start of the program, too.
    began = time.monotonic()
    sh(*command, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


class Sqlite:
    def __init__(self, journal):
        self.journal = journal

    def prepare(self, disk):
        pass

    def run(self, disk, record=None):
        command = [sys.executable, os.path.abspath(__file__), "commits", f"{disk.place}/s.db", self.journal]
        took = timed(command, record)
        return took and COMMITS / took


class Rocksdb:
    """Syncs each of some writes; several threads share a sync."""
    def __init__(self, threads):
        self.threads, self.writes = threads, 1500 // threads

    def prepare(self, disk):
        pass

    def run(self, disk, record=None):
        command = ["db_bench", "--benchmarks=fillrandom", f"--num={self.writes}", "--sync=1",
                   f"--threads={self.threads}", f"--db={disk.place}/rocks", "--value_size=400",
                   "--compression_type=none"]
        took = timed(command, record)
        return took and self.threads * self.writes / took


class Git:
    """Commits one after the other. Git syncs what it adds."""
    commits = 60
    script = """git init -q . && git config user.email a@b && git config user.name a && git config core.fsync all
        for at in $(seq "$0"); do echo $at >file && git add file && git commit -qm $at || exit 1; done"""

    def prepare(self, disk):
        pass

    def run(self, disk, record=None):
        shutil.rmtree(f"{disk.place}/git", ignore_errors=True)
        os.makedirs(f"{disk.place}/git")
        command = ["env", "-C", f"{disk.place}/git", "sh", "-c", self.script, str(self.commits)]
        took = timed(command, record)
        return took and self.commits / took


def recorder(record, pid):
    command = ["iotax", "capture", "-q", "--max-overhead", "100%", "--pid", pid, "--for", f"{SECONDS - 2}s",
               "-o", record]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Redis:
    """Syncs its log after each round of its loop; 8 clients. Only the server is recorded."""
    port = "5498"

    def prepare(self, disk):
        os.makedirs(f"{disk.place}/redis", exist_ok=True)

    def run(self, disk, record=None):
        shutil.rmtree(f"{disk.place}/redis")
        os.makedirs(f"{disk.place}/redis")
        server = subprocess.Popen(["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--dir",
                                   f"{disk.place}/redis", "--appendonly", "yes", "--appendfsync", "always",
                                   "--save", ""], stdout=subprocess.DEVNULL)
        try:
            ask = ["redis-cli", "-p", self.port]
            for _ in range(100):
                if subprocess.run([*ask, "ping"], capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            client = subprocess.Popen(["redis-benchmark", "-p", self.port, "-t", "set", "-c", "8", "-d", "200",
                                       "-r", "100000", "-n", "100000000", "-q"], stdout=subprocess.DEVNULL)
            try:
                recording = record and recorder(record, str(server.pid))
                count = lambda: int(next(line for line in sh(*ask, "info", "commandstats").splitlines()
                                         if line.startswith("cmdstat_set:")).split("calls=")[1].split(",")[0])
                time.sleep(1)
                began, before = time.monotonic(), count()
                time.sleep(SECONDS - 3)
                rate = (count() - before) / (time.monotonic() - began)
                if recording:
                    recording.wait()
            finally:
                client.kill()
                client.wait()
        finally:
            server.terminate()
            server.wait()
        return rate


def sum_of_clients(client, clients):
    """Runs each client in a thread, and adds up what they return."""
    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(client, range(clients)))


def puts(port, clients, seconds):
    """Prints how many keys per second so many clients put into etcd."""
    end = time.monotonic() + float(seconds)

    def client(number):
        connection, done = http.client.HTTPConnection("127.0.0.1", int(port)), 0
        while time.monotonic() < end:
            body = json.dumps({"key": f"{number:04}", "value": "v" * 256})
            connection.request("POST", "/v3/kv/put", body)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status
            done += 1
        return done

    print(sum_of_clients(client, int(clients)) / float(seconds))


class Etcd:
    """Syncs its log for each batch of keys; 8 clients. Only the server is recorded."""
    port, peers = "5497", "5496"

    def prepare(self, disk):
        pass

    def run(self, disk, record=None):
        shutil.rmtree(f"{disk.place}/etcd", ignore_errors=True)
        urls = [f"http://127.0.0.1:{port}" for port in (self.port, self.peers)]
        server = subprocess.Popen(["etcd", "--data-dir", f"{disk.place}/etcd", "--log-level", "error",
                                   "--listen-client-urls", urls[0], "--advertise-client-urls", urls[0],
                                   "--listen-peer-urls", urls[1], "--initial-advertise-peer-urls", urls[1],
                                   "--initial-cluster", f"default={urls[1]}"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        try:
            ask = ["etcdctl", "--endpoints", urls[0], "endpoint", "health"]
            for _ in range(100):
                if subprocess.run(ask, capture_output=True, check=False).returncode == 0:
                    break
                time.sleep(0.1)
            recording = record and recorder(record, str(server.pid))
            rate = sh(sys.executable, os.path.abspath(__file__), "puts", self.port, "8", str(SECONDS))
            if recording:
                recording.wait()
        finally:
            server.terminate()
            server.wait()
        return float(rate)


def serve(place, port):
    """One thread reads the requests of all clients; four others write, sync and answer."""
    requests, selector = queue.SimpleQueue(), selectors.DefaultSelector()

    def worker(number):
        file, at = os.open(f"{place}/{number}", os.O_RDWR | os.O_CREAT, 0o600), 0
        os.pwrite(file, bytes(1 << 20), 0)
        os.fsync(file)
        while True:
            client = requests.get()
            os.pwrite(file, os.urandom(4096), at % (1 << 20))
            os.fdatasync(file)
            client.send(b"a")
            at += 4096

    for number in range(4):
        threading.Thread(target=worker, args=(number,), daemon=True).start()
    listener = socket.create_server(("127.0.0.1", int(port)))
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
            elif key.fileobj.recv(64):
                requests.put(key.fileobj)
            else:
                selector.unregister(key.fileobj)


def ask(port, clients, seconds):
    """Prints how many answers per second so many clients get, which think for 1 ms."""
    end = time.monotonic() + float(seconds)

    def client(_):
        connection, done = socket.create_connection(("127.0.0.1", int(port))), 0
        while time.monotonic() < end:
            time.sleep(0.001)
            connection.send(b"r")
            assert connection.recv(64)
            done += 1
        return done

    print(sum_of_clients(client, int(clients)) / float(seconds))


class Pool:
    """Answers requests on other threads than the one that reads them; 2 clients. Only the server is
    recorded."""
    port = "5495"

    def prepare(self, disk):
        pass

    def run(self, disk, record=None):
        itself = [sys.executable, os.path.abspath(__file__)]
        server = subprocess.Popen([*itself, "serve", disk.place, self.port])
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", int(self.port))) == 0:
                        break
                time.sleep(0.1)
            recording = record and recorder(record, str(server.pid))
            rate = float(sh(*itself, "ask", self.port, "2", str(SECONDS)))
            if recording:
                recording.wait()
        finally:
            server.kill()
            server.wait()
        return rate


class Pgbench:
    port = "5499"
    binaries = next((f"/usr/lib/postgresql/{version}/bin" for version in
                     sorted(os.listdir("/usr/lib/postgresql"), reverse=True)), "") \
        if os.path.isdir("/usr/lib/postgresql") else ""

    def tool(self, name, *arguments):
        user = pwd.getpwnam("postgres")
        return sh(f"{self.binaries}/{name}", *arguments, user=user.pw_uid, group=user.pw_gid,
                  extra_groups=[], cwd="/", stderr=subprocess.DEVNULL)

    def server(self, disk, *action):
        options = f"-k {disk.place} -p {self.port} -c listen_addresses= -c shared_buffers=64MB"
        self.tool("pg_ctl", "-D", f"{disk.place}/pg", "-o", options, "-l", f"{disk.place}/log", "-w", *action)

    def prepare(self, disk):
        user = pwd.getpwnam("postgres")
        os.makedirs(f"{disk.place}/pg")
        os.chown(disk.place, user.pw_uid, user.pw_gid)
        os.chown(f"{disk.place}/pg", user.pw_uid, user.pw_gid)
        self.tool("initdb", "-D", f"{disk.place}/pg", "-A", "trust", "-N")
        self.server(disk, "start")
        self.tool("createdb", "-h", disk.place, "-p", self.port, "bench")
        self.tool("pgbench", "-h", disk.place, "-p", self.port, "-i", "-q", "-s", "8", "bench")
        self.server(disk, "stop")

    def run(self, disk, record=None):
        self.server(disk, "start")
        pid = open(f"{disk.place}/pg/postmaster.pid").readline().strip()
        recording = record and recorder(record, pid)
        said = self.tool("pgbench", "-h", disk.place, "-p", self.port, "-n", "-c", "8", "-T", str(SECONDS),
                         "bench")
        if recording:
            recording.wait()
        self.server(disk, "stop")
        return next(float(line.split()[2]) for line in said.splitlines() if line.startswith("tps"))


PROGRAMS = {"sqlite-delete": lambda: Sqlite("delete"), "sqlite-wal": lambda: Sqlite("wal"),
            "pgbench": Pgbench, "redis": Redis, "rocksdb": lambda: Rocksdb(1), "rocksdb-8": lambda: Rocksdb(8),
            "etcd": Etcd, "git": Git, "pool": Pool}
PARTS = {"commits": commits, "puts": puts, "serve": serve, "ask": ask}


def summarized(recording):
    return json.loads(sh("iotax", "capture", "show", "--format", "json", recording))["summary"]


def replayed(recording, before, after):
    """The rate after the change relative to the one before, and its interval; and the rate before the change
    relative to that of the recording."""
    recorded = summarized(recording)
    arms = [f"{disk.name}={disk.mount}" for disk in (before, after)]
    result = told("iotax", ["compare", "-w", recording, "--tight", "--max-time", "150s", "--out", "results", *arms])
    of = {one["metric"]: one for one in result["comparisons"] if one.get("subject") == "arm"}
    one = of.get("request_rate", of["throughput"])
    if one["lo"] is None:
        sys.exit(f"the replay has no interval: {one}")
    arm, rates, requests = result["arms"][0], recorded["rates"], recorded["requests"]
    same = (arm["requests_per_s"] / requests["per_s"] if requests
            else arm["iops"] / (rates["reads_per_s"] + rates["writes_per_s"]))
    return [1 - one[key] for key in ("tax", "hi", "lo")], same


def similar(recording):
    """A job of fio with the recording's I/O sizes, share of reads, writes per sync and number of threads
    that sync; and the reads and writes per second of a thread."""
    summary = summarized(recording)
    rates, busiest = summary["rates"], summary["threads"]["busiest"]
    syncing = [thread["operations"] for thread in busiest if thread["sync_share"] > 0]
    threads = max(1, sum(operations * 20 >= sum(syncing) for operations in syncing))
    ios = rates["reads_per_s"] + rates["writes_per_s"]
    sizes = [max(512, round(rates[f"{kind}_bytes_per_s"] / max(rates[f"{count}_per_s"], 0.001) / 512) * 512)
             for kind, count in (("read", "reads"), ("written", "writes"))]
    job = ["--name=similar", "--ioengine=psync", "--size=32M", f"--numjobs={threads}", "--rw=randrw",
           f"--bs={sizes[0]},{sizes[1]}", f"--rwmixread={100 * rates['reads_per_s'] / ios:.0f}",
           f"--fdatasync={max(1, round(rates['writes_per_s'] / max(rates['syncs_per_s'], 0.001)))}",
           "--time_based", "--runtime=3"]
    return job, f"{max(1, rates['reads_per_s'] / threads):.0f},{max(1, rates['writes_per_s'] / threads):.0f}"


def fio(disk, layout, *arguments):
    """I/Os per second of a run of fio."""
    directory = f"{disk.place}/fio"
    os.mkdir(directory)
    try:
        if layout:
            sh("fio", layout, cwd=directory)
        said = sh("fio", "--output-format=json", "--group_reporting", *arguments, cwd=directory,
                  stderr=subprocess.DEVNULL)
        job, = json.loads(said[said.index("{"):])["jobs"]
        return job["read"]["iops"] + job["write"]["iops"]
    finally:
        shutil.rmtree(directory)


def by_fio(recording, disks):
    """What fio says in each of WAYS."""
    sh("iotax", "repro", "results", "-o", "bundle", stderr=subprocess.DEVNULL)
    jobs = os.path.abspath("bundle/jobs")
    log = (f"{jobs}/01-layout.fio", "--name=replay", "--ioengine=psync", f"--read_iolog={jobs}/01.log",
           "--runtime=8")
    job, rates = similar(recording)
    job = (None, *job)
    ways = [log, (*log, "--replay_no_stall=1"), job, (*job, f"--rate_iops={rates}")]
    return [fio(disks[1], *way) / fio(disks[0], *way) for way in ways]


def measured(name, change, runs):
    program, disks = PROGRAMS[name](), []
    try:
        for side, state in zip(Layers.sides, CHANGES.get(change) or LAYERS[change]):
            disks.append(Layers(side, **state) if isinstance(state, dict) else Disk(side, *state))
        rates = [[], []]
        for disk in disks:
            program.prepare(disk)
        for _ in range(runs):
            for disk, found in zip(disks, rates):
                found.append(program.run(disk))
        program.run(disks[0], record="app.iotx")
        for disk in disks:
            disk.clear()
        predicted, same = replayed("app.iotx", *disks)
        ways = by_fio("app.iotx", disks)
    finally:
        for disk in disks:
            disk.down()
        for left in ("app.iotx", "bundle.tar.gz", "bundle.key.json"):
            if os.path.exists(left):
                os.remove(left)
        for left in ("results", "bundle"):
            shutil.rmtree(left, ignore_errors=True)
    before, after = map(statistics.median, rates)
    ends = [min(rates[1]) / max(rates[0]), max(rates[1]) / min(rates[0])]
    return dict(zip(FIELDS, [name, change, after / before, *ends, *predicted, *ways, same]))


def error(row, way="replay"):
    return float(row[way]) / float(row["real"]) - 1


def summary(rows, way):
    sizes = sorted(abs(error(row, way)) for row in rows)
    # Where a change does less than the runs differ, no direction is right or wrong.
    clear = [row for row in rows if not float(row["lowest"]) <= 1 <= float(row["highest"])]
    same = sum((float(row["real"]) < 1) == (float(row[way]) < 1) for row in clear)
    return (f"mean error {100 * statistics.mean(sizes):.0f} %, median {100 * statistics.median(sizes):.0f} %, "
            f"largest {100 * sizes[-1]:.0f} %; right direction {same} of {len(clear)} clear changes")


def shown(ratio):
    """Three digits; a dash if it is not known."""
    if ratio == "":
        return "–"
    places = 3 if float(ratio) < 0.9995 else 2 if float(ratio) < 9.995 else 1
    return f"{float(ratio):.{places}f}"


def show(rows):
    """As in docs/benchmarks.md."""
    print("| program | change | real | replay | error |", *(f"{way} |" for way in WAYS), "same disk |")
    print("|" + "---|" * (6 + len(WAYS)))
    for row in rows:
        low, high = (shown(row[key]) for key in ("low", "high"))
        percent = round(100 * error(row))
        error_shown = f"{percent:+} %".replace("-", "−") if percent else "0 %"
        cells = [NAMES.get(row["program"], row["program"]), row["change"].replace("us", " µs").replace("ms", " ms"),
                 shown(row["real"]), f"{shown(row['replay'])} [{low}, {high}]", error_shown,
                 *(shown(row[way]) for way in WAYS), shown(row["same"])]
        print("|", " | ".join(cells), "|")
    within = sum(float(row["low"]) <= float(row["highest"]) and float(row["lowest"]) <= float(row["high"])
                 for row in rows)
    print(f"\nreplay: {summary(rows, 'replay')}; interval meets the range of the real runs in {within} of "
          f"{len(rows)}")
    for way in WAYS:
        known = [row for row in rows if row[way] != ""]
        half = sum(abs(error(row)) <= abs(error(row, way)) / 2 for row in known)
        print(f"{way}: {summary(known, way)}; the replay's error is at most half of it in {half} of {len(known)}")


def main():
    if len(sys.argv) > 1 and sys.argv[1] in PARTS:
        PARTS[sys.argv[1]](*sys.argv[2:])
        return
    changes = CHANGES
    if "--layers" in sys.argv:
        sys.argv.remove("--layers")
        changes = LAYERS
    if len(sys.argv) < 4 or any(name not in PROGRAMS for name in sys.argv[3:]):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    os.chdir(sys.argv[1])
    rows = list(csv.DictReader(open("replays.csv"))) if os.path.exists("replays.csv") else []
    done = {(row["program"], row["change"]) for row in rows}
    with open("replays.csv", "a", newline="") as file:
        out = csv.DictWriter(file, FIELDS)
        if file.tell() == 0:
            out.writeheader()
        for change in changes:
            for name in sys.argv[3:]:
                if (name, change) in done:
                    continue
                row = measured(name, change, int(sys.argv[2]))
                out.writerow(row)
                file.flush()
                rows.append(row)
                print(f"{name}, {change}: real {row['real']:.3f}, replay {row['replay']:.3f}", file=sys.stderr)
    show([row for row in rows if row["program"] in sys.argv[3:]])


if __name__ == "__main__":
    main()
