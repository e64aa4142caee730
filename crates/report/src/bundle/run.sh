#!/bin/sh
# Repeats a measurement of iotax with fio: the same jobs, in the same order, with the same seeds.
# Needs fio, and iostat (sysstat) for device statistics. See README.md.
#
# Input files, in the same directory as this script:
#   arms.txt    arm, original name, original target (separated by tabs)
#   phases.txt  phase, yes if it writes, bytes needed in a directory, folder, name
#   order.txt   block, phase, arm and seed of each trial
#   jobs/       PHASE-directory.fio, PHASE-file.fio; PHASE.spans: regions of the jobs in one file;
#               PHASE.log, PHASE-layout.fio: a recording that fio replays, and its files

set -u
LC_ALL=C
export LC_ALL
tab=$(printf '\t')
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 3
out=out
blocks=0
destroys=0
failed=0
fio_pid=
iostat_pid=
unfinished=
out_made=

usage() {
    cat <<'END'
Usage: ./run.sh [OPTIONS] ARM=PATH...

Repeats the trials, using the given path for each arm. In a directory, the script
creates a new folder and removes it at the end. It never writes to a file or block
device that you name, unless the job writes and --destroy names it.

  --out DIR       new directory for the results (default: out)
  --blocks N      run only the first N blocks: faster, but less certain
  --destroy PATH  allow overwriting this file or block device; repeatable
  --help          print this help

Exit codes: 0 success, 1 trials failed, 2 usage error, 3 cannot run on this
machine, 130 interrupted.

Arms and their original targets:
END
    while IFS=$tab read -r id rest; do
        printf '  %s=PATH\t(%s)\n' "$id" "$rest"
    done <"$here/arms.txt"
}

fail() {
    code=$1
    shift
    printf 'run.sh: %s\n' "$*" >&2
    exit "$code"
}

# The line number of an arm in arms.txt. Paths may contain any character, so they are kept in
# variables with this number in their names.
number_of() {
    arm=$1 awk -F '\t' '$1 == ENVIRON["arm"] { print NR; exit }' "$here/arms.txt"
}

