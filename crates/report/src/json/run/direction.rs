//! Reads or writes of one job, all trials together.

use iotax_analyze::Spread;
use iotax_record::{DirectionRecord, LatencyHistogram};
use serde::Serialize;

use super::latency::Latency;

/// fio's `read`, `write` and `trim`.
#[derive(Serialize)]
pub(super) struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    /// Bytes per second.
    bw_bytes: u64,
    /// KiB per second.
    bw: u64,
    iops: f64,
    /// Milliseconds.
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    /// Submission alone is not measured: N is 0, as in fio with a synchronous engine.
    slat_ns: Latency,
    /// From submission.
    clat_ns: Latency,
    /// From the intended start; in a closed loop the same.
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
    /// Not in fio: I/Os that failed.
    errors: u64,
    /// Not in fio: CPU time of the job's threads per I/O, in nanoseconds; `null` without I/O. The
    /// threads of a job do both directions, so a mixed job has the same figure in both.
    cpu_ns_per_io: Option<f64>,
}

/// What is summed up before division.
#[derive(Default)]
pub(super) struct Sums {
    ios: u64,
    bytes: u64,
    errors: u64,
    short_ios: u64,
    active_ns: u64,
    pub(super) service: LatencyHistogram,
    response: LatencyHistogram,
    per_second_ios: Vec<u64>,
    per_second_kib: Vec<u64>,
}

impl Sums {
    pub(super) fn add(&mut self, direction: &DirectionRecord, active_ns: u64) {
        self.ios += direction.ios;
        self.bytes += direction.bytes;
        self.errors += direction.errors;
        self.short_ios += direction.short_ios;
        self.active_ns += active_ns;
        self.service.merge(&direction.service);
        self.response.merge(direction.latency());
        self.per_second_ios.extend(direction.per_second_ios.iter().map(|n| u64::from(*n)));
        self.per_second_kib.extend(direction.per_second_bytes.iter().map(|n| n / 1024));
    }

    pub(super) fn ios(&self) -> u64 {
        self.ios
    }

    /// `cpu_ns_per_io`: of the whole job.
    pub(super) fn finish(&self, cpu_ns_per_io: Option<f64>) -> Direction {
        let idle = self.ios == 0;
        let seconds = self.active_ns as f64 / 1e9;
        let per_second = |amount: u64| {
            if idle || seconds == 0.0 { 0.0 } else { amount as f64 / seconds }
        };
        let none: &[u64] = &[];
        let rates = Spread::of(if idle { none } else { &self.per_second_ios });
        let bandwidths = Spread::of(if idle { none } else { &self.per_second_kib });
        Direction {
            io_bytes: self.bytes,
            io_kbytes: self.bytes / 1024,
            bw_bytes: whole(per_second(self.bytes)),
            bw: whole(per_second(self.bytes)) / 1024,
            iops: per_second(self.ios),
            runtime: if idle { 0 } else { self.active_ns / 1_000_000 },
            total_ios: self.ios,
            short_ios: self.short_ios,
            drop_ios: 0,
            slat_ns: Latency::of(&LatencyHistogram::new()),
            clat_ns: Latency::of(&self.service),
            lat_ns: Latency::of(&self.response),
            bw_min: bandwidths.min,
            bw_max: bandwidths.max,
            bw_agg: if bandwidths.samples > 0 { 100.0 } else { 0.0 },
            bw_mean: bandwidths.mean,
            bw_dev: bandwidths.stddev,
            bw_samples: bandwidths.samples,
            iops_min: rates.min,
            iops_max: rates.max,
            iops_mean: rates.mean,
            iops_stddev: rates.stddev,
            iops_samples: rates.samples,
            errors: self.errors,
            cpu_ns_per_io: cpu_ns_per_io.filter(|_| !idle),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are positive")]
fn whole(value: f64) -> u64 {
    value as u64
}
