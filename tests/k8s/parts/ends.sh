# Runs that end otherwise than planned. Sourced by try.sh.

# begun NAME ARM...: starts a comparison that takes a while, and waits for its first trial. $running is
# the program, $shell the one that waits for it.
begun() {
  local name=$1
  shift
  TIME=8s compare "$@" --out "$W/$name" >"$W/said" 2>&1 &
  shell=$!
  until_true 60 test -s "$W/$name/trials.jsonl" || { cat "$W/said"; fail "$name: no trial"; }
  running=$(pgrep -P "$shell")
}

# All connections with the API server are cut once: the trial is finished, its result is read over
# another connection, and the next one has another agent.
part_cut() {
  begun cut a=class:fast b=class:slow
  sleep 2
  # shellcheck disable=SC2046
  kill $(pgrep -P "$(cat "$RUN/pids/api-outer")")
  wait "$shell" || { cat "$W/said"; fail "cut: exit code $?"; }
  need "a cut connection costs no trial" "the result was fetched after reconnecting" "$W/cut/trials.jsonl"
  ! grep -q '"failed"' "$W/cut/trials.jsonl" || fail "cut: a trial failed: $(grep '"failed"' "$W/cut/trials.jsonl")"
  need "and the run goes on to its verdict" "b is " "$W/said"
  nothing_left cut
}

# nodes_of_run: where its pods run.
nodes_of_run() {
  kubectl -n bench get pods -l app.kubernetes.io/managed-by=iotax --field-selector status.phase=Running \
    --sort-by .metadata.name -o 'jsonpath={range .items[*]}{.metadata.name}={.spec.nodeName} {end}'
}

# Pods that are removed are made again on the nodes that they were on.
part_evicted() {
  begun evicted a=emptydir b=emptydir
  local before
  before=$(nodes_of_run)
  kubectl -n bench delete pod -l app.kubernetes.io/managed-by=iotax --wait=false >/dev/null
  are_back() { [ "$(nodes_of_run)" = "$before" ] && [ "$(grep -c "another one is made" "$W/said")" -ge 2 ]; }
  until_true 60 are_back || { cat "$W/said"; fail "evicted: $before before, $(nodes_of_run) now"; }
  kill -INT "$running"
  wait "$shell" || true
  ok "pods that are removed are made again where they were"
  nothing_left evicted
}

part_interrupted() {
  begun interrupted a=class:fast b=class:slow
  kill -INT "$running"
  local code=0
  wait "$shell" || code=$?
  [ "$code" = 4 ] || { cat "$W/said"; fail "interrupted: exit code $code"; }
  nothing_left "Ctrl-C"
}

part_killed() {
  begun killed a=class:fast b=class:slow
  kill -KILL "$running"
  wait "$shell" || true
  [ "$(kubectl -n bench get pods -o name | wc -l)" = 2 ] || fail "killed: no pods are left"
  "$IOTAX" undo --cluster --namespace bench | tee "$W/said"
  need "undo removes pods" "removed Pod iotax-" "$W/said"
  nothing_left "kill -9, and undo"
  # Nobody undoes: the pods end by themselves, and their objects wait for undo.
  WAIT=5s begun alone a=emptydir b=emptydir
  kill -KILL "$running"
  wait "$shell" || true
  until_true 120 kubectl -n bench wait --for=jsonpath='{.status.phase}'=Succeeded pod --all --timeout=1s ||
    fail "the pods of a dead run go on"
  ok "the pods of a dead run end by themselves"
  "$IOTAX" undo --cluster --namespace bench >"$W/said"
  nothing_left "they ended, and undo"
}
