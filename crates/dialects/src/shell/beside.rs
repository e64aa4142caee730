//! Commands that are published beside those of a tool, and what becomes of them.

/// What becomes of a command that runs no tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is left out; why.
    Dropped(&'static str),
    /// It waits so long.
    Sleep,
    /// It waits for those in the background.
    Wait,
    /// It is not run, which might matter; why.
    Refused(&'static str),
}

const OWN_WAY: &str = "iotax reports in its own way";
const PLACE: &str = "not run; TARGET says where the files are";
const FILES: &str = "not run; iotax makes its test files itself, and removes them";
const SHELL: &str = "it is about the shell itself";
const DIRTY: &str = "not run; let the machine write its dirty pages before you start iotax";

/// Programs with blanks between, and what becomes of them.
static ALL: &[(&str, Fate)] = &[
    (
        "iostat vmstat mpstat sar pidstat dstat dool top htop iotop echo printf date write-host \
         write-output title color cls clear ls ll dir cat type head tail grep jq wc lsblk df du \
         free uptime uname hostname whoami id pwd which where lscpu lspci findmnt stat file tee \
         get-date get-content get-childitem get-disk get-physicaldisk systeminfo ver beep more \
         less ps mount-info",
        Fate::Dropped(OWN_WAY),
    ),
    ("mkdir md cd chdir pushd popd set-location new-item", Fate::Dropped(PLACE)),
    (
        "rm del erase rmdir rd unlink remove-item touch truncate fallocate fsutil chmod chown",
        Fate::Dropped(FILES),
    ),
    ("sync", Fate::Dropped(DIRTY)),
    (
        "set setlocal endlocal true : exit pause export unset trap ulimit umask shopt disown \
         read read-host source chcp return set-executionpolicy",
        Fate::Dropped(SHELL),
    ),
    ("sleep start-sleep timeout", Fate::Sleep),
    ("wait wait-job wait-process", Fate::Wait),
    ("goto shift", Fate::Refused("jumps within the script")),
    (
        "apt apt-get yum dnf apk zypper pacman brew choco winget pip",
        Fate::Dropped("nothing is installed: iotax does the I/O itself"),
    ),
    ("dd cp rsync robocopy", Fate::Refused("moves data itself")),
    (
        "mount umount mkfs cryptsetup mdadm lvcreate parted fdisk zfs zpool diskpart format \
         losetup modprobe blockdev sysctl hdparm nvme blkdiscard fstrim tuned-adm cpupower \
         systemctl service",
        Fate::Refused("changes the machine"),
    ),
];

/// By a program's name, in lower case; of `mkfs.ext4` the part before the point.
pub(super) fn beside_named(name: &str) -> Option<Fate> {
    let known = |name: &str| ALL.iter().find(|(names, _)| names.split(' ').any(|own| own == name));
    known(name).or_else(|| known(name.split('.').next().unwrap_or(name))).map(|(_, fate)| *fate)
}

/// What becomes of a command that writes to this file of the kernel.
pub(super) fn of_kernel(target: &str) -> Option<Fate> {
    if target.ends_with("/drop_caches") {
        return Some(Fate::Dropped(
            "not run; iotax leaves the page cache alone, apart from the pages of its test files",
        ));
    }
    ["/proc/", "/sys/", "/dev/"]
        .iter()
        .any(|place| target.starts_with(place))
        .then_some(Fate::Refused("changes the machine"))
        .filter(|_| !matches!(target, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"))
}
