#!/bin/sh
# Do iotax's engines and iperf3 measure the same, and are round trips as short as sockperf's? TCP with one
# and four flows, either way, each as two arms on the same path, interleaved; then round trips over
# loopback by turns. A table in Markdown on standard output; figures are ratios.
#
#     docs/measure/native-versus-iperf3.sh PATH [OPTIONS OF iotax compare]
#
# PATH: of the network, as in `iotax layers`: loopback, netns (as root). Needs iotax, iperf3, sockperf, jq.
set -eu

path=${1:?usage: native-versus-iperf3.sh PATH [OPTIONS OF iotax compare]}
shift
rounds=9
port=17311
results=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$results"
}
trap finish EXIT
trap 'exit 130' INT TERM

echo '| load | native / other [95 % CI] | blocks | verdict at 10 % | CPU per MiB, native / iperf3 [95 % CI] |'
echo '|---|---|---|---|---|'
while read -r name workload flows; do
    if ! iotax compare --format json --quiet --out "$results/$name" --margin 10% --time 2s --ramp 1s "$@" \
        --workload "$workload" --set "threads=$flows" iperf3="$path" native="$path" --engine iperf3=iperf3 \
        >"$results/$name.json" 2>"$results/$name.err" </dev/null; then
        echo "| $name | failed: $(head -n 1 "$results/$name.err") | | | |"
        continue
    fi
    jq -r --arg name "$name" '
        def of(id): [.comparisons[] | select(.metric == id)][0];
        def percent: if . == null then "-" else . * 100 | round | tostring end;
        # The tax of a rate is 1 - ratio; that of CPU time ratio - 1.
        def rate: if .tax == null then "-" else "\(1 - .tax | percent) % [\(1 - .hi | percent), \(1 - .lo | percent)]" end;
        def cost: if .tax == null then "-" else "\(1 + .tax | percent) % [\(1 + .lo | percent), \(1 + .hi | percent)]" end;
        of("bandwidth") as $b | of("cpu_per_mib") as $c
        | "| \($name), iperf3 | \($b | rate) | \($b.blocks) | \($b.verdict) | \($c | cost) |"' "$results/$name.json"
done <<'LOADS'
tcp-1 tcp-stream 1
tcp-4 tcp-stream 4
tcp-1-back tcp-stream-back 1
tcp-4-back tcp-stream-back 4
LOADS

# sockperf reports half a round trip unless told otherwise.
sockperf server --tcp -i 127.0.0.1 -p $port >/dev/null 2>&1 &
server=$!
sleep 1
ours() {
    iotax run tcp-rr loopback --time 2s --ramp 500ms --quiet --format json --out "$results/rr-$1" |
        jq '.jobs[0].read.clat_ns.percentile["50.000000"] / 1000'
}
theirs() {
    sockperf ping-pong --tcp --full-rtt -i 127.0.0.1 -p $port -m 64 -t 2 2>/dev/null |
        sed -n 's/.*percentile 50.000 = *//p'
}
round=0
while [ $round -lt $rounds ]; do
    round=$((round + 1))
    # Who is first takes turns.
    if [ $((round % 2)) = 0 ]; then
        native=$(ours $round)
        other=$(theirs)
    else
        other=$(theirs)
        native=$(ours $round)
    fi
    echo "$native $other"
done >"$results/p50"
jq -rRs --arg rounds $rounds '
    [split("\n")[] | select(. != "") | split(" ") | map(tonumber) | .[0] / .[1]] | sort
    | "| tcp-rr, sockperf: p50 of a round trip | \(.[length / 2 | floor] * 100 | round) % (median; \(.[0] * 100 | round) to \(.[-1] * 100 | round)) | \($rounds) rounds | | |"' "$results/p50"
