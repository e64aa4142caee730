#!/bin/bash
# How often `--fail-if 'slower by 5%'` breaks where nothing differs, and where something is 10 % slower:
# gate.sh IOTAX DIRECTORY [EQUAL [PLANTED [ON_DISK]]]
# Prints for each kind how often the rule failed, passed and stayed undecided, and after how many blocks.
set -euo pipefail
iotax=$1 directory=$2 equal=${3:-200} planted=${4:-50} on_disk=${5:-20}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# one KIND NUMBER MOST_BLOCKS TIME BASE OTHER: a comparison with a seed of its own.
one() {
    local out=$results/$1-$2 code=0
    "$iotax" compare -w randread-4k --time "$4" --ramp 50ms --max-blocks "$3" --seed "$2" --quiet \
        --no-depth-check --dir "$directory" base="$5" new="$6" --fail-if 'slower by 5%' \
        --undecided pass --format json --out "$out" >"$out.json" 2>/dev/null || code=$?
    [ "$code" -le 1 ] || { echo "exit code $code of $1 $2" >&2; exit 1; }
    python3 - "$out.json" <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
rule = result["rules"][0]
blocks = max(comparison["blocks"] for comparison in result["comparisons"])
spread = max(arm["throughput_cv"] for arm in result["arms"])
print(rule["outcome"], blocks, f"{100 * spread:.1f}")
PYTHON
    rm -rf "$out" "$out.json"
}

# all KIND HOW_MANY MOST_BLOCKS TIME BASE OTHER
all() {
    local kind=$1 many=$2
    shift 2
    for number in $(seq "$many"); do one "$kind" "$number" "$@"; done | python3 -c '
import statistics, sys
rows = [line.split() for line in sys.stdin]
count = lambda word: sum(row[0] == word for row in rows)
failed = [int(row[1]) for row in rows if row[0] == "fail"]
blocks = statistics.median(failed) if failed else "-"
spread = statistics.median(float(row[2]) for row in rows)
words = ", ".join(f"{word} {count(word)}" for word in ("fail", "pass", "undecided"))
print(f"{sys.argv[1]}: {len(rows)} comparisons, trials vary by {spread} % (median); {words}; "
      f"median blocks until it failed: {blocks}")' "$kind"
}

all equal "$equal" 40 200ms 'mem(size=16M) + delay(latency=1ms)' 'mem(size=16M) + delay(latency=1ms)'
all planted "$planted" 40 200ms 'mem(size=16M) + delay(latency=1ms)' \
    'mem(size=16M) + delay(latency=1111us)'
all on-disk "$on_disk" 10 500ms 'file(size=256M)' 'file(size=256M)'
