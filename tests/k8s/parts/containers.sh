# A driver and a searcher in two containers of one pod. Sourced by try.sh.

# searched ARGS...: the search engine's disk in a pod.
searched() {
  release
  "$IOTAX" kube run driver-searcher --scale 0.002 --namespace bench --size 200M --cpu 500m --memory 256M \
    --wait 60s --seed 1 "$@"
}

# operation NAME: how many of them the report counts.
operation() { awk -v name="$1" '$2 == name { gsub(",", "", $3); print $3; exit }' "$W/said"; }

# all_ends WHAT: versions were published, each was loaded, and queries were answered.
all_ends() {
  local published loaded queries
  published=$(operation publish) loaded=$(operation load) queries=$(operation query)
  [ "${published:-0}" -ge 1 ] && [ "${queries:-0}" -ge 1 ] &&
    [ $((published - loaded)) -le 1 ] && [ $((loaded - published)) -le 1 ] ||
    { cat "$W/said" >&2; fail "$1: $published published, $loaded loaded, $queries queries"; }
  ok "$1: $published versions published, $loaded loaded, $queries queries"
}

part_containers() {
  searched --class fast --driver-cpu 400m --driver-memory 200M --out "$W/two" >"$W/said"
  all_ends "two containers"
  nothing_left "two containers"
  searched --class fast --containers one --out "$W/one" >"$W/said"
  all_ends "one container"
  nothing_left "one container"
  refused_run() {
    ! searched "$@" --out "$W/refused" 2>"$W/said" || fail "it runs: $*"
  }
  refused_run --class fast --containers one --driver-cpu 1
  need "limits of a driver that is not there" "add --containers two" "$W/said"
  refused_run block:raw
  need "two containers on a volume without a file system" "has no file system" "$W/said"
}
