#!/bin/bash
# Boots a Debian kernel with the initramfs of initramfs.sh, and ends with the guest.
#   qemu.sh IMAGE MODULES INITRAMFS SHARE SECONDS [OPTION...]   SHARE is the directory that kernel.sh expects;
#                                                               the options are QEMU's, such as -m or -drive
set -euo pipefail
image=$1 modules=$2 initramfs=$3 share=$4 seconds=$5
shift 5
directory() { echo "local,path=$1,mount_tag=$2,security_model=none,multidevs=remap$3"; }
# With a thread for each CPU, a guest whose kernel changes its own code (as it does when tracepoints are
# enabled) hangs every now and then.
exec timeout --kill-after=5 $((seconds + 60)) qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 \
    -nographic -no-reboot -nic none -kernel "$image" -initrd "$initramfs" \
    -append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr VM_SECONDS=$seconds" \
    -virtfs "$(directory / host ,readonly=on)" -virtfs "$(directory "$modules" modules ,readonly=on)" \
    -virtfs "$(directory "$share" share '')" "$@"
