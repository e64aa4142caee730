# Network paths, on nodes of which one's uplink is held to a rate. Sourced by try.sh.

# What iperf3 gets through a tbf of this rate is 477 Mbit/s: of each frame of 1514 bytes, 1448 are TCP's.
RATE_MBIT=500

# net ARGS...: NAMESPACE and TIME may be set for one.
net() {
  "$IOTAX" kube net --namespace "${NAMESPACE:-open}" --time "${TIME:-1s}" --ramp 300ms --cpu 500m --memory 256M \
    --wait 60s --no-depth-check "$@"
}

# median ARM DIR: of the rates of an arm's trials, in Mbit/s.
median() {
  jq -s --arg arm "$1" 'map(select(.arm == $arm and .load) | .load.jobs[0] |
    8000 * (.read.bytes + .write.bytes) / .active_ns) | sort | .[length / 2 | floor] | floor' "$2/trials.jsonl"
}

# between WHAT LOW FIGURE HIGH
between() {
  [ "$2" -le "$3" ] && [ "$3" -le "$4" ] || fail "$1: $3, and not from $2 to $4"
  ok "$1: $3"
}

part_net() {
  kubectl create namespace open >/dev/null
  until_true 30 kubectl -n open get serviceaccount default
  everything >"$W/before"
  local shaped=(tc -n k8s-n1 qdisc) arm
  "${shaped[@]}" add dev eth0 root tbf rate ${RATE_MBIT}mbit burst 128kb latency 50ms
  net --from n1 --to n2 -w tcp-stream --quick --max-blocks 3 --out "$W/net" >"$W/said" 2>"$W/errors" ||
    { cat "$W/said" "$W/errors"; fail "net: exit code $?"; }
  for arm in node pod service dns; do
    between "$arm goes through the uplink, in Mbit/s" 400 "$(median $arm "$W/net")" 500
  done
  between "same-node does not" $((RATE_MBIT + 1)) "$(median same-node "$W/net")" 1000000
  sed -n '/^Paths/,/^$/p' "$W/said"
  local record=$W/net/experiment.json
  need "nodes are named" "in Kubernetes: node n1 to node n2, on the host network" "$record"
  need "the same node is the same" "pod to pod, both on node n1" "$record"
  grep -qE 'from 10\.244\.1\.[0-9]+ to 10\.244\.2\.[0-9]+:7474, without translation' "$record" ||
    fail "pods' addresses are not said"
  ok "addresses of pods are said"
  grep -qE 'to 10\.96\.[0-9.]+:7474, translated to 10\.244\.2\.[0-9]+:7474 \(DNAT\)' "$record" ||
    fail "DNAT is not said"
  ok "what a Service translates is said"
  need "a name is looked up" "resolving the name took" "$record"
  # Of such a length are tokens, and names of containers in paths of control groups.
  ! sed -E 's|/[0-9a-f]{64}"|"|g' "$record" "$W/net/trials.jsonl" | grep -E '[0-9a-f]{64}' ||
    fail "the record has a token"
  ! grep 'different storage' "$W/said" || fail "paths are no storage"
  nothing_left net
  # The same over both ways of asking, in a shaped link: what UDP loses, and what a round trip takes.
  net --from n1 --to n2 -w udp-stream --set rate=20000 --quick --max-blocks 2 --out "$W/udp" >"$W/said" 2>&1 ||
    { cat "$W/said"; fail "udp: exit code $?"; }
  sed -n '/^Arms/,/^$/p' "$W/said"
  ok "UDP reaches the far end of every path"
  nothing_left udp
  "${shaped[@]}" del dev eth0 root
}

# Where pods must not be on the hosts' network, and where a run is killed.
part_netless() {
  NAMESPACE=bench net -w tcp-rr --paths node,pod --out "$W/refused" 2>"$W/said" && fail "a forbidden path runs"
  need "a path that is forbidden, asked for" "does not allow pods on the host network" "$W/said"
  NAMESPACE=bench net -w tcp-rr --quick --max-blocks 2 --out "$W/netless" >"$W/text" 2>"$W/said" ||
    { cat "$W/said"; fail "netless: exit code $?"; }
  need "and not asked for" 'leaving out the path `node`, so `pod` is the baseline' "$W/said"
  need "the cluster chooses two nodes" "pod on node n" "$W/netless/experiment.json"
  ! grep -qE 'pod on node (n.) to pod on node \1' "$W/netless/experiment.json" || fail "both ends are on one node"
  nothing_left netless
  NAMESPACE=bench net --paths pod,service -w tcp-connect --out "$W/refused" 2>"$W/said" && fail "ports of their own run"
  need "connections through a Service" "which a Service does not have" "$W/said"
  ! NAMESPACE=bench net --from n1 --to n1 --out "$W/refused" 2>"$W/said" || fail "one node is two"
  need "one node" "--paths same-node" "$W/said"
  NAMESPACE=bench TIME=8s net -w tcp-rr --paths pod,service --out "$W/dead" >"$W/said" 2>&1 &
  local shell=$!
  until_true 60 test -s "$W/dead/trials.jsonl" || { cat "$W/said"; fail "netless: no trial"; }
  # A peer that is lost is started again, at the same port.
  # shellcheck disable=SC2046
  kill $(pgrep -P "$(cat "$RUN/pids/api-outer")")
  until_true 60 grep -q '"failed"' "$W/dead/trials.jsonl" || fail "a cut connection is no failed trial"
  local after
  after=$(wc -l <"$W/dead/trials.jsonl")
  more() { [ "$(tail -n "+$((after + 1))" "$W/dead/trials.jsonl" | grep -c '"outcome":"completed"')" -ge 2 ]; }
  until_true 90 more || { cat "$W/said"; tail -n 2 "$W/dead/trials.jsonl" | cut -c1-300; fail "no peer is started again"; }
  ok "connections that are cut are a failed trial, and peers are started again"
  kill -KILL "$(pgrep -P "$shell")"
  wait "$shell" || true
  "$IOTAX" undo --cluster --namespace bench >"$W/said"
  need "undo removes Services" "removed Service iotax-" "$W/said"
  nothing_left "kill -9 of paths, and undo"
}
