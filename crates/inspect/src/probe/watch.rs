//! Counters that are read twice, so that an old trouble is told from one of now.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use iotax_record::machine::{Counting, MountSeen};

use super::nfs::sent_again;
use crate::counters::{NfsMount, counter, nfs_mounts};

/// The first reading.
pub(super) struct Watch {
    began: Instant,
    first: Reading,
}

struct Reading {
    file_refaults: Option<u64>,
    nfs: Vec<NfsMount>,
}

impl Reading {
    fn now(has_nfs: bool) -> Self {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let nfs = if has_nfs { nfs_mounts(&text("/proc/self/mountstats")) } else { Vec::new() };
        Self { file_refaults: counter(&text("/proc/vmstat"), "workingset_refault_file"), nfs }
    }

    fn of(&self, mount: &MountSeen) -> Option<u64> {
        let is_it = |stats: &&NfsMount| stats.mount_point.to_str() == Some(&*mount.mount_point);
        self.nfs.iter().rev().find(is_it).map(sent_again)
    }
}

impl Watch {
    /// Reads for the first time.
    pub(super) fn begin(has_nfs: bool) -> Self {
        Self { began: Instant::now(), first: Reading::now(has_nfs) }
    }

    /// Reads again once `least` has passed, and tells how far the counters have come.
    pub(super) fn end<'a>(
        self,
        least: Duration,
        mounts: impl Iterator<Item = &'a mut MountSeen>,
    ) -> Counting {
        thread::sleep(least.saturating_sub(self.began.elapsed()));
        let watched = self.began.elapsed();
        let second = Reading::now(!self.first.nfs.is_empty());
        for mount in mounts {
            let more = self.first.of(mount).zip(second.of(mount));
            if let (Some(nfs), Some((before, after))) = (&mut mount.nfs, more) {
                nfs.sent_again_while_watched = Some(after.saturating_sub(before));
            }
        }
        let refaults = self.first.file_refaults.zip(second.file_refaults);
        Counting {
            up_s: up_s(),
            watched_ms: u64::try_from(watched.as_millis()).ok(),
            more_file_refaults: refaults.map(|(before, after)| after.saturating_sub(before)),
        }
    }
}

/// Seconds since boot, the first word of `/proc/uptime`: `350735.47 234388.90`.
pub(super) fn up_s() -> Option<u64> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    text.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_again_after_a_while() {
        let least = Duration::from_millis(20);
        let counting = Watch::begin(true).end(least, std::iter::empty());
        assert!(counting.watched_ms >= Some(20));
        assert!(counting.up_s > Some(0));
        // Kernels before 5.9 count anonymous pages and those of files together.
        let text = fs::read_to_string("/proc/vmstat").unwrap();
        assert_eq!(
            counting.more_file_refaults.is_some(),
            counter(&text, "workingset_refault_file").is_some()
        );
    }

    #[test]
    fn what_an_nfs_mount_sent_again_meanwhile_is_told_of_that_mount() {
        let of = |transmissions: u64| {
            nfs_mounts(&format!(
                "device s:/x mounted on /m with fstype nfs4 statvers=1.1\n\tage:\t7\n\
                 \tper-op statistics\n\tREAD: 10 {transmissions} 0 1 1 1 1 1\n"
            ))
        };
        let first = Reading { file_refaults: None, nfs: of(12) };
        let second = Reading { file_refaults: None, nfs: of(15) };
        let mount = MountSeen { mount_point: "/m".to_owned(), ..MountSeen::default() };
        assert_eq!((first.of(&mount), second.of(&mount)), (Some(2), Some(5)));
        assert_eq!(first.of(&MountSeen::default()), None);
    }
}
