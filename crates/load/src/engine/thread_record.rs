//! What one thread did.

use iotax_record::{DirectionRecord, LatencyHistogram, OperationRecord};

use super::OfFlow;
use super::counts::Counts;
use super::thread::Thread;
use super::usage::Usage;
use super::window::{Tally, Window};

/// What one thread did.
pub(crate) struct ThreadRecord {
    pub read: DirectionRecord,
    pub write: DirectionRecord,
    pub trim: Option<DirectionRecord>,
    pub sync: LatencyHistogram,
    pub usage: Usage,
    pub active: (u64, u64),
    pub in_flight_io_ns: u64,
    pub waiting_ns: u64,
    pub max_slip_ns: u64,
    pub offered_ios: Option<u64>,
    pub first_error: Option<String>,
    pub verify_mismatches: Option<u64>,
    pub found_depth: Option<u32>,
    /// On network paths only.
    pub flow: OfFlow,
    /// On trees of files only.
    pub operations: Vec<OperationRecord>,
}

impl ThreadRecord {
    /// The facts that were counted, and the first failure.
    pub(crate) fn of_tally(
        thread: &Thread<'_>,
        tally: &mut Tally<'_>,
        first_error: Option<String>,
        window: Window,
        start_ns: u64,
    ) -> Self {
        let active = tally.active;
        // Counted on a second copy of the schedule: the arrivals that the loop never got to are
        // offered too.
        let offered_ios = thread.schedule(start_ns).map(|mut schedule| {
            let before = schedule.count_before(window.open_ns);
            schedule.count_before(active.1.max(window.open_ns)) - before
        });
        let [read, write, trim, sync] = tally.counts.each_mut().map(Counts::take);
        Self {
            read,
            write,
            trim: thread.job.trims.map(|_| trim),
            sync: sync.service,
            usage: tally.usage,
            active,
            in_flight_io_ns: tally.in_flight_io_ns,
            waiting_ns: tally.waiting_ns,
            max_slip_ns: tally.max_slip_ns,
            offered_ios,
            first_error,
            verify_mismatches: None,
            found_depth: None,
            flow: OfFlow::default(),
            operations: Vec::new(),
        }
    }

    /// I/Os that were counted.
    pub(crate) fn ios(&self) -> u64 {
        let trims = self.trim.as_ref().map_or(0, |trim| trim.ios);
        self.read.ios + self.write.ios + trims
    }
}
