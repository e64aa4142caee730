use std::io;
use std::path::PathBuf;

use iotax_layers::blame::{Blame, Fault};
use iotax_quantity::span;

/// Why recording failed or stopped early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "recording needs {}; run iotax capture as root, or grant it with: \
         setcap cap_bpf,cap_perfmon+ep $(command -v iotax)", .missing.join(" and ")
    )]
    Rights { missing: Vec<&'static str> },
    #[error(
        "this kernel has no BTF (/sys/kernel/btf/vmlinux is missing); use a kernel built with \
         CONFIG_DEBUG_INFO_BTF=y, or trace with \
         strace -f -ttt -T -y -o FILE COMMAND and convert it: iotax capture import FILE -o app.iotx"
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
    #[error("systemd unit `{unit}` is not running; check with systemctl status")]
    NoUnit { unit: String },
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
    #[error("cannot read events from the BPF programs: {0}")]
    Ring(io::Error),
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::Exists { .. }
            | Self::NoProcess { .. }
            | Self::EmptyGroup { .. }
            | Self::NoGroup { .. }
            | Self::NoUnit { .. } => Fault::Usage,
            Self::Start { source, .. } | Self::File { source, .. } => Fault::of_reading(source),
            _ => Fault::Environment,
        }
    }
}
