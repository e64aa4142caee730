//! A job's reads, writes and trims together.

use std::borrow::Cow;

use crate::histogram::LatencyHistogram;
use crate::trial::{DirectionRecord, JobRecord};

impl JobRecord {
    /// Its reads, its writes, and its trims if it has any.
    pub fn directions(&self) -> impl Iterator<Item = &DirectionRecord> {
        [&self.read, &self.write].into_iter().chain(&self.trim)
    }

    /// I/Os completed in the window.
    pub fn ios(&self) -> u64 {
        self.sum(|direction| direction.ios)
    }

    /// Bytes moved, or trimmed, in the window.
    pub fn bytes(&self) -> u64 {
        self.sum(|direction| direction.bytes)
    }

    /// I/Os that failed in the window.
    pub fn errors(&self) -> u64 {
        self.sum(|direction| direction.errors)
    }

    /// I/Os that moved less than requested in the window.
    pub fn short_ios(&self) -> u64 {
        self.sum(|direction| direction.short_ios)
    }

    fn sum(&self, of: fn(&DirectionRecord) -> u64) -> u64 {
        self.directions().map(of).fold(0, u64::saturating_add)
    }

    /// [`DirectionRecord::latency_from`] for all directions; copies only if there are several.
    pub fn latency_from(&self, submission: bool) -> Cow<'_, LatencyHistogram> {
        let all = self.directions().map(|part| part.latency_from(submission));
        let mut used = all.filter(|latency| latency.count() > 0);
        let Some(first) = used.next() else {
            return Cow::Borrowed(self.read.latency_from(submission));
        };
        used.fold(Cow::Borrowed(first), |mut sum, more| {
            sum.to_mut().merge(more);
            sum
        })
    }

    /// I/Os completed per whole second of the window.
    pub fn per_second_ios(&self) -> Vec<u32> {
        let mut sums = Vec::new();
        for direction in self.directions() {
            let series = &direction.per_second_ios;
            sums.resize(series.len().max(sums.len()), 0_u32);
            sums.iter_mut().zip(series).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        sums
    }
}
