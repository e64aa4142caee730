# Faults in the middle of runs, of every kind in turn, at moments all over them. FAULTS says how many
# (default 10: one of each kind). Sourced by try.sh.
# shellcheck disable=SC2034

FAULT_KINDS=(controller_killed pod_deleted kubelet_killed kubelet_stopped api_restarted namespace_deleted quota image claim cut)

# In a namespace of their own: one of them deletes it.
part_faults() {
  local number kind count=${FAULTS:-10}
  NAMESPACE=faults
  declare -A done_of=() failed_of=()
  for number in $(seq 0 $((count - 1))); do
    kind=${FAULT_KINDS[number % ${#FAULT_KINDS[@]}]}
    FAULT="fault $number, $kind"
    kubectl create namespace "$NAMESPACE" >/dev/null 2>&1 || true
    until_true 30 kubectl -n "$NAMESPACE" get serviceaccount default || fail "$FAULT: no namespace"
    fault_"$kind"
    rm -rf "$W"/fault
    done_of[$kind]=$((${done_of[$kind]:-0} + 1))
  done
  for kind in "${!done_of[@]}"; do
    printf '%4ds ok   %3d of %s; trials that failed: %d\n' "$SECONDS" "${done_of[$kind]}" "$kind" "${failed_of[$kind]:-0}"
  done
  kubectl delete namespace "$NAMESPACE" --wait >/dev/null
  unset NAMESPACE
  nothing_left "$count faults"
}

# faulty: starts a comparison, and returns at a moment of it. Its end is $code once it has `ended`.
faulty() {
  TIME=1s compare a=emptydir b=emptydir --out "$W/fault" --max-blocks 4 --set size=16M >"$W/said" 2>&1 &
  shell=$!
  until_true 60 test -s "$W/fault/trials.jsonl" || { cat "$W/said" >&2; fail "$FAULT: no trial"; }
  running=$(pgrep -P "$shell")
  sleep "$((RANDOM % 4)).$((RANDOM % 10))"
}
ended() {
  local end=$((SECONDS + 150))
  while kill -0 "$shell" 2>/dev/null; do
    [ "$SECONDS" -lt "$end" ] || { cat "$W/said" >&2; fail "$FAULT: it does not end"; }
    sleep 0.2
  done
  code=0
  wait "$shell" || code=$?
}
fault_failed() { cat "$W/said" >&2; fail "$FAULT: $*"; }
# Nothing of any run is left in its namespace, and the results are there and can be shown.
fault_over() {
  local left
  left=$(kubectl -n "$NAMESPACE" get pods,pvc,services,leases.coordination.k8s.io -o name 2>/dev/null)
  [ -z "$left" ] || fault_failed "this is left: $left"
  "$IOTAX" report "$W/fault" >"$W/report" 2>&1 || { cat "$W/report" >&2; fault_failed "no report"; }
  failed_of[$kind]=$((${failed_of[$kind]:-0} + $(grep -c 'was lost' "$W/fault/trials.jsonl" || true)))
}
# The run goes on to its end.
goes_on() {
  ended
  [ "$code" = 0 ] || fault_failed "exit code $code"
  fault_over
}
# cannot TEXT ARGS...: nothing is measured, for this reason.
cannot() {
  local text=$1
  shift
  ! WAIT=5s compare --out "$W/fault" "$@" >"$W/said" 2>&1 || fault_failed "it runs"
  grep -qF -- "$text" "$W/said" || fault_failed "it does not say: $text"
  [ -z "$(kubectl -n "$NAMESPACE" get pods,pvc,leases.coordination.k8s.io -o name)" ] || fault_failed "something is left"
}

fault_controller_killed() {
  faulty
  kill -KILL "$running" 2>/dev/null || true
  ended
  "$IOTAX" undo --cluster --namespace "$NAMESPACE" >"$W/undone" || fault_failed "undo: exit code $?"
  fault_over
}
fault_pod_deleted() {
  faulty
  kubectl -n "$NAMESPACE" delete pod -l app.kubernetes.io/managed-by=iotax --wait=false >/dev/null
  goes_on
}
fault_kubelet_killed() {
  faulty
  # shellcheck disable=SC2046
  pkill -KILL -f "^$BIN/kubelet --config=$RUN/"
  goes_on
}
fault_kubelet_stopped() {
  faulty
  pkill -STOP -f "^$BIN/kubelet --config=$RUN/"
  # Longer than an agent may be silent, or not.
  sleep $((RANDOM % 2 * 20 + 5))
  pkill -CONT -f "^$BIN/kubelet --config=$RUN/"
  goes_on
}
fault_api_restarted() {
  faulty
  pkill -KILL -f "^$BIN/kube-apiserver "
  until_true 60 kubectl get --raw /readyz || fault_failed "the API server does not come back"
  goes_on
}
fault_namespace_deleted() {
  faulty
  kubectl delete namespace "$NAMESPACE" --wait=false >/dev/null
  ended
  # It may have been over.
  [[ $code = 0 || $code = 3 ]] || fault_failed "exit code $code"
  [ "$code" = 0 ] || grep -qE "is being terminated|not found|its pod was stopped" "$W/said" || fault_failed "it does not say why"
  until_true 60 not kubectl get namespace "$NAMESPACE" || fault_failed "the namespace stays"
  fault_over
}
fault_quota() {
  kubectl -n "$NAMESPACE" create quota small --hard=pods=1 >/dev/null
  until_true 20 kubectl -n "$NAMESPACE" wait --for=jsonpath='{.status.hard.pods}'=1 quota/small --timeout=1s
  cannot "exceeded quota: small" a=emptydir b=emptydir
  kubectl -n "$NAMESPACE" delete quota small >/dev/null
}
fault_image() { cannot "its image cannot be pulled" a=emptydir b=emptydir --image "localhost/iotax:none-$number"; }
fault_claim() { cannot '"none" not found' a=class:none b=emptydir; }
fault_cut() {
  faulty
  # shellcheck disable=SC2046
  kill $(pgrep -P "$(cat "$RUN/pids/api-outer")") 2>/dev/null || true
  goes_on
}
not() { ! "$@"; }
