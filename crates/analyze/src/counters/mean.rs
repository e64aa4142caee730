//! Means of figures, field by field.

use super::figures::{
    CpuFigures, DeviceFigures, DirectionFigures, MemoryFigures, NfsClientFigures, NfsFigures,
    NfsTransportFigures, StallFigures,
};
use super::interfaces::{InterfaceFigures, QdiscFigures, WayFigures};

/// Figures that are rates, or means per operation.
pub(super) trait Figures: Copy + Default {
    /// Every figure.
    fn each(&mut self, visit: &mut dyn FnMut(&mut f64));

    /// Every figure that is a mean per operation, with how many operations there were per second.
    /// Trials that did little say little of it: what is summed is the rate of its total.
    fn each_per_operation(&mut self, _visit: &mut dyn FnMut(&mut f64, f64)) {}
}

/// The mean over all, of trials of equal length; `None` of none.
pub(super) fn mean<T: Figures>(all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut sum = T::default();
    let mut n = 0_u32;
    for mut figures in all {
        figures.each_per_operation(&mut |value, per_s| *value *= per_s);
        let mut values = Vec::new();
        figures.each(&mut |value| values.push(*value));
        let mut values = values.into_iter();
        sum.each(&mut |total| *total += values.next().unwrap_or(0.0));
        n += 1;
    }
    sum.each(&mut |total| *total /= f64::from(n));
    sum.each_per_operation(&mut |total, per_s| {
        *total = if per_s > 0.0 { *total / per_s } else { 0.0 }
    });
    (n > 0).then_some(sum)
}

impl Figures for f64 {
    fn each(&mut self, visit: &mut dyn FnMut(&mut f64)) {
        visit(self);
    }
}

macro_rules! figures {
    ($($type:ident { $($field:ident),* $(,)? } $([$per_operation:ident])?)*) => {
        $(impl Figures for $type {
            fn each(&mut self, visit: &mut dyn FnMut(&mut f64)) {
                $(self.$field.each(visit);)*
            }

            $(fn each_per_operation(&mut self, visit: &mut dyn FnMut(&mut f64, f64)) {
                $per_operation(self, visit);
            })?
        })*
    };
}

figures! {
    CpuFigures {
        user_percent, nice_percent, system_percent, iowait_percent, steal_percent, idle_percent,
        interrupt_percent,
    }
    StallFigures { some_percent, full_percent }
    MemoryFigures {
        major_faults_per_s, dirty_bytes, writeback_bytes, cached_bytes, dirty_threshold_bytes,
        refault_bytes_per_s,
    }
    NfsTransportFigures { sends_per_s, in_flight, backlog, sending, reconnects }
    WayFigures { bits_per_s, packets_per_s, dropped_per_s, errors_per_s }
    InterfaceFigures { received, sent }
    QdiscFigures {
        bits_per_s, packets_per_s, drops_per_s, overlimits_per_s, requeues_per_s, backlog_bytes,
    }
    NfsClientFigures { calls_per_s, retransmissions_per_s, credentials_again }
    DirectionFigures {
        per_s, mib_per_s, merged_per_s, merged_percent, await_ms, size_kib,
    } [of_direction]
    DeviceFigures {
        read, write, discard, flushes_per_s, flush_await_ms, queue_size, util_percent, await_ms,
    } [of_device]
    NfsFigures {
        per_s, kib_per_s, retransmissions_per_s, queue_ms, rtt_ms, execute_ms, errors_per_s,
    } [of_nfs]
}

fn of_direction(figures: &mut DirectionFigures, visit: &mut dyn FnMut(&mut f64, f64)) {
    let (completed, queued) = (figures.per_s, figures.per_s + figures.merged_per_s);
    visit(&mut figures.merged_percent, queued);
    visit(&mut figures.await_ms, completed);
    visit(&mut figures.size_kib, completed);
}

fn of_device(figures: &mut DeviceFigures, visit: &mut dyn FnMut(&mut f64, f64)) {
    let mut all = 0.0;
    for direction in [&mut figures.read, &mut figures.write, &mut figures.discard] {
        all += direction.per_s;
        of_direction(direction, visit);
    }
    visit(&mut figures.flush_await_ms, figures.flushes_per_s);
    visit(&mut figures.await_ms, all);
}

fn of_nfs(figures: &mut NfsFigures, visit: &mut dyn FnMut(&mut f64, f64)) {
    for time in [&mut figures.queue_ms, &mut figures.rtt_ms, &mut figures.execute_ms] {
        visit(time, figures.per_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_taken_field_by_field() {
        let of = |some_percent, full_percent| StallFigures { some_percent, full_percent };
        assert_eq!(mean([of(1.0, 10.0), of(2.0, 30.0)]), Some(of(1.5, 20.0)));
        assert_eq!(mean(Vec::<StallFigures>::new()), None);
    }

    #[test]
    fn times_weigh_by_the_requests_that_took_them() {
        let of = |per_s, await_ms| DirectionFigures {
            per_s,
            await_ms,
            size_kib: 4.0,
            ..DirectionFigures::default()
        };
        // One under way all the time: rate x time stays 1.
        let found = mean([of(1000.0, 1.0), of(10.0, 100.0), of(0.0, 0.0)]).unwrap();
        assert!((found.per_s * found.await_ms / 1000.0 - 2.0 / 3.0).abs() < 1e-12, "{found:?}");
        assert!((found.size_kib - 4.0).abs() < 1e-12);
        let device = |read| DeviceFigures {
            read,
            queue_size: 1.0,
            await_ms: read.await_ms,
            ..Default::default()
        };
        let found = mean([device(of(1000.0, 1.0)), device(of(10.0, 100.0))]).unwrap();
        assert!((found.queue_size * 1000.0 / found.read.per_s - found.await_ms).abs() < 1e-9);
    }

    #[test]
    fn no_figure_of_a_device_is_forgotten() {
        let mut device = DeviceFigures::default();
        device.each(&mut |value| *value = 1.0);
        let json = serde_json::to_string(&device).unwrap();
        assert!(!json.contains("0.0"), "{json}");
    }
}
