# A namespace that a run makes for itself, and what users add to pods. Sourced by try.sh.

part_own_namespace() {
  NAMESPACE=own
  cat >"$W/overrides.yaml" <<'Y'
metadata: {labels: {team: db}}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]
Y
  compare a=emptydir b=emptydir --create-namespace --pod-overrides "$W/overrides.yaml" --set size=16M \
    --max-blocks 3 --format json --out "$W/own" >"$W/said" 2>"$W/own-said" &
  local shell=$!
  until_true 60 test -s "$W/own/trials.jsonl" || { cat "$W/own-said" >&2; fail "own namespace: no trial"; }
  [ "$(kubectl get namespace own -o jsonpath='{.metadata.labels.pod-security\.kubernetes\.io/enforce}')" = restricted ] ||
    fail "own namespace: it is not restricted"
  [ "$(kubectl -n own get pods -l team=db -o jsonpath='{.items[*].spec.nodeName}')" = "n2 n2" ] ||
    fail "pod overrides: $(kubectl -n own get pods -o wide)"
  wait "$shell" || { cat "$W/own-said" >&2; fail "own namespace: exit code $?"; }
  grep -rqF "pods with metadata.labels, spec.affinity of the user's own" "$W/own" || fail "pod overrides are not in the record"
  ok "what was added to pods is in the record"
  not kubectl get namespace own >/dev/null 2>&1 || fail "the namespace stays"
  nothing_left "own namespace"

  compare a=emptydir b=emptydir --create-namespace --set size=16M --max-blocks 9 --out "$W/own-killed" >"$W/own-said" 2>&1 &
  shell=$!
  until_true 60 test -s "$W/own-killed/trials.jsonl" || { cat "$W/own-said" >&2; fail "own namespace: no trial"; }
  pkill -KILL -P "$shell"
  wait "$shell" || true
  "$IOTAX" undo --cluster --namespace own >"$W/undone" 2>&1 || { cat "$W/undone" >&2; fail "undo: exit code $?"; }
  need "undo removes the namespace of a dead run" "removed Namespace own" "$W/undone"
  rm -rf "$W"/own "$W"/own-killed
  unset NAMESPACE
  nothing_left "own namespace after a kill -9"
}
