#!/usr/bin/env bash
# How long etcd waits for its log beside how long `iotax run etcd-wal` does, at etcd's rate and as fast as
# it goes, in turns on one directory:
#     docs/measure/etcd-versus-iotax.sh ETCD IOTAX DIRECTORY [ROUNDS]
# ETCD and IOTAX are the programs. One client puts values, one after the other, that etcd writes to
# its log as 2300 bytes. The kernel tells when each fdatasync began and ended (tracefs; needs root):
# strace would be part of what is measured. Needs python3. Traffic stays on this host.
set -euo pipefail
etcd=$(realpath "${1:?the program etcd}")
iotax=$(realpath "${2:?the program iotax}")
directory=$(realpath "${3:?a directory}")
rounds=${4:-6}
work=$(mktemp -d -p "$directory")
tracing=$(mktemp -d)
mount -t tracefs none "$tracing"
pid=
stop() {
    echo 0 >"$tracing/instances/iotax/tracing_on" 2>/dev/null || true
    rmdir "$tracing/instances/iotax" 2>/dev/null || true
    umount "$tracing"
    rmdir "$tracing"
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT
mkdir "$tracing/instances/iotax"
instance=$tracing/instances/iotax
echo 65536 >"$instance/buffer_size_kb"
echo mono >"$instance/trace_clock"

# From "... comm-PID [CPU] flags SECONDS: sys_fdatasync(...)" and "... -> 0x0" to microseconds.
times() {
    python3 -c '
import re, sys
begun, times = {}, []
for line in sys.stdin:
    found = re.search(r"-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): sys_fdatasync( ->|\(fd: (\S+)\))", line)
    if not found:
        continue
    thread, at, what, fd = found.groups()
    if what == " ->":
        if thread in begun:
            start, fd = begun.pop(thread)
            times.append((fd, (float(at) - start) * 1e6))
    else:
        begun[thread] = (float(at), fd)
# The log is synced far more often than the database.
often = max({fd for fd, _ in times}, key=lambda fd: sum(f == fd for f, _ in times))
log = sorted(us for fd, us in times if fd == often)
at = lambda q: log[min(int(q * len(log)), len(log) - 1)]
print("%-6s syncs %6d  per s %5.0f  mean %6.0f us  p50 %6.0f us  p99 %6.0f us"
      % (sys.argv[1], len(log), len(log) / float(sys.argv[2]), sum(log) / len(log), at(.5), at(.99)))
' "$@"
}

of_etcd() {
    "$etcd" --data-dir "$work/etcd" --log-level error \
        --listen-client-urls http://127.0.0.1:23790 --advertise-client-urls http://127.0.0.1:23790 \
        --listen-peer-urls http://127.0.0.1:23800 \
        --initial-advertise-peer-urls http://127.0.0.1:23800 \
        --initial-cluster default=http://127.0.0.1:23800 &
    pid=$!
    python3 - "$pid" "$instance" <<'P'
import base64, http.client, json, os, sys, time
pid, instance = sys.argv[1:]
value = base64.b64encode(b"x" * 2193).decode()
while True:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", 23790)
        connection.request("POST", "/v3/kv/put", json.dumps({"key": "YQ==", "value": "YQ=="}))
        if connection.getresponse().read() and True:
            break
    except OSError:
        time.sleep(0.2)
def put(seconds):
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        key = base64.b64encode(b"key%05d" % (number % 10000)).decode()
        connection.request("POST", "/v3/kv/put", json.dumps({"key": key, "value": value}))
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        number += 1
def switch(name, text):
    with open(os.path.join(instance, name), "w") as file:
        file.write(text)
put(1)
threads = " ".join(os.listdir(f"/proc/{pid}/task"))
switch("options/event-fork", "1")
switch("set_event_pid", threads)
for event in ("enter", "exit"):
    switch(f"events/syscalls/sys_{event}_fdatasync/enable", "1")
switch("trace", "")
switch("tracing_on", "1")
put(10)
switch("tracing_on", "0")
P
    times etcd 10 <"$instance/trace"
    kill "$pid"
    wait "$pid" 2>/dev/null || true
    pid=
    rm -rf "$work/etcd"
}

of_iotax() {
    mkdir "$work/iotax"
    "$iotax" run etcd-wal "$work/iotax" --trials 1 --time 10s --set wal.rate="$1" --format json \
        --out "$work/record" 2>/dev/null | python3 -c '
import json, sys
sync = json.load(sys.stdin)["iotax"]["arms"][0]["sync"]
at = {point["q"]: point["latency_ns"] / 1e3 for point in sync["latency"]}
print("%-6s syncs %6d  per s %5.0f  mean %6.0f us  p50 %6.0f us  p99 %6.0f us"
      % (sys.argv[1], sync["count"], sync["count"] / 10, sync["mean_ns"] / 1e3, at[0.5], at[0.99]))' "$([ "$1" = closed ] && echo closed || echo paced)"
    rm -rf "$work/iotax" "$work/record"
}

for _ in $(seq "$rounds"); do
    of_etcd | tee "$work/etcd.line"
    # One client waits for each put to be answered: etcd syncs less often than its log could be.
    of_iotax "$(awk '{ print $6 }' "$work/etcd.line")"
    of_iotax closed
done
