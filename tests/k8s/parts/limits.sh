# Caps of volumes. Sourced by try.sh.

# Two volumes of a class, each a disk of 2,000 I/Os per second: both caps are found, and that they are two.
part_limits() {
  release
  "$IOTAX" kube limits --class fast --claims 2 --size 200M --cpu 500m --memory 256M --quick \
    --namespace bench --wait 60s --out "$W/limits" >"$W/said"
  local target cap
  for target in fast-1 fast-2; do
    cap=$(awk -v target="$target" '$1 == target && $2 == "IOPS" { gsub(",", "", $3); print $3; exit }' "$W/said")
    [ "$(bc <<<"1900 <= ${cap:-0} && ${cap:-0} <= 2100")" = 1 ] ||
      { cat "$W/said"; fail "the cap of $target is not 2,000 IOPS: $cap"; }
    ok "the cap of $target is found: $cap IOPS"
  done
  need "two volumes have two buckets" "fast-1 and fast-2 have separate buckets" "$W/said"
  "$IOTAX" report "$W/limits" >"$W/again"
  need "the record says the same" "fast-1 and fast-2 have separate buckets" "$W/again"
  need "and where it was" "class:fast, volume fast-" "$W/limits/limits.json"
  nothing_left limits
}
