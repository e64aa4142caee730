# What a run of iotax's must not leave behind. To be followed by a test's own commands.
set -eu

fail() { echo "$*" >&2; exit 1; }

# The guest's mappings, loop devices and mounts, processes that iotax has started, and the files in
# the directories named and in iotax's own. With few programs: the guest needs a tenth of a second
# to start one where other guests are at work.
traces() { # DIRECTORY...
    echo "mappings:"
    dmsetup ls
    echo "loop devices:"
    losetup --noheadings --list --output NAME,BACK-FILE
    echo "mounts:"
    cat /proc/mounts
    echo "processes:"
    grep -Elsz '^IOTAX_(RUN|DAEMON)=' /proc/[0-9]*/environ | while read -r environment; do
        tr '\0' ' ' <"${environment%/environ}/cmdline"
    done
    echo "groups of processes:"
    find /sys/fs/cgroup -name '*iotax*'
    echo "files:"
    # Its directories for runs and their journals stay, empty.
    find "$@" /var/lib/iotax -mindepth 1 ! -path /var/lib/iotax/run ! -path /var/lib/iotax/undo
}

# Fails, and shows what it is, if anything is there that was not when `traces` went to a file.
nothing_left() { # FILE DIRECTORY...
    local before=$1
    shift
    traces "$@" | diff "$before" - >&2 || fail "left behind, or missing"
}

# Waits until a command succeeds, as long as a process lives.
until_up() { # PROCESS COMMAND...
    local process=$1
    shift
    until "$@"; do
        kill -0 "$process" 2>/dev/null || fail "process $process ended before: $*"
        sleep 0.2
    done
}

# Starts a program in the background, at `$pid`; what it prints goes beside the test's own output.
start() { "$@" >&2 & pid=$!; }

# Kills the program at `$pid` and undoes what it left. Prints what that was.
undo_killed() { # FILE DIRECTORY
    { kill -9 "$pid" && wait "$pid"; } 2>/dev/null || true
    local told
    told=$("$IOTAX" undo)
    sed -E 's/iotax-[0-9a-f]{16}/iotax-RANDOM/g; s,/dev/loop[0-9]+,/dev/loopN,g' <<<"$told"
    nothing_left "$1" "$2"
}

# Whether iotax has made something that it will have to unmake: the first line of a journal says whose
# it is, and what the second announces is there with the third.
has_something_up() { [ "$(cat /var/lib/iotax/undo/* 2>/dev/null | wc -l)" -gt 2 ]; }

# Runs iotax, which leaves its results in `result`, once to see how long it takes. Then again and
# again, killed after so many tenths of that time, and once as soon as it has something up; each time
# undone. Counts in `$undone` how often there was something to undo.
kill_after_tenths() { # TENTHS FILE DIRECTORY ARGUMENT...
    local tenths=$1 before=$2 directory=$3 from_ms whole_ms tenth
    shift 3
    rm -rf result
    from_ms=$(date +%s%3N)
    "$IOTAX" "$@" --out result >&2
    whole_ms=$(($(date +%s%3N) - from_ms))
    nothing_left "$before" "$directory"
    undone=0
    for tenth in up $tenths; do
        rm -rf result
        start "$IOTAX" "$@" --out result
        if [ "$tenth" = up ]; then
            until_up $pid has_something_up
        else
            sleep "$(printf '%d.%03d' $((whole_ms * tenth / 10000)) $((whole_ms * tenth / 10 % 1000)))"
        fi
        undo_killed "$before" "$directory" >/run/undone
        cat /run/undone >&2
        if grep -q ^removed /run/undone; then undone=$((undone + 1)); fi
    done
}
