use std::io;
use std::path::PathBuf;

use iotax_layers::blame::{Blame, Fault};
use iotax_quantity::{bytes, count, span};
use iotax_trace::Kept;

/// Why recording failed or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "recording needs {}; run iotax capture as root, or grant it with: \
         setcap cap_bpf,cap_perfmon+ep $(command -v iotax); to record your own programs \
         without these capabilities, pass --strace", .missing.join(" and ")
    )]
    Rights { missing: Vec<&'static str> },
    #[error(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing); use a kernel built with \
         CONFIG_DEBUG_INFO_BTF=y, or pass --strace, which slows the program down"
    )]
    NoBtf,
    #[error("the kernel rejected the BPF program `{program}`: {why}")]
    Refused { program: String, why: String },
    #[error("this kernel has no tracepoint `{what}`; use Linux 5.10 or newer")]
    NoTracepoint { what: &'static str },
    #[error("there is no process {pid}")]
    NoProcess { pid: u32 },
    #[error("cgroup {} has no processes", path.display())]
    EmptyGroup { path: PathBuf },
    #[error("cannot read cgroup {}: {source}", path.display())]
    NoGroup { path: PathBuf, source: io::Error },
    #[error(
        "no process on this machine belongs to container {id}; check that the container is \
         running here, and not in a VM (Kata Containers)"
    )]
    NoContainer { id: String },
    #[error(
        "several containers have an ID that begins with {id}, such as {other}; use a longer ID"
    )]
    SeveralContainers { id: String, other: String },
    #[error("systemd unit `{unit}` is not running; {}", running(units))]
    NoUnit { unit: String, units: Vec<String> },
    #[error(
        "several instances of systemd unit `{unit}` are running; choose one: --unit {}",
        units.join(", --unit ")
    )]
    SeveralUnits { unit: String, units: Vec<String> },
    #[error(
        "{} already exists, and iotax never overwrites results; choose another file with --out",
        path.display()
    )]
    Exists { path: PathBuf },
    #[error("cannot start {}: {source}", command.display())]
    Start { command: PathBuf, source: io::Error },
    #[error("cannot {act} {}: {source}", path.display())]
    File { act: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "no I/O was recorded in {}: the program made no I/O calls in that time; record it for \
         longer, or while it is under load",
        span(*seconds)
    )]
    Nothing { seconds: u64 },
    #[error("{0}")]
    Trace(#[from] iotax_trace::Error),
    #[error(
        "cannot write {}: {source}; {}", path.display(), saved(*kept)
    )]
    Cut { path: PathBuf, source: io::Error, kept: Kept },
    #[error(
        "--strace needs the program strace, which is not installed; install the package strace"
    )]
    NoStrace,
    #[error("cannot run strace: {0}")]
    RunStrace(io::Error),
    #[error("strace cannot trace the program: {why}")]
    Strace { why: String },
    #[error(
        "strace ended before the program; the recording contains what strace reported until then"
    )]
    StraceEnded,
    #[error("cannot use the output of strace: {0}")]
    Import(iotax_trace::import::ImportError),
    #[error("cannot wait for the command: {0}")]
    Wait(io::Error),
}

/// How much of a recording is left after a failure.
fn saved(kept: Kept) -> String {
    const REMEDY: &str = "free space, or choose a file on another disk with --out";
    if kept.events == 0 {
        return format!("nothing was saved; {REMEDY}");
    }
    format!(
        "the first {} ({}) of the recording are saved and can be used; to record more, {REMEDY}",
        count(kept.events, "event"),
        bytes(kept.bytes as f64)
    )
}

/// Units that the user may have meant, as many as can be read at a glance.
fn running(units: &[String]) -> String {
    const MOST: usize = 8;
    match units {
        [] => "check with systemctl status".to_owned(),
        _ if units.len() <= MOST => format!("running: {}", units.join(", ")),
        _ => format!("running: {} and {} more", units[..MOST].join(", "), units.len() - MOST),
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Exists { .. }
            | Self::NoProcess { .. }
            | Self::EmptyGroup { .. }
            | Self::NoGroup { .. }
            | Self::NoContainer { .. }
            | Self::SeveralContainers { .. }
            | Self::NoUnit { .. }
            | Self::SeveralUnits { .. } => Fault::Usage,
            Self::Start { source, .. } | Self::Cut { source, .. } | Self::File { source, .. } => {
                Fault::of_reading(source)
            }
            _ => Fault::Environment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_recording_says_what_is_left() {
        let cut = |events, bytes| Error::Cut {
            path: "app.iotx".into(),
            source: io::Error::from_raw_os_error(libc::ENOSPC),
            kept: Kept { events, bytes },
        };
        assert_eq!(
            cut(65_536, 317_440).to_string(),
            "cannot write app.iotx: No space left on device (os error 28); the first 65,536 events \
             (310 KiB) of the recording are saved and can be used; to record more, free space, or \
             choose a file on another disk with --out"
        );
        assert!(cut(0, 0).to_string().contains("nothing was saved; free space"));
    }

    #[test]
    fn many_units_are_not_all_named() {
        let units: Vec<String> = (0..10).map(|number| format!("{number}.service")).collect();
        assert!(running(&units).ends_with("7.service and 2 more"), "{}", running(&units));
    }
}
