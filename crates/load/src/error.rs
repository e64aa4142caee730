//! Errors before or instead of a measurement. Failures of single I/Os are not errors here: they are
//! counted in the record.

use std::path::{Path, PathBuf};

use iotax_experiment::{Blame, Fault};
use iotax_quantity::size;
use iotax_vdisk::AvailableMemory;

use crate::target::{Peer, shown};

/// Why a load could not be prepared or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call on a path failed.
    #[error("cannot {action} {path}: {source}")]
    Path { action: &'static str, path: PathBuf, source: std::io::Error },
    /// The far end of a network path cannot be used.
    #[error("cannot use the peer {peer}: {source}")]
    Peer { peer: String, source: std::io::Error },
    /// The file system is too full for the test files.
    #[error(
        "not enough space in {path}: the test files need {wanted} more bytes, but only {available} \
         are free; free some space, or lower `size`"
    )]
    NoSpace { path: PathBuf, wanted: u64, available: u64 },
    /// An index to publish on a target without files.
    #[error(
        "{path} is a block device, but the workload publishes index versions as files; add a file \
         system such as ext4 to the stack, or choose a workload without an index"
    )]
    IndexOnDevice { path: PathBuf },
    /// The workload would write to a file or device that is not ours.
    #[error(
        "job `{job}` writes, but {path} is {what}, and iotax never writes to files or devices \
         named as targets; name a directory instead, or make the job read-only"
    )]
    WouldWrite { path: PathBuf, what: &'static str, job: String },
    /// A file of the same name as a test file was not laid out by iotax.
    #[error(
        "{path} exists and was not written by iotax, and job `{job}` would overwrite it; move it \
         away, or choose another directory"
    )]
    NotOurs { path: PathBuf, job: String },
    /// A file to be read, of the same name as a test file, was not laid out by iotax.
    #[error(
        "{path} exists, was not written by iotax, and has only {length} of the {wanted} bytes to \
         read; move it away, or lower `size`"
    )]
    TooShort { path: PathBuf, length: u64, wanted: u64 },
    /// The target holds less than one block.
    #[error(
        "job `{job}`: the largest block is {block_bytes} bytes, but the job can use only \
         {span_bytes} bytes of {target}; use smaller blocks or a larger target"
    )]
    SpanTooSmall { job: String, target: String, span_bytes: u64, block_bytes: u32 },
    /// Neither directory, regular file nor block device.
    #[error("{path} is not a valid target; name a directory, a regular file or a block device")]
    NoTarget { path: PathBuf },
    /// The file system does not support direct I/O.
    #[error(
        "job `{job}`: {path} cannot be opened with O_DIRECT: its file system does not support \
         direct I/O; set `direct = false`"
    )]
    DirectRefused { path: PathBuf, job: String },
    /// The job asks for something that cannot be done on this target.
    #[error("job `{job}`: {what}")]
    Unsuitable { job: String, what: String },
    /// The virtual disk cannot take the job.
    #[error("job `{job}` on {disk}: {source}")]
    Disk { job: String, disk: String, source: iotax_vdisk::Error },
    /// The kernel does not allow `io_uring`.
    #[error("job `{job}`: io_uring is not available: {source}; {advice}")]
    NoIoUring { job: String, source: std::io::Error, advice: &'static str },
    /// The kernel gives no context for its older asynchronous I/O.
    #[error(
        "job `{job}`: libaio is not available: {source}; raise the machine's limit (sysctl \
         fs.aio-max-nr), lower the queue depth, or use `engine = \"psync\"`"
    )]
    NoLibaio { job: String, source: std::io::Error },
    /// The target cannot be trimmed.
    #[error(
        "job `{job}`: {path} cannot be trimmed: {source}; choose a device that supports discard, a \
         file system that can punch holes in files, or a workload without trims"
    )]
    NoTrims { job: String, path: PathBuf, source: std::io::Error },
    /// The first version of the index could not be written or loaded.
    #[error(
        "cannot set up the search index: {source}; check that the target is writable and has room \
         for two versions of the index"
    )]
    Index { source: std::io::Error },
    /// Buffers of a workload need more memory than there is.
    #[error(
        "the workload's buffers need {} of memory (job `{job}`: threads {threads}, queue depth \
         {depth}, block size {}), but only {} is available{}; use `{fitting}`",
        size(*needed_bytes), size(*block_bytes), size(available.bytes), available.limit
    )]
    Buffers {
        /// The job with the most.
        job: String,
        threads: u64,
        /// I/Os that each of them keeps in flight.
        depth: u64,
        /// Its largest block.
        block_bytes: u64,
        /// Of all jobs.
        needed_bytes: u64,
        /// What there is.
        available: AvailableMemory,
        /// Options with which the job fits.
        fitting: String,
    },
    /// Memory for buffers could not be allocated.
    #[error(
        "cannot allocate {bytes} bytes of memory for I/O buffers: {source}; lower the block size, \
         the queue depth or the number of threads"
    )]
    Memory { bytes: u64, source: std::io::Error },
    /// A thread of the load panicked: a bug in this program.
    #[error("a thread of job `{job}` crashed (a bug in iotax): {message}")]
    Panicked { job: String, message: String },
    /// A thread could not be started.
    #[error("cannot start a thread for job `{job}`: {source}; use fewer threads")]
    Spawn { job: String, source: std::io::Error },
    /// A program that should drive the load is not installed.
    #[error(
        "cannot find the program {name}; install it (apt-get install {name}), or let iotax drive the \
         load itself (--engine native)"
    )]
    NoProgram { name: &'static str },
    /// A program could not be started, or watched.
    #[error("cannot run {program}: {source}")]
    Start { program: PathBuf, source: std::io::Error },
    /// A program that drives a load failed.
    #[error("{name} {what}{said}")]
    Program { name: &'static str, what: String, said: String },
    /// Only the native engines can do it.
    #[error("{why}, or use --engine native")]
    NotWithFio { why: String },
    /// A recording cannot be read.
    #[error("cannot read the recording {path}: {source}")]
    Trace { path: PathBuf, source: iotax_trace::Error },
    /// A recording lost too many events.
    #[error(
        "the recording {path} lost {lost} of {} events, more than 0.1 %; record fewer processes, or \
         replay it anyway with --allow-loss",
        events.saturating_add(*lost)
    )]
    TraceLoss {
        path: PathBuf,
        lost: u64,
        /// Events in the recording.
        events: u64,
    },
    /// Logs of another program cannot be imported.
    #[error("cannot import {paths}: {source}")]
    Import { paths: String, source: iotax_trace::import::ImportError },
    /// A recording cannot be replayed.
    #[error("cannot replay the recording {path}: {what}")]
    TraceUnfit { path: PathBuf, what: String },
    /// A recording cannot be replayed on this target.
    #[error("cannot replay the recording on {target}: {what}")]
    ReplayTarget { target: String, what: String },
    /// This machine does not allow a replay of that size.
    #[error("cannot replay the recording: {what}; {advice}")]
    ReplayNeeds { what: String, advice: String },
    /// The file system is too full for the files of a recording.
    #[error(
        "not enough space in {path}: the files of {} need {} more, but only {} is free; free some \
         space{}",
        if *copies == 1 { "the recording".to_owned() } else { format!("{copies} copies of the recording") },
        size(*wanted_bytes), size(*available_bytes),
        if *copies == 1 { "" } else { ", or use fewer copies (--copies)" }
    )]
    ReplaySpace { path: PathBuf, copies: u32, wanted_bytes: u64, available_bytes: u64 },
    /// The user stopped the preparation.
    #[error("interrupted while creating the test files")]
    Interrupted,
}

