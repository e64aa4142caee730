#!/usr/bin/env bash
# Which system calls programs make for one commit: the sizes of their writes, and their syncs.
#     docs/measure/applications.sh etcd PROGRAM LOAD... | postgres BINARIES | nats PROGRAM
# Needs strace and python3; postgres wants to be run as root, and has a user of that name. LOAD: a command
# that puts values into etcd at 127.0.0.1:23790 for ten seconds. Everything lies in a temporary
# directory, and traffic stays on this host. docs/benchmarks.md has the results.
set -euo pipefail
what=${1:?etcd, postgres or nats}
program=$(realpath "${2:?where it is}")
shift 2
work=$(mktemp -d)
chmod 755 "$work"
pids=()
stop() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT
cd "$work"

traced() { # PIDS... : until the function `load` is through
    local each=()
    for pid in "$@"; do each+=(-p "$pid"); done
    strace -f -qq -y -o trace "${each[@]}" \
        -e trace=write,pwrite64,pwritev,fdatasync,fsync,sync_file_range,fallocate 2>/dev/null &
    local tracer=$!
    sleep 1
    load
    kill -INT $tracer
    wait $tracer || true
    python3 - "$work" <<'P'
import collections, re, sys
calls, sizes = collections.Counter(), collections.defaultdict(collections.Counter)
for line in open("trace"):
    found = re.match(r"\d+ +(\w+)\(\d+<(/[^>]*)>.*= (\d+)", line)
    if not found or not found[2].startswith(sys.argv[1]):
        continue
    # Files that differ in their numbers alone are one.
    name = re.sub(r"[0-9A-F]{8,}|\d+", "*", found[2][len(sys.argv[1]) + 1:])
    calls[found[1], name] += 1
    if "write" in found[1]:
        sizes[name][int(found[3])] += 1
for (call, name), count in calls.most_common(12):
    print(f"{count:7} {call:16} {name}")
for name, found in sizes.items():
    if sum(found.values()) >= 100:
        shown = ", ".join(f"{size} ({n})" for size, n in found.most_common(4))
        print(f"bytes of a write to {name}: {shown}")
P
}

case $what in
etcd)
    "$program" --data-dir "$work/data" --log-level error \
        --listen-client-urls http://127.0.0.1:23790 --advertise-client-urls http://127.0.0.1:23790 \
        --listen-peer-urls http://127.0.0.1:23800 \
        --initial-advertise-peer-urls http://127.0.0.1:23800 \
        --initial-cluster default=http://127.0.0.1:23800 &
    pids+=($!)
    sleep 3
    command=("$@")
    load() { "${command[@]}"; }
    traced "${pids[0]}"
    ;;
postgres)
    chown postgres "$work"
    as() { runuser -u postgres -- "$@"; }
    as "$program/initdb" -D data -A trust >/dev/null
    as "$program/pg_ctl" -D data -o "-h '' -k $work" -l log -w start >/dev/null
    as "$program/pgbench" -h "$work" -i -q -s 5 postgres 2>/dev/null
    server=$(head -1 data/postmaster.pid)
    load() {
        as "$program/pgbench" -h "$work" -c 1 -T 12 postgres
        as "$program/psql" -h "$work" -c checkpoint postgres
    }
    # shellcheck disable=SC2046 # one word each
    traced "$server" $(pgrep -P "$server")
    as "$program/pg_ctl" -D data -m fast -w stop >/dev/null
    ;;
nats)
    printf 'listen: 127.0.0.1:42220\njetstream { store_dir: "%s", sync_interval: always }\n' \
        "$work" >nats.conf
    "$program" -c nats.conf 2>/dev/null &
    pids+=($!)
    sleep 2
    load() {
        python3 - <<'P'
import json, socket, time
server = socket.create_connection(("127.0.0.1", 42220))
answers = server.makefile("rb")
answers.readline()
server.sendall(b'CONNECT {"verbose":false}\r\nSUB in.* 1\r\n')
def request(subject, body):
    server.sendall(b"PUB %s in.1 %d\r\n%s\r\n" % (subject, len(body), body))
    while True:
        line = answers.readline()
        if line.startswith(b"PING"):
            server.sendall(b"PONG\r\n")
        if line.startswith(b"MSG"):
            return answers.read(int(line.split()[-1]) + 2)
stream = {"name": "S", "subjects": ["x"], "storage": "file", "num_replicas": 1}
request(b"$JS.API.STREAM.CREATE.S", json.dumps(stream).encode())
end = time.monotonic() + 6
while time.monotonic() < end:
    request(b"x", b"y" * 128)
P
    }
    traced "${pids[0]}"
    ;;
*)
    echo "etcd, postgres or nats" >&2
    exit 2
    ;;
esac
