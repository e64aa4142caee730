# left DIR...: what a run of iotax could have left behind, in these directories and elsewhere.
left() {
    dmsetup ls | grep -v "No devices found" || true
    losetup --all
    grep -E "iotax" /proc/mounts || true
    find /sys/fs/cgroup "$IOTAX_STATE_DIR" "$@" -mindepth 1 -name '*iotax*' -o -name '*.jsonl' -path '*undo*'
}
export IOTAX_STATE_DIR=/run/state
mkdir -p "$IOTAX_STATE_DIR"