absolute() {
    case $1 in
    /*) printf '%s' "$1" ;;
    *) printf '%s/%s' "$PWD" "$1" ;;
    esac
}

set_target() {
    number=$(number_of "$1")
    [ -n "$number" ] || fail 2 "unknown arm '$1'; see --help"
    eval "target_$number=\$2"
}

parse() {
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help)
            usage
            exit 0
            ;;
        --out | --blocks | --destroy)
            [ $# -ge 2 ] || fail 2 "$1 needs a value"
            case $1 in
            --out) out=$2 ;;
            --blocks) blocks=$2 ;;
            *)
                destroys=$((destroys + 1))
                eval "destroy_$destroys=\$2"
                ;;
            esac
            shift
            ;;
        -*) fail 2 "unknown option '$1'; see --help" ;;
        *=*) set_target "${1%%=*}" "${1#*=}" ;;
        *) fail 2 "'$1' is not ARM=PATH; see --help" ;;
        esac
        shift
    done
    case $blocks in
    '' | *[!0-9]*) fail 2 "--blocks needs a number" ;;
    esac
}

may_destroy() {
    n=1
    while [ "$n" -le "$destroys" ]; do
        eval "named=\$destroy_$n"
        # shellcheck disable=SC2154 # set by eval
        [ "$named" = "$1" ] && return 0
        n=$((n + 1))
    done
    return 1
}

# Checks that the target can be used and that no data would be lost, before creating anything.
check_target() {
    number=$1
    eval "path=\${target_$number-}"
    [ -n "$path" ] || fail 2 "no path for arm '$2'; see --help"
    if [ -d "$path" ]; then
        [ -w "$path" ] || fail 3 "cannot write to $path"
        needed=$(awk -F '\t' '$3 > most { most = $3 } END { printf "%.0f", most / 1024 + 1024 }' \
            "$here/phases.txt")
        free=$(df -Pk -- "$path" | awk 'NR == 2 { print $4 }')
        case $free in
        '' | *[!0-9]*) ;;
        *)
            [ "$free" -ge "$needed" ] ||
                fail 3 "$path has only $free KiB free; the files need $needed KiB"
            ;;
        esac
        eval "kind_$number=directory"
    elif [ -f "$path" ] || [ -b "$path" ]; then
        while IFS=$tab read -r phase rest; do
            [ -f "$here/jobs/$phase-file.fio" ] ||
                fail 3 "phase $phase replays a recording of several files, which needs a" \
                    "directory; $path is not one"
        done <"$here/phases.txt"
        if grep -q "^[^$tab]*${tab}yes$tab" "$here/phases.txt"; then
            may_destroy "$path" ||
                fail 3 "the jobs write, so all data on $path would be lost;" \
                    "use a directory, or add --destroy $path"
        fi
        eval "kind_$number=file"
    else
        fail 3 "$path is not a directory, file or block device"
    fi
    path=$(absolute "$path")
    eval "target_$number=\$path"
}

# Creates a directory for each arm, in which fio runs, so that job files need no user paths.
make_place() {
    number=$1
    eval "path=\$target_$number kind=\$kind_$number"
    # shellcheck disable=SC2154 # set by eval
    if [ "$kind" = directory ]; then
        place=$path/iotax-repro.$$.$number
    else
        place=$out/iotax-repro.$$.$number
    fi
    mkdir -- "$place" || fail 3 "cannot create $place"
    eval "place_$number=\$place"
    [ "$kind" = directory ] || ln -s -- "$path" "$place/target"
}

capacity() {
    if [ -f "$1" ]; then
        wc -c <"$1"
    else
        # The size is in sectors of 512 bytes. stat prints the device numbers in hexadecimal.
        sectors=
        device=$(stat -L -c '0x%t 0x%T' -- "$1")
        major=$((${device% *}))
        minor=$((${device#* }))
        read -r sectors <"/sys/dev/block/$major:$minor/size" || sectors=0
        printf '%s\n' "$((sectors * 512))"
    fi
}

# Sets SIZE_n, OFFSET_n and INCREMENT_n of each job n of a phase in one file. If there is room, all
# jobs have separate regions; otherwise the threads of each job; otherwise all use the whole file.
place_jobs() {
    eval "$(awk -v capacity="$2" '
        { n = $1; size[n] = $2; start[n] = $3; step[n] = $4; threads[n] = $5; offset[n] = $6
          end = $3 + ($4 > 0 ? $4 * $5 : $2 + $6)
          if (end > all) all = end }
        END {
            for (n = 1; n in size; n++) {
                at = start[n]; by = step[n]
                if (all > capacity) at = 0
                if (at + by * threads[n] > capacity) by = 0
                at += offset[n]
                room = int((capacity - at) / 4096) * 4096
                if (size[n] > room) size[n] = room
                printf "SIZE_%d=%.0f OFFSET_%d=%.0f INCREMENT_%d=%.0f;", \
                    n, size[n], n, at, n, by
                printf "export SIZE_%d OFFSET_%d INCREMENT_%d;", n, n, n
            }
        }' "$here/jobs/$1.spans")"
}

run_fio() {
    number=$1
    phase=$2
    shift 2
    eval "kind=\$kind_$number place=\$place_$number path=\$target_$number"
    if [ "$kind" = file ]; then
        place_jobs "$phase" "$(capacity "$path")"
        set -- --allow_file_create=0 "$@"
        grep -q "^$phase${tab}no$tab" "$here/phases.txt" && set -- --readonly "$@"
    fi
    (cd -- "$place" && exec fio "$@" "$here/jobs/$phase-$kind.fio") \
        </dev/null >>"$out/log.txt" 2>&1 &
    fio_pid=$!
    # In the background: a shell handles signals while it waits, but not while a program runs.
    wait "$fio_pid"
    status=$?
    fio_pid=
    return "$status"
}

# Creates the files of a recording as they were at its start. Each replay changes them.
lay_out_recording() {
    number=$1
    phase=$2
    eval "kind=\$kind_$number place=\$place_$number"
    # shellcheck disable=SC2154 # set by eval
    ln -sf -- "$here/jobs/$phase.log" "$place/replay-$phase.log" || return 1
    [ "$kind" = directory ] || return 0
    rm -f -- "$place"/f[0-9]*
    [ -f "$here/jobs/$phase-layout.fio" ] || return 0
    (cd -- "$place" && exec fio "$here/jobs/$phase-layout.fio") </dev/null >>"$out/log.txt" 2>&1 &
    fio_pid=$!
    wait "$fio_pid"
    status=$?
    fio_pid=
    return "$status"
}

lay_out() {
    while IFS=$tab read -r id rest; do
        number=$(number_of "$id")
        eval "kind=\$kind_$number"
        [ "$kind" = directory ] || continue
        printf 'creating the files for %s\n' "$id"
        while IFS=$tab read -r phase rest; do
            # Before each of its trials.
            [ ! -f "$here/jobs/$phase.log" ] || continue
            run_fio "$number" "$phase" --create_only=1 ||
                fail 3 "fio cannot create the files for $id; see $out/log.txt"
        done <"$here/phases.txt"
    done <"$here/arms.txt"
}

folder_of() {
    phase=$1 awk -F '\t' '$1 == ENVIRON["phase"] { print $4; exit }' "$here/phases.txt"
}

trial() {
    block=$1 phase=$2 arm=$3 seed=$4
    folder=$(folder_of "$phase")
    case $folder in
    .) folder=$out ;;
    *) folder=$out/$folder ;;
    esac
    [ -d "$folder" ] || mkdir -- "$folder"
    if [ -f "$here/jobs/$phase.log" ]; then
        lay_out_recording "$(number_of "$arm")" "$phase" ||
            fail 3 "fio cannot create the files for $arm; see $out/log.txt"
    fi
    # fio drops clean cached pages before a job, but not dirty ones. Without sync, a new file would
    # be read from memory.
    sync
    unfinished=$folder/$arm-$(printf '%03d' "$block")
    if [ -n "$has_iostat" ]; then
        iostat -mxt 1 </dev/null >"$unfinished.iostat.txt" 2>&1 &
        iostat_pid=$!
    fi
    run_fio "$(number_of "$arm")" "$phase" --randseed="$seed" --output-format=json+ \
        --output="$unfinished.json"
    status=$?
    end_iostat
    if [ "$status" -ne 0 ]; then
        failed=$((failed + 1))
        printf 'run.sh: fio failed with exit code %s; see %s/log.txt\n' "$status" "$out" >&2
        [ ! -e "$unfinished.json" ] || mv -- "$unfinished.json" "$unfinished.json.failed"
    fi
    unfinished=
}

end_iostat() {
    [ -n "$iostat_pid" ] || return 0
    kill "$iostat_pid" 2>/dev/null
    wait "$iostat_pid" 2>/dev/null
    iostat_pid=
}

remove_places() {
    n=1
    while [ "$n" -le "$arms" ]; do
        eval "place=\${place_$n-}"
        case $place in
        */iotax-repro."$$"."$n") rm -rf -- "$place" ;;
        esac
        n=$((n + 1))
    done
}

