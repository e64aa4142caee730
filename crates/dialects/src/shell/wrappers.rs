//! Programs that run the program after them, and how they are treated.

/// How a program before a tool is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is left out, for this reason or with this effect.
    Dropped(&'static str),
    /// What it does to the tool (`%`), in words.
    Refused(&'static str, Way),
    /// The command is a text of its own: in the word after one of these options, or in the words
    /// after the shell.
    Shell(&'static [&'static str]),
    /// cmd's `start`: with an empty or quoted title; it does not wait unless told to.
    Start,
}

/// What to do instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// `NAME ... iotax run`.
    Under,
    /// Start iotax there.
    There,
    /// Run an agent of iotax there.
    Agent,
    Pod,
    /// `-n`, `--matrix`.
    Often,
    /// Leave it out.
    Without,
}

/// Programs that run another.
pub(super) struct Wrapper {
    /// Separated by blanks.
    names: &'static str,
    pub fate: Fate,
    /// Options whose value is the next word, unless it is part of the option.
    valued: &'static str,
    /// Number of words between its options and the program.
    pub words: usize,
}

impl Wrapper {
    /// Whether the word after this option is its value.
    pub(super) fn has_value(&self, option: &str) -> bool {
        self.valued.split(' ').any(|valued| valued == option)
    }
}

const fn wrapper(names: &'static str, fate: Fate, valued: &'static str, words: usize) -> Wrapper {
    Wrapper { names, fate, valued, words }
}

const ROOT: Fate = Fate::Dropped("start iotax itself as root if the target requires root");
const BOUND: Fate =
    Fate::Dropped("ignored; to use these CPUs or nodes, start iotax under this command");
const ORDER: Fate = Fate::Dropped("ignored; to use this priority, start iotax under this command");
const NOTHING: Fate = Fate::Dropped("ignored; this command does not affect the I/O");
const TRACED: Fate = Fate::Dropped("ignored; tracing would slow down the I/O");
const CONTAINER: Fate = Fate::Refused("runs % in a container, which iotax does not do", Way::There);
const POD: Fate = Fate::Refused("runs % in a pod, which `iotax run` does not do", Way::Pod);
const REMOTE: Fate =
    Fate::Refused("runs % on another machine, which iotax does not do", Way::Agent);
const OFTEN: Fate = Fate::Refused("runs % several times, which iotax does not do", Way::Often);
const INSIDE: Fate =
    Fate::Refused("changes %'s view of the machine, which iotax does not do", Way::Under);
const LIMITED: Fate = Fate::Refused("can limit %, which iotax does not do", Way::Under);
const WITHOUT_SYNC: Fate =
    Fate::Refused("disables %'s flushes, but iotax never disables flushes", Way::Without);
const COMMAND: Fate = Fate::Shell(&["-c", "--command"]);

/// All known wrappers.
static ALL: &[Wrapper] = &[
    wrapper(
        "sudo doas gosu pkexec run0",
        ROOT,
        "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot \
         --role --type --other-user",
        0,
    ),
    wrapper("time gtime", NOTHING, "-f -o --format --output", 0),
    wrapper("nice", ORDER, "-n --adjustment", 0),
    wrapper("ionice", ORDER, "-c -n --class --classdata", 0),
    wrapper("chrt", ORDER, "-T -P -D --sched-runtime --sched-period --sched-deadline", 1),
    wrapper("schedtool", ORDER, "-a -p -n", 0),
    wrapper("taskset", BOUND, "", 1),
    wrapper(
        "numactl",
        BOUND,
        "-i -N -m -C -p -P -w --interleave --cpunodebind --membind --physcpubind --preferred \
         --preferred-many --weighted-interleave",
        0,
    ),
    wrapper("stdbuf unbuffer", NOTHING, "-i -o -e --input --output --error", 0),
    wrapper(
        "timeout",
        Fate::Dropped("ignored; set the measured time with --time"),
        "-s -k --signal --kill-after",
        1,
    ),
    wrapper("env", NOTHING, "-u -C --unset --chdir", 0),
    wrapper("nohup setsid command builtin exec catchsegv busybox call", NOTHING, "-a", 0),
    wrapper("strace ltrace", TRACED, "-e -o -p -s -S -P -E -u -O -a -b -X -I", 0),
    wrapper("perf", TRACED, "-e -o -F -C -c -I -r -G -t --event --output --freq --call-graph", 1),
    wrapper("valgrind gdb rr", TRACED, "-ex", 0),
    wrapper("cgexec cgclassify systemd-run prlimit softlimit cpulimit trickle", LIMITED, "", 0),
    wrapper("chroot unshare nsenter ip firejail bwrap proot setpriv", INSIDE, "", 0),
    wrapper("eatmydata", WITHOUT_SYNC, "", 0),
    wrapper(
        "docker podman nerdctl ctr crictl lxc lxc-attach incus machinectl singularity apptainer \
         runc docker-compose toolbox distrobox",
        CONTAINER,
        "",
        0,
    ),
    wrapper("kubectl oc k3s microk8s", POD, "", 0),
    wrapper(
        "ssh sshpass mosh pdsh clush ansible salt psexec psexec64 adb srun mpirun mpiexec \
         invoke-command virsh vagrant multipass gcloud aws az wsl",
        REMOTE,
        "",
        0,
    ),
    wrapper("watch xargs parallel find for foreach while until seq repeat hyperfine", OFTEN, "", 0),
    wrapper(
        "if case function eval start-process start-job invoke-expression iex measure-command \
         select",
        Fate::Refused("needs a shell, but iotax does not run one", Way::Without),
        "",
        0,
    ),
    wrapper("bash sh dash zsh ksh ash fish su runuser script", COMMAND, "-o -O -s -g -u", 0),
    wrapper("cmd", Fate::Shell(&["/c", "/k", "/r"]), "", 0),
    wrapper(
        "powershell pwsh",
        Fate::Shell(&["-command", "-c", "/c", "/command"]),
        "-executionpolicy -ex -ep -version -windowstyle -w",
        0,
    ),
    wrapper("start", Fate::Start, "/d /affinity /node", 0),
];

