use std::io;
use std::path::PathBuf;

use iotax_layers::blame::{Blame, Fault};
use iotax_quantity::span;

/// Why a recording cannot be made, or was cut short.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "recording needs {}; run iotax capture as root, or grant both with \
         setcap cap_bpf,cap_perfmon+ep on the iotax binary", .missing.join(" and ")
    )]
    Rights { missing: Vec<&'static str> },
    #[error(
        "this kernel does not describe its types (/sys/kernel/btf/vmlinux is missing), so its \
         events cannot be read; use a kernel built with CONFIG_DEBUG_INFO_BTF, or trace with \
         strace -f -ttt -T -y -o FILE COMMAND and convert it: iotax capture import FILE -o app.iotx"
    )]
    NoBtf,
    #[error("the kernel refuses the BPF program `{program}`: {why}")]
    Refused { program: String, why: String },
    #[error("the kernel has no tracepoint for {what}; a kernel from 5.10 on has it")]
    NoTracepoint { what: &'static str },
    #[error("there is no process {pid}")]
    NoProcess { pid: u32 },
    #[error("control group {} has no processes", path.display())]
    EmptyGroup { path: PathBuf },
    #[error("there is no control group {}: {source}", path.display())]
    NoGroup { path: PathBuf, source: io::Error },
    #[error("systemd has no running unit `{unit}`")]
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
        "no I/O was recorded in {}: the program did none that reached the kernel",
        span(*seconds)
    )]
    Nothing { seconds: u64 },
    #[error("{0}")]
    Trace(#[from] iotax_trace::Error),
    #[error("cannot read the kernel's events: {0}")]
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
