//! What fio logs of each thread while it runs: the series of every second.
//!
//! fio makes the names of its logs itself, so they need a directory; but a killed run must leave
//! nothing behind. The directory is a file system in memory that is mounted nowhere: it is there
//! for as long as this process holds it, and fio reaches it through `/proc`. That takes root;
//! without it there is no series, and nothing else is missing.

use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;

use iotax_dialects::fio_write::Section;
use iotax_record::DirectionRecord;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount,
    fsopen,
};

use super::series::{Amounts, INTERVAL_MS, Sample};

/// Two lines per interval, direction and thread: half an hour of a hundred threads.
const MOST_BYTES: &str = "64m";

/// The logs of one run.
pub(super) struct Logs {
    directory: OwnedFd,
}

impl Logs {
    /// A place for logs; `None` for who may not have it.
    pub(super) fn new() -> Option<Self> {
        let make = || {
            let memory = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
            fsconfig_set_string(&memory, "mode", "0700")?;
            fsconfig_set_string(&memory, "size", MOST_BYTES)?;
            fsconfig_create(&memory)?;
            let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
            fsmount(&memory, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        };
        make().ok().map(|directory: OwnedFd| Self { directory })
    }

    /// As other processes of this user reach it.
    fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", std::process::id(), self.directory.as_raw_fd()).into()
    }

    /// Has a job logged, in a file for each thread.
    pub(super) fn ask(&self, section: &mut Section, job: usize) {
        let name = self.path().join(job.to_string()).display().to_string();
        section.set("write_iops_log", name.clone());
        section.set("write_bw_log", name);
        section.set("log_avg_msec", INTERVAL_MS.to_string());
        section.set("per_job_logs", "1");
    }

    /// Adds the series of a job to its reads, writes and trims. The job began `late_ns` after the window,
    /// which is so long.
    pub(super) fn add_to<'a>(
        &self,
        directions: impl Iterator<Item = &'a mut DirectionRecord>,
        job: usize,
        times: Times,
    ) {
        let (ios, kib) = (self.samples(job, "iops"), self.samples(job, "bw"));
        for (direction, record) in (0..).zip(directions) {
            let mut amounts = Amounts::new(times.late_ns, times.window_ns);
            for thread in &ios {
                amounts.add_ios(thread, direction);
            }
            let per_second = amounts.per_second().into_iter();
            record.per_second_ios =
                per_second.map(|ios| u32::try_from(ios).unwrap_or(u32::MAX)).collect();
            let mut amounts = Amounts::new(times.late_ns, times.window_ns);
            for thread in &kib {
                amounts.add_kib(thread, direction);
            }
            record.per_second_bytes = amounts.per_second();
        }
    }

    /// What was logged of each thread of a job, under the names that fio makes.
    fn samples(&self, job: usize, kind: &str) -> Vec<Vec<Sample>> {
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        let begin = format!("{job}_{kind}.");
        let is_wanted = |entry: &fs::DirEntry| {
            entry.file_name().to_str().is_some_and(|name| name.starts_with(&begin))
        };
        let texts = entries.filter(is_wanted).filter_map(|entry| fs::read(entry.path()).ok());
        texts.map(|text| Sample::all(&String::from_utf8_lossy(&text))).collect()
    }
}

/// Where the seconds of a job lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The job's own window opens so long after the trial's.
    pub late_ns: u64,
    /// The trial's.
    pub window_ns: u64,
}
