# Caps of volumes. Sourced by try.sh.

part_limits() {
  release
  "$IOTAX" kube limits --class fast --claims 2 --size 200M --cpu 500m --memory 256M --quick \
    --namespace bench --wait 60s --out "$W/limits" | tee "$W/said"
  nothing_left limits
}
