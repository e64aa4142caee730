#!/usr/bin/env bash
# in-guest.sh SECONDS COMMAND...: runs a command as root in a QEMU guest with Debian's kernel 6.1 (tests/vm).
#
# The guest sees this machine's root file system, changes to which stay in its memory. What the command writes
# below its working directory, /run/vm, is afterwards in ./guest. MEMORY is that of the guest, in MiB. Its CPUs
# are emulated (no KVM is needed), so programs take some twenty times as long.
# Needs qemu-system-x86, busybox-static, cpio, kmod, util-linux, and the kernel that .ci/run unpacks.
set -euo pipefail
seconds=${1:?seconds}
shift
vm=$(realpath "$(dirname "$0")/../../tests/vm")
root=${IOTAX_TEST_KERNEL:-/var/cache/iotax-test-kernel}
release=$(ls "$root/lib/modules")
mkdir -p guest
share=$(realpath guest)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$vm/initramfs.sh" "$root/lib/modules" "$release" "$work/initramfs"
# No udev runs there: libdevmapper makes the nodes below /dev/mapper itself.
printf 'DM_DISABLE_UDEV=1\nPATH=%q\n' "$PATH" >"$share/env"
printf '%q ' "$@" >"$share/script"
rm -f "$share/status"
setpriv --pdeathsig TERM "$vm/qemu.sh" "$root/boot/vmlinuz-$release" "$root/lib/modules" "$work/initramfs" "$share" \
    "$seconds" -m "${MEMORY:-3072}" </dev/null >"$share/console" 2>&1 || :
cat "$share/stdout" 2>/dev/null || :
cat "$share/stderr" >&2 2>/dev/null || :
if [ ! -e "$share/status" ]; then
    cat "$share/console" >&2
    exit 1
fi
exit "$(cat "$share/status")"
