#!/usr/bin/env bash
# Which operations on files git does, and in which proportions, for a checkout, a status and a gc:
#     docs/measure/git-metadata.sh REPOSITORY
# Needs git, strace and awk. The presets git-checkout, git-status and git-gc have their weights
# from it. Works on a clone in a temporary directory; REPOSITORY is only read.
set -euo pipefail
repository=$(realpath "${1:?a git repository}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1

# Calls on paths inside the clone: those of the loader and of git's own files lie under / and do
# not count. fstat of an open file is no operation of its own, nor is a look at a path of "".
count() { # NAME COMMAND...
    local name=$1
    shift
    strace -f -qq -o "$work/trace" -e trace=file "$@" >/dev/null 2>&1
    awk -v name="$name" '
        # "pid call(AT_FDCWD, \"path\", flags) = result"
        !match($0, /"[^"]*"/) { next }
        { path = substr($0, RSTART + 1, RLENGTH - 2) }
        path == "" || path ~ /^\/(usr|lib|etc|proc|sys|dev|root|home)(\/|$)/ { next }
        /(open|openat)\(/ && /O_DIRECTORY/ { n["list"]++; next }
        /(open|openat)\(/ && /O_CREAT/ { n["create"]++; next }
        /(open|openat)\(/ { n["open"]++; next }
        /mkdir(at)?\(/ { n["create"]++; next }
        /(stat|lstat|newfstatat|statx|access|faccessat2?|readlink(at)?)\(/ { n["stat"]++; next }
        /(rename(at2?)?|link(at)?)\(/ && !/(unlink|symlink)/ { n["rename"]++ }
        # An object gets its name by link and unlink: together a rename.
        / link(at)?\(/ { n["delete"]-- }
        /(rename(at2?)?|link(at)?)\(/ && !/(unlink|symlink)/ { next }
        /(unlink(at)?|rmdir)\(/ { n["delete"]++; next }
        END {
            for (k in n) all += n[k]
            printf "%s (%d operations)", name, all
            split("create stat open list rename delete", order)
            for (i = 1; i <= 6; i++)
                printf "  %s %.1f %%", order[i], 100 * n[order[i]] / all
            print ""
        }' "$work/trace"
}

git clone -q --no-local --no-checkout "$repository" clone
cd clone
echo "files: $(git ls-tree -r HEAD | wc -l), in directories: $(git ls-tree -rd HEAD | wc -l)," \
    "mean bytes: $(git ls-tree -rl HEAD | awk '{ s += $4 } END { printf "%d", s / NR }')"
git reset -q --hard
# To another commit and back, in which every file differs.
git ls-files -z | xargs -0 -n 1 sh -c 'echo >>"$1"' sh
git -c user.name=x -c user.email=x@x commit -q -a -m other
count checkout git checkout -q HEAD~
# Files as young as the index would be opened as well.
sleep 1.1
git update-index -q --refresh
count status git status --porcelain
# A repository that grows object by object, until it is collected.
mv .git/objects/pack ../pack
count gc sh -c 'for pack in ../pack/*.pack; do git unpack-objects -q <"$pack"; done; git gc -q'
