# A driver and a searcher in two containers of one pod. Sourced by try.sh.

# searched ARGS...: the search engine's disk in a pod.
searched() {
  release
  "$IOTAX" kube run driver-searcher --scale 0.002 --namespace bench --size 200M --cpu "${CPU:-500m}" --memory "${MEMORY:-256M}" \
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

# row NAME: what the report counts of loads, for a table.
row() {
  awk -v where="$1" '$2 == "load" { sub(/^ *[^ ]+ +load +/, ""); print "| " where " | " $0 " |"; exit }' "$W/said"
}

# The same load and volume: on the host, in one container, in two.
part_side_by_side() {
  local where rows=()
  local limits=(--driver-cpu 500m --driver-memory 256M)
  for where in host one two host one two; do
    release
    rm -rf "$STORAGE"/fast-1/*/ "$W/side"
    case $where in
      host) "$IOTAX" run driver-searcher --scale 0.002 --seed 1 "$STORAGE/fast-1" --out "$W/side" >"$W/said" ;;
      one) CPU=1 MEMORY=512M searched --class fast --containers one --out "$W/side" >"$W/said" ;;
      two) searched --class fast "${limits[@]}" --out "$W/side" >"$W/said" ;;
    esac
    cp "$W/said" "${KEEP:-$W}/side-$where-${#rows[@]}"
    all_ends "$where"
    rows+=("$(row "$where")")
  done
  printf '%s\n' "${rows[@]}"
  nothing_left "side by side"
}