# Stops and discards the running trial; keeps completed ones.
stop() {
    trap '' INT TERM HUP
    if [ -n "$fio_pid" ]; then
        kill -TERM "$fio_pid" 2>/dev/null
        waited=0
        # A finished fio remains a zombie until the shell waits for it.
        while [ "$waited" -lt 15 ] && grep -q '^State:[[:space:]]*[^Z[:space:]]' \
            "/proc/$fio_pid/status" 2>/dev/null; do
            sleep 1
            waited=$((waited + 1))
        done
        kill -KILL "$fio_pid" 2>/dev/null
        wait "$fio_pid" 2>/dev/null
    fi
    end_iostat
    if [ -n "$unfinished" ]; then
        rm -f -- "$unfinished.json" "$unfinished.iostat.txt"
    fi
    remove_places
    if [ -n "$out_made" ] && ! find "$out" -name '*.json' | grep -q .; then
        rm -rf -- "$out"
    fi
    trap - EXIT
    printf 'run.sh: interrupted; the files created on the targets have been removed\n' >&2
    exit 130
}

# Prints the figures of one result. Lines: R arm job direction iops MiB/s mean I/Os;
# B arm job bin count.
figures() {
    awk -v arm="$1" '
        $1 == "\"jobname\"" { job = $3; gsub(/[",]/, "", job); key = arm " " job }
        /"(read|write)" : \{/ { way = $1; gsub(/"/, "", way); block = ""; iops = bw = ios = 0 }
        /"(trim|sync|mixed)" : \{/ { way = "" }
        way == "" { next }
        /"clat_ns" : \{/ { block = "clat" }
        /"(slat_ns|lat_ns)" : \{/ { block = "other" }
        /"bins" : \{/ { in_bins = 1; next }
        /\}/ { in_bins = 0 }
        in_bins && block == "clat" { gsub(/[",]/, ""); print "B", key, $1, $3; next }
        block == "" && $1 == "\"iops\"" { iops = $3 + 0 }
        block == "" && $1 == "\"bw_bytes\"" { bw = $3 / 1048576 }
        block == "clat" && $1 == "\"mean\"" { mean = $3 + 0 }
        block == "clat" && $1 == "\"N\"" { print "R", key, way, iops, bw, mean, $3 + 0 }
    ' "$2"
}

# Rates are means of the trials. Latencies are of all I/Os of all trials together.
summarise() {
    points=$out/iotax-repro.points
    while IFS=$tab read -r phase writes bytes folder name; do
        : >"$points"
        : "$writes" "$bytes"
        while IFS=$tab read -r arm rest; do
            for result in "$out/$folder/$arm"-[0-9][0-9][0-9]*.json; do
                [ ! -e "$result" ] || { printf 'T %s\n' "$arm" && figures "$arm" "$result"; }
            done
        done <"$here/arms.txt" >>"$points"
        [ -s "$points" ] || continue
        printf '\n%s (phase %s)\n' "$name" "$phase"
        { grep -v '^B' "$points"; grep '^B' "$points" | sort -k2,2 -k3,3 -k4,4n; } | awk '
            function quantile(key, q,   n) {
                for (n = 1; n <= bins[key]; n++)
                    if (upto[key, n] >= q * upto[key, bins[key]]) return at[key, n] / 1000
                return 0
            }
            $1 == "T" { trials[$2]++; next }
            $1 == "R" {
                key = $2 " " $3
                if (!(key in ios)) { order[++keys] = key; arm[key] = $2; job[key] = $3 }
                iops[key] += $5; bw[key] += $6; sum[key] += $7 * $8; ios[key] += $8
                next
            }
            {
                key = $2 " " $3; n = ++bins[key]
                at[key, n] = $4; upto[key, n] = upto[key, n - 1] + $5
            }
            END {
                printf "%-20s %-14s %6s %10s %9s %10s %10s %10s\n", "arm", "job", "trials", \
                    "IOPS", "MiB/s", "avg us", "p99 us", "p99.9 us"
                for (k = 1; k <= keys; k++) {
                    key = order[k]; n = trials[arm[key]]
                    printf "%-20s %-14s %6d %10.0f %9.1f", arm[key], job[key], n, \
                        iops[key] / n, bw[key] / n
                    if (ios[key] == 0) { printf " %10s %10s %10s\n", "-", "-", "-"; continue }
                    printf " %10.1f %10.1f %10.1f\n", sum[key] / ios[key] / 1000, \
                        quantile(key, 0.99), quantile(key, 0.999)
                }
            }'
    done <"$here/phases.txt"
    rm -f -- "$points"
}

# For users of iotax: one command per phase, to be run in the results directory.
comparisons() {
    while IFS=$tab read -r phase writes bytes folder name; do
        printf 'iotax compare'
        while IFS=$tab read -r arm rest; do
            sign="$arm="
            for result in "$out/$folder/$arm"-[0-9][0-9][0-9]*.json; do
                [ -e "$result" ] || continue
                printf '%s' " $sign$folder/${result##*/}" | sed -e 's|\./||' -e 's|^ ,|,|'
                sign=,
            done
        done <"$here/arms.txt"
        printf '\n'
    done <"$here/phases.txt"
}

parse "$@"
command -v fio >/dev/null || fail 3 "fio is not installed"
has_iostat=$(command -v iostat) ||
    printf 'run.sh: iostat (sysstat) is not installed; continuing without it\n' >&2
arms=$(awk 'END { print NR }' "$here/arms.txt")
while IFS=$tab read -r id rest; do
    check_target "$(number_of "$id")" "$id"
done <"$here/arms.txt"
out=$(absolute "$out")
if [ -e "$out" ] || [ -L "$out" ]; then
    fail 3 "$out already exists; choose another directory with --out"
fi
trap stop INT TERM HUP PIPE
trap remove_places EXIT
mkdir -- "$out" || fail 3 "cannot create $out"
out_made=yes
fio --version >"$out/fio-version.txt"
while IFS=$tab read -r id rest; do
    make_place "$(number_of "$id")"
done <"$here/arms.txt"
lay_out

total=$(awk -v blocks="$blocks" 'blocks == 0 || $1 <= blocks { n++ } END { print n + 0 }' \
    "$here/order.txt")
count=0
while read -r block phase arm seed; do
    [ "$blocks" -eq 0 ] || [ "$block" -le "$blocks" ] || continue
    count=$((count + 1))
    printf 'trial %s of %s: block %s, phase %s, %s\n' "$count" "$total" "$block" "$phase" "$arm"
    trial "$block" "$phase" "$arm" "$seed"
done <"$here/order.txt"

summarise | tee "$out/summary.txt"
comparisons >"$out/compare.txt"
printf '\nResults: %s\nCompare its summary.txt with expected.txt of this bundle.\n' "$out"
[ "$failed" -eq 0 ] || fail 1 "$failed of $total trials failed"