impl Error {
    pub(crate) fn unsuitable(job: &iotax_experiment::Job, what: impl Into<String>) -> Self {
        Self::Unsuitable { job: job.name.clone(), what: what.into() }
    }

    /// For `map_err`.
    pub fn cannot_read(path: &Path) -> impl Fn(std::io::Error) -> Self {
        let path = shown(path);
        move |source| Self::Path { action: "read", path: path.clone(), source }
    }

    pub(crate) fn path<S: Into<std::io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(S) -> Self + use<S> {
        let path = shown(path);
        move |source| Self::Path { action, path, source: source.into() }
    }

    /// For a recording that could not be read.
    pub(crate) fn trace(path: &Path) -> impl FnOnce(iotax_trace::Error) -> Self + use<> {
        let path = shown(path);
        |source| Self::Trace { path, source }
    }

    /// For a peer that could not be used.
    pub(crate) fn peer(peer: &Peer) -> impl FnOnce(std::io::Error) -> Self + use<> {
        let peer = peer.to_string();
        |source| Self::Peer { peer, source }
    }
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        match self {
            Self::IndexOnDevice { .. }
            | Self::WouldWrite { .. }
            | Self::NotOurs { .. }
            | Self::TooShort { .. }
            | Self::SpanTooSmall { .. }
            | Self::NoTarget { .. }
            | Self::DirectRefused { .. }
            | Self::Unsuitable { .. }
            | Self::TraceLoss { .. }
            | Self::TraceUnfit { .. }
            | Self::ReplayTarget { .. }
            | Self::NotWithFio { .. } => Fault::Usage,
            Self::Disk { source, .. } => source.fault(),
            Self::Import { source, .. } => source.fault(),
            Self::Path { .. }
            | Self::Peer { .. }
            | Self::NoSpace { .. }
            | Self::NoIoUring { .. }
            | Self::NoLibaio { .. }
            | Self::NoTrims { .. }
            | Self::Index { .. }
            | Self::Buffers { .. }
            | Self::Memory { .. }
            | Self::Spawn { .. }
            | Self::ReplayNeeds { .. }
            | Self::ReplaySpace { .. }
            | Self::NoProgram { .. }
            | Self::Start { .. }
            | Self::Trace { .. }
            | Self::Program { .. } => Fault::Environment,
            Self::Panicked { .. } => Fault::Bug,
            Self::Interrupted => Fault::Interrupted,
        }
    }

    fn wants_space(&self) -> bool {
        let space = matches!(self, Self::NoSpace { .. } | Self::ReplaySpace { .. });
        space || matches!(self, Self::SpanTooSmall { .. })
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn messages_say_what_where_and_what_to_do() {
        let source = || io::Error::from_raw_os_error(libc::ENOMEM);
        insta::assert_snapshot!(
            Error::DirectRefused { path: "/run/job.0".into(), job: "job".into() },
            @"job `job`: /run/job.0 cannot be opened with O_DIRECT: its file system does not support direct I/O; set `direct = false`"
        );
        insta::assert_snapshot!(
            Error::Memory { bytes: 4096, source: source() },
            @"cannot allocate 4096 bytes of memory for I/O buffers: Cannot allocate memory (os error 12); lower the block size, the queue depth or the number of threads"
        );
        insta::assert_snapshot!(
            Error::Panicked { job: "job".into(), message: "overflow".into() },
            @"a thread of job `job` crashed (a bug in iotax): overflow"
        );
        insta::assert_snapshot!(
            Error::Spawn { job: "job".into(), source: source() },
            @"cannot start a thread for job `job`: Cannot allocate memory (os error 12); use fewer threads"
        );
        insta::assert_snapshot!(
            Error::NoIoUring { job: "job".into(), source: source(), advice: "use it less" },
            @"job `job`: io_uring is not available: Cannot allocate memory (os error 12); use it less"
        );
        insta::assert_snapshot!(
            Error::NoLibaio { job: "job".into(), source: source() },
            @r#"job `job`: libaio is not available: Cannot allocate memory (os error 12); raise the machine's limit (sysctl fs.aio-max-nr), lower the queue depth, or use `engine = "psync"`"#
        );
        insta::assert_snapshot!(
            Error::NoTrims { job: "job".into(), path: "/dev/sda".into(), source: source() },
            @"job `job`: /dev/sda cannot be trimmed: Cannot allocate memory (os error 12); choose a device that supports discard, a file system that can punch holes in files, or a workload without trims"
        );
        insta::assert_snapshot!(
            Error::Index { source: source() },
            @"cannot set up the search index: Cannot allocate memory (os error 12); check that the target is writable and has room for two versions of the index"
        );
        insta::assert_snapshot!(
            Error::path("open", Path::new("/data"))(source()),
            @"cannot open /data: Cannot allocate memory (os error 12)"
        );
        insta::assert_snapshot!(
            Error::Peer { peer: "tcp://192.0.2.2:7474".into(), source: source() },
            @"cannot use the peer tcp://192.0.2.2:7474: Cannot allocate memory (os error 12)"
        );
        insta::assert_snapshot!(Error::NoProgram { name: "fio" }, @"cannot find the program fio; install it (apt-get install fio), or let iotax drive the load itself (--engine native)");
        insta::assert_snapshot!(
            Error::Start { program: "/usr/bin/fio".into(), source: source() },
            @"cannot run /usr/bin/fio: Cannot allocate memory (os error 12)"
        );
        insta::assert_snapshot!(
            Error::Program { name: "fio", what: "failed (exit status: 1)".into(), said: ": no space".into() },
            @"fio failed (exit status: 1): no space"
        );
        insta::assert_snapshot!(
            Error::NotWithFio { why: "fio cannot drive mem: name a path".into() },
            @"fio cannot drive mem: name a path, or use --engine native"
        );
        insta::assert_snapshot!(
            Error::Interrupted,
            @"interrupted while creating the test files"
        );
    }

    #[test]
    fn each_error_knows_whose_doing_it_is() {
        let io = || io::Error::from_raw_os_error(libc::ENOMEM);
        let (job, disk) = (|| "job".to_owned(), || "mem".to_owned());
        let on_disk = |source| Error::Disk { job: job(), disk: disk(), source };
        let path = || PathBuf::from("/data");
        let message = job();
        let table = [
            (Error::NoTarget { path: path() }, Fault::Usage),
            (Error::DirectRefused { path: path(), job: job() }, Fault::Usage),
            (on_disk(iotax_vdisk::Error::Depth { depth: 0, max: 1 }), Fault::Usage),
            (on_disk(iotax_vdisk::Error::NoFuse { source: io() }), Fault::Environment),
            (Error::Memory { bytes: 1, source: io() }, Fault::Environment),
            (Error::NoProgram { name: "fio" }, Fault::Environment),
            (Error::Panicked { job: job(), message }, Fault::Bug),
            (Error::Interrupted, Fault::Interrupted),
        ];
        for (error, fault) in table {
            assert_eq!(error.fault(), fault, "{error}");
        }
    }
}
