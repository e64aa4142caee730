#!/bin/bash
# What is left of replays that are killed: replays-killed.sh IOTAX RECORDING DIRECTORY [KILLS]
# Kills a replay in DIRECTORY at a random moment, KILLS times (200). Then `iotax undo` must remove all that it left,
# and the next replay must complete without an error. DIRECTORY must be empty.
set -euo pipefail
iotax=$1 recording=$2 directory=$3 kills=${4:-200}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
[ -z "$(ls -A "$directory")" ] || { echo "$directory is not empty" >&2; exit 2; }

replay() {
    "$iotax" run "$recording" "$directory" --quiet --format json --out "$results/$1" "${@:2}" >"$results/$1.json"
}

started=$(date +%s%N)
replay first
took_ms=$((($(date +%s%N) - started) / 1000000))
for kill in $(seq "$kills"); do
    # A longer trial, so that kills also come while files are restored between two replays.
    replay "killed-$kill" --time 1h 2>"$results/killed.err" &
    shell=$!
    ms=$((RANDOM * RANDOM % (2 * took_ms) + 1))
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    pkill -KILL -P "$shell" || { echo "kill $kill: the replay was over" >&2; cat "$results/killed.err" >&2; exit 1; }
    wait "$shell" || true
    if ((kill % 2)); then
        "$iotax" undo >/dev/null
        [ -z "$(ls -A "$directory")" ] || { echo "kill $kill: undo left $(ls -A "$directory")" >&2; exit 1; }
    fi
    replay "after-$kill"
    python3 - "$results/after-$kill" <<'PYTHON'
import json, sys
for line in open(sys.argv[1] + "/trials.jsonl"):
    trial = json.loads(line)
    assert trial["outcome"] == "completed" or "completed" in str(trial["outcome"]), trial["outcome"]
PYTHON
    rm -rf "$results"/killed-* "$results"/after-*
    ((kill % 20)) || echo "$kill kills" >&2
done
"$iotax" undo >/dev/null
[ -z "$(ls -A "$directory")" ] || { echo "left at the end: $(ls -A "$directory")" >&2; exit 1; }
echo "$kills replays killed: undo removed all that they left, and every next replay completed"