/// Finds it by the name of a program, in lower case.
pub(super) fn wrapper_named(name: &str) -> Option<&'static Wrapper> {
    ALL.iter().find(|wrapper| wrapper.names.split(' ').any(|known| known == name))
}

// Commands that are published next to those of a tool, and how they are treated.

/// How a command that runs no tool is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    /// It is left out, for this reason.
    Dropped(&'static str),
    /// It waits for a time.
    Sleep,
    /// It waits for commands in the background.
    Wait,
    /// It is not run, which might matter, for this reason.
    Refused(&'static str),
}

pub(super) const OWN_WAY: &str = "ignored; iotax writes its own reports";
const PLACE: &str = "not run; TARGET determines where the files are";
const FILES: &str = "not run; iotax creates and removes its own test files";
pub(super) const SHELL: &str = "ignored; this command affects only the shell";
const DIRTY: &str = "not run; write back dirty pages before you start iotax";

/// Names of programs separated by blanks, and how they are treated.
static BESIDE: &[(&str, Beside)] = &[
    (
        "iostat vmstat mpstat sar pidstat dstat dool top htop iotop echo printf date write-host \
         write-output title color cls clear ls ll dir cat type head tail grep jq wc lsblk df du \
         free uptime uname hostname whoami id pwd which where lscpu lspci findmnt stat file tee \
         get-date get-content get-childitem get-disk get-physicaldisk systeminfo ver beep more \
         less ps mount-info",
        Beside::Dropped(OWN_WAY),
    ),
    ("mkdir md cd chdir pushd popd set-location new-item", Beside::Dropped(PLACE)),
    (
        "rm del erase rmdir rd unlink remove-item touch truncate fallocate fsutil chmod chown",
        Beside::Dropped(FILES),
    ),
    ("sync", Beside::Dropped(DIRTY)),
    (
        "set setlocal endlocal true : exit pause export unset trap ulimit umask shopt disown \
         read read-host source chcp return set-executionpolicy",
        Beside::Dropped(SHELL),
    ),
    ("sleep start-sleep timeout", Beside::Sleep),
    ("wait wait-job wait-process", Beside::Wait),
    ("goto shift", Beside::Refused("jumps within the script")),
    (
        "apt apt-get yum dnf apk zypper pacman brew choco winget pip",
        Beside::Dropped("not run; iotax does the I/O itself"),
    ),
    ("dd cp rsync robocopy", Beside::Refused("moves data")),
    (
        "mount umount mkfs cryptsetup mdadm lvcreate parted fdisk zfs zpool diskpart format \
         losetup modprobe blockdev sysctl hdparm nvme blkdiscard fstrim tuned-adm cpupower \
         systemctl service",
        Beside::Refused("changes the machine"),
    ),
];

/// Finds it by the name of a program, in lower case; for `mkfs.ext4`, by the part before the dot.
pub(super) fn beside_named(name: &str) -> Option<Beside> {
    let known =
        |name: &str| BESIDE.iter().find(|(names, _)| names.split(' ').any(|own| own == name));
    known(name).or_else(|| known(name.split('.').next().unwrap_or(name))).map(|(_, fate)| *fate)
}

/// How a command that writes to this file of the kernel is treated.
pub(super) fn of_kernel(target: &str) -> Option<Beside> {
    if target.ends_with("/drop_caches") {
        return Some(Beside::Dropped(
            "not run; iotax changes the page cache only for its test files",
        ));
    }
    ["/proc/", "/sys/", "/dev/"]
        .iter()
        .any(|place| target.starts_with(place))
        .then_some(Beside::Refused("changes the machine"))
        .filter(|_| !matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"))
}
