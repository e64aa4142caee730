# A namespace that a run makes for itself, and what users add to pods. Sourced by try.sh.

# The namespaces that runs have made.
made() { kubectl get namespaces -l app.kubernetes.io/managed-by=iotax -o 'jsonpath={.items[*].metadata.name}'; }

# of_its_own NAME ARGS...: a run in a namespace of its own, at its first trial. $own is the namespace, $shell
# waits for the run.
of_its_own() {
  local name=$1
  shift
  NAMESPACE=new compare a=emptydir b=emptydir --set size=16M --out "$W/$name" "$@" >"$W/own-said" 2>&1 &
  shell=$!
  until_true 60 test -s "$W/$name/trials.jsonl" || { cat "$W/own-said" >&2; fail "$name: no trial"; }
  own=$(made)
}

part_own_namespace() {
  cat >"$W/overrides.yaml" <<'Y'
metadata: {labels: {team: db}}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]
Y
  of_its_own own --pod-overrides "$W/overrides.yaml" --max-blocks 3
  [ "$(kubectl get namespace "$own" -o jsonpath='{.metadata.labels.pod-security\.kubernetes\.io/enforce}')" = restricted ] ||
    fail "own namespace: it is not restricted"
  [ "$(kubectl -n "$own" get pods -l team=db -o jsonpath='{.items[*].spec.nodeName}')" = "n2 n2" ] ||
    fail "pod overrides: $(kubectl -n "$own" get pods -o wide)"
  wait "$shell" || { cat "$W/own-said" >&2; fail "own namespace: exit code $?"; }
  grep -rqF "pod fields set by the user: metadata.labels, spec.affinity" "$W/own" || fail "pod overrides are not in the record"
  ok "what was added to pods is in the record"
  [ -z "$(made)" ] || fail "the namespace stays"
  nothing_left "own namespace"

  of_its_own own-killed --max-blocks 9
  pkill -KILL -P "$shell"
  wait "$shell" || true
  "$IOTAX" undo --cluster --namespace bench >"$W/undone" 2>&1 || { cat "$W/undone" >&2; fail "undo: exit code $?"; }
  need "undo removes the namespace of a dead run" "removed Namespace $own" "$W/undone"
  [ -z "$(made)" ] || fail "the namespace stays"
  rm -rf "$W"/own "$W"/own-killed
  nothing_left "own namespace after a kill -9"
}
