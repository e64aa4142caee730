# The slow one of two nodes, and of two that are alike nobody; the slow one of many. Sourced by try.sh.
# The volumes fleet-1 and even-1 are on n1, fleet-2 and even-2 on n2; fleet-2 is slower by 30 %.

# nodes_of CLASS ARGS...: the fleet of both nodes, on volumes that are free.
nodes_of() {
  local class=$1
  shift
  release
  "$IOTAX" kube fleet --class "$class" -w randread-4k --set size=64M --set depth=8 --time 1s --ramp 200ms \
    --namespace bench --size 200M --cpu 500m --memory 256M --wait 120s "$@"
}

part_fleet() {
  nodes_of fleet --out "$W/fleet" >"$W/said"
  need "the slow node is named" "n2 is " "$W/said"
  need "the record says which node has which volume" "class:fleet, volume fleet-2, node n2" "$W/fleet/experiment.json"
  nothing_left fleet
  nodes_of fleet --at-once 2 --out "$W/together" >"$W/said"
  need "the slow node is named when both are measured at the same time" "n2 is " "$W/said"
  nothing_left together
  local run
  for run in $(seq "${FLEETS:-1}"); do
    nodes_of even --nodes n1,n2 --out "$W/even-$run" >"$W/said"
    ! grep -E '^ *n[12] is .* slower ' "$W/said" || fail "run $run: a node is named, and both are alike"
    ok "run $run of nodes that are alike: $(sed -n 3p "$W/said")"
    nothing_left "even-$run"
  done
}

# As many nodes as make a population, of which one is slower by 30 %.
part_population() {
  nodes_of many --out "$W/many" >"$W/said"
  cat "$W/said"
  need "the slow one of $NODES is named, and no other" "1 of $NODES nodes is a slow outlier" "$W/said"
  need "it is the one" "n$SLOW (3" "$W/said"
  nothing_left population
}
