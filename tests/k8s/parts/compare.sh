# Comparisons of classes, volumes of nodes, nodes. Sourced by try.sh.

part_class() {
  TIME=slices compare fast=class:fast slow=class:slow --out "$W/class" | tee "$W/said"
  local low high
  # In percent, as they are shown.
  read -r low high < <("$IOTAX" report "$W/class" --format json |
    jq -r '.comparisons[] | select(.arm == "slow" and .metric == "throughput")
      | "\(.lo * 100 | round) \(.hi * 100 | round)"')
  [ "$low" -le "$PLANTED" ] && [ "$PLANTED" -le "$high" ] ||
    fail "the planted tax of $PLANTED % is not in [$low, $high]"
  ok "the planted tax of $PLANTED % is in [$low, $high]"
  need "the record says which volumes" "class:slow, volume slow-1, node n1" "$W/class/experiment.json"
  nothing_left class
}

part_itself() {
  TIME=slices compare a=class:fast b=class:fast --out "$W/itself" >"$W/said"
  ! grep -E '^  b .*(slower|faster)$' "$W/said" || fail "a class differs from itself"
  ok "a class does not differ from itself: $(sed -n 3p "$W/said")"
  nothing_left itself
}

part_emptydir() {
  compare disk=class:slow node=emptydir --quick --max-blocks 3 --out "$W/emptydir" >"$W/said"
  need "an arm is a directory of the node" "in Kubernetes: emptydir, node n" "$W/emptydir/experiment.json"
  nothing_left emptydir
}

# Claims that the cluster makes with the pods, and removes with them.
part_ephemeral() {
  compare a=ephemeral:fast b=ephemeral:slow --quick --max-blocks 2 --out "$W/ephemeral" >"$W/said"
  need "an ephemeral volume is one of its class" "ephemeral:slow, volume slow-1, node n1" "$W/ephemeral/experiment.json"
  nothing_left ephemeral
  WAIT=4s refused "an ephemeral volume of a class that is not there" '"none" not found' \
    a=ephemeral:none b=ephemeral:fast
}

# One volume of each node's own, on the node that was asked for: also on one that is tainted.
part_nodes() {
  kubectl taint nodes n2 dedicated=disks:NoSchedule >/dev/null
  WAIT=4s refused "a taint" "untolerated taint" a=emptydir@n1 b=emptydir@n2
  compare --matrix node=n1,n2 'emptydir@{node}' --toleration dedicated --quick --max-blocks 2 --out "$W/nodes" >"$W/said"
  kubectl taint nodes n2 dedicated- >/dev/null
  need "the first node is the first arm's" "in Kubernetes: emptydir, node n1" "$W/nodes/experiment.json"
  need "the second node is the second arm's" "in Kubernetes: emptydir, node n2" "$W/nodes/experiment.json"
  nothing_left nodes
  WAIT=4s refused "a node that is not there" "no node accepts it" a=emptydir@n1 b=emptydir@n3
}
