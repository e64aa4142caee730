# Nodes whose pods may not use io_uring, as container runtimes have it by default. Sourced by try.sh.

part_sandboxed() {
  [ "${NO_IO_URING:-}" = n2 ] || fail "sandboxed: ask for this part alone"
  compare a=emptydir@n2 b=emptydir@n2 --quick --max-blocks 2 --out "$W/same" 2>"$W/said"
  need "where io_uring is forbidden, it runs" "iotax falls back to libaio for direct I/O" "$W/said"
  need "and the record names the engine" '"engine":"libaio"' "$W/same/trials.jsonl"
  ! compare a=emptydir@n1 b=emptydir@n2 --out "$W/both" 2>"$W/said" || fail "two engines are compared"
  need "one node with io_uring and one without" "--set io.engine=libaio" "$W/said"
  nothing_left "one node with io_uring and one without"
  compare a=emptydir@n1 b=emptydir@n2 --set io.engine=libaio --quick --max-blocks 2 --out "$W/one" 2>"$W/said"
  ok "with libaio on both, it runs"
  nothing_left sandboxed
}
