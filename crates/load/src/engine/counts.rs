//! What one thread counts of one kind of I/O.

use iotax_record::{DirectionRecord, LatencyHistogram};

/// Counters of one kind of I/O.
pub(crate) struct Counts {
    pub ios: u64,
    pub bytes: u64,
    pub errors: u64,
    pub short_ios: u64,
    pub service: LatencyHistogram,
    pub response: Option<LatencyHistogram>,
    per_second_ios: Vec<u32>,
    per_second_bytes: Vec<u64>,
    ios_at_second: u64,
    bytes_at_second: u64,
}

impl Counts {
    /// Room for so many seconds.
    pub(crate) fn new(seconds: usize, open_loop: bool) -> Self {
        Self {
            ios: 0,
            bytes: 0,
            errors: 0,
            short_ios: 0,
            service: LatencyHistogram::new(),
            response: open_loop.then(LatencyHistogram::new),
            per_second_ios: Vec::with_capacity(seconds),
            per_second_bytes: Vec::with_capacity(seconds),
            ios_at_second: 0,
            bytes_at_second: 0,
        }
    }

    /// Forgets what was counted before the window.
    pub(crate) fn reset(&mut self) {
        (self.ios, self.bytes, self.errors, self.short_ios) = (0, 0, 0, 0);
        (self.ios_at_second, self.bytes_at_second) = (0, 0);
        // A histogram is a quarter of a MiB; one that was never used is not even in memory.
        for histogram in [Some(&mut self.service), self.response.as_mut()].into_iter().flatten() {
            if histogram.count() > 0 {
                histogram.reset();
            }
        }
        self.per_second_ios.clear();
        self.per_second_bytes.clear();
    }

    /// The same within the window: its seconds so far count nothing.
    pub(crate) fn restart(&mut self) {
        let seconds = self.per_second_ios.len();
        self.reset();
        (0..seconds).for_each(|_| self.end_second());
    }

    /// What was counted since the last call is one second of the series.
    pub(crate) fn end_second(&mut self) {
        let ios = self.ios - self.ios_at_second;
        self.per_second_ios.push(u32::try_from(ios).unwrap_or(u32::MAX));
        self.per_second_bytes.push(self.bytes - self.bytes_at_second);
        (self.ios_at_second, self.bytes_at_second) = (self.ios, self.bytes);
    }

    /// The facts, moved out.
    pub(crate) fn take(&mut self) -> DirectionRecord {
        DirectionRecord {
            ios: self.ios,
            bytes: self.bytes,
            errors: self.errors,
            short_ios: self.short_ios,
            service: std::mem::take(&mut self.service),
            response: self.response.take(),
            per_second_ios: std::mem::take(&mut self.per_second_ios),
            per_second_bytes: std::mem::take(&mut self.per_second_bytes),
            fio_bins: Vec::new(),
            summary: None,
        }
    }
}
