# Recordings of pods. Sourced by try.sh.

# record ARGS...: of the pod `writer`; the recorder is in a namespace that allows it.
record() {
  "$IOTAX" kube capture writer --namespace bench --recorder-namespace probes --wait 60s --max-size 64M \
    --max-overhead 50% "$@"
}
recorders() { kubectl -n probes get pods -l app.kubernetes.io/managed-by=iotax "$@"; }
has_recorder() { [ -n "$(recorders -o name)" ]; }
# A process of a recorder on this machine; nodes are namespaces of it.
records() { pgrep -f "^iotax capture --to-client" >/dev/null; }
no_longer_records() { ! records; }

part_capture() {
  kubectl -n bench apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: writer}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsNonRoot: true, runAsUser: 65532, fsGroup: 65532, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: writer
    image: $("$IOTAX" kube manifest -- run a | sed -n 's/^ *image: "\(.*\)"/\1/p')
    command: [iotax, run, etcd-wal, /data, --time, 600s, --set, size=16M, --out, /data/results]
    volumeMounts: [{name: data, mountPath: /data}]
    resources: {requests: {cpu: 50m, memory: 128Mi}, limits: {cpu: 500m, memory: 128Mi}}
    securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
Y
  until_true 60 kubectl -n bench wait --for=jsonpath='{.status.phase}'=Running pod/writer --timeout=1s ||
    fail "no pod writes"
  kubectl create namespace probes >/dev/null
  kubectl label namespace probes pod-security.kubernetes.io/enforce=privileged >/dev/null
  until_true 30 kubectl -n probes get serviceaccount default
  everything >"$W/with-writer"
  left() { diff "$W/with-writer" <(everything) || fail "$1 left this"; ok "$1 leaves nothing"; }

  ! "$IOTAX" kube capture write --namespace bench 2>"$W/said" || fail "it records a pod that is not there"
  need "a pod that is not there" "similar names: writer" "$W/said"
  ! "$IOTAX" kube capture writer --namespace bench --wait 60s -o "$W/no.iotx" 2>"$W/said" ||
    fail "a restricted namespace lets the recorder in"
  need "a restricted namespace refuses the recorder" 'namespace bench: pods "iotax-' "$W/said"
  need "and what helps is said" "--recorder-namespace" "$W/said"
  left "a refused recorder"

  record --for 5s -o "$W/app.iotx" >"$W/shown" 2>"$W/said" || { cat "$W/said"; fail "capture: exit code $?"; }
  "$IOTAX" capture show "$W/app.iotx" --format json >"$W/shown"
  jq -e '[.summary.operations[] | select(.op == "fdatasync" or .op == "fsync")][0].count > 0' "$W/shown" >/dev/null ||
    { cat "$W/shown"; fail "the recording has no sync"; }
  ok "a pod that syncs is recorded"
  left "a recording"

  release
  "$IOTAX" kube compare -w "$W/app.iotx" fast=class:fast slow=class:slow --namespace bench --size 200M --cpu 500m \
    --memory 256M --wait 60s --max-time 60s --out "$W/replayed" >"$W/said" 2>&1 ||
    { cat "$W/said"; fail "replay: exit code $?"; }
  jq -se 'map(.load.jobs[0] | select(.engine == "replay" and .write.ios > 0 and .first_error == null)) | length > 3' \
    "$W/replayed/trials.jsonl" >/dev/null || { cat "$W/said"; fail "pods do not replay the recording"; }
  cat "$W/said"
  ok "pods on volumes of two classes replay it"

  record -o "$W/early.iotx" >/dev/null 2>"$W/said" &
  local shell=$!
  until_true 60 records || { cat "$W/said"; fail "no recorder"; }
  sleep 3
  kill -INT "$(pgrep -P "$shell")"
  wait "$shell" || { cat "$W/said"; fail "Ctrl-C: exit code $?"; }
  [ "$("$IOTAX" capture show "$W/early.iotx" --format json | jq -r .end.reason)" = stopped ] || fail "Ctrl-C: no recording"
  ok "Ctrl-C ends a recording, which is fetched"
  left "Ctrl-C"

  record -o "$W/killed.iotx" >/dev/null 2>"$W/said" &
  shell=$!
  until_true 60 records || { cat "$W/said"; fail "no recorder"; }
  kill -KILL "$(pgrep -P "$shell")"
  wait "$shell" || true
  until_true 30 no_longer_records || fail "the recorder of a killed process goes on"
  ok "the recorder of a killed process ends"
  until_true 150 recorders --field-selector status.phase=Succeeded -o jsonpath='{.items[0].metadata.name}' ||
    fail "the pod of a killed process goes on"
  ok "its pod ends by itself"
  "$IOTAX" undo --cluster --namespace probes >"$W/said"
  need "undo removes it" "removed Pod iotax-" "$W/said"
  left "kill -9, and undo"
  kubectl -n bench delete pod/writer --wait >/dev/null
  kubectl delete namespace probes --wait >/dev/null
  nothing_left capture
}
