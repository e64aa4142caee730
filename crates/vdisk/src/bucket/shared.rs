//! A bucket that the disks of a group share.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Weak};

use crossbeam_utils::CachePadded;

use super::{Bucket, RateLimit};
use crate::sync::{Mutex, PoisonError};

/// Parameters that all throttles of a group must share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Caps {
    pub(crate) iops: Option<RateLimit>,
    pub(crate) bw_bytes: Option<RateLimit>,
    pub(crate) io_unit_bytes: Option<NonZeroU64>,
    pub(crate) counts_reads: bool,
    pub(crate) counts_writes: bool,
}

/// A bucket and its caps.
pub(crate) struct SharedBucket {
    caps: Caps,
    bucket: CachePadded<Mutex<Bucket>>,
}

/// When an I/O came to a bucket, and when it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) arrival_ns: u64,
    pub(crate) passes_ns: u64,
}

impl SharedBucket {
    pub(crate) fn new(caps: Caps) -> Self {
        let bucket = Bucket::new(caps.iops, caps.bw_bytes).with_io_unit(caps.io_unit_bytes);
        Self { caps, bucket: CachePadded::new(Mutex::new(bucket)) }
    }

    /// Charges an I/O of `bytes` bytes that comes when `arrival_ns` is asked.
    pub(crate) fn admit(&self, bytes: u64, arrival_ns: impl FnOnce() -> u64) -> Passage {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that arrivals are in the order in which they are served.
        let arrival_ns = arrival_ns();
        Passage { arrival_ns, passes_ns: bucket.admit(arrival_ns, bytes) }
    }
}

/// The buckets of all groups that some open disk is in.
#[derive(Default)]
pub(crate) struct Groups(HashMap<String, Weak<SharedBucket>>);

impl Groups {
    /// The group's bucket: the one that some open disk holds, or a new one; `None` if that is one
    /// of other caps.
    pub(crate) fn join(&mut self, group: &str, caps: Caps) -> Option<Arc<SharedBucket>> {
        self.0.retain(|_, bucket| bucket.strong_count() > 0);
        if let Some(bucket) = self.0.get(group).and_then(Weak::upgrade) {
            return (bucket.caps == caps).then_some(bucket);
        }
        let bucket = Arc::new(SharedBucket::new(caps));
        self.0.insert(group.to_owned(), Arc::downgrade(&bucket));
        Some(bucket)
    }
}
