//! Means of figures, field by field.

use super::figures::{
    CpuFigures, DeviceFigures, DirectionFigures, MemoryFigures, NfsClientFigures, NfsFigures,
    NfsTransportFigures, StallFigures,
};
use super::interfaces::{InterfaceFigures, QdiscFigures, WayFigures};

/// Figures that are means or rates, so that trials of equal length can be averaged.
pub(super) trait Figures: Copy + Default {
    /// Every figure.
    fn each(&mut self, visit: &mut dyn FnMut(&mut f64));
}

/// The mean over all; `None` of none.
pub(super) fn mean<T: Figures>(all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut sum = T::default();
    let mut n = 0_u32;
    for mut figures in all {
        let mut values = Vec::new();
        figures.each(&mut |value| values.push(*value));
        let mut values = values.into_iter();
        sum.each(&mut |total| *total += values.next().unwrap_or(0.0));
        n += 1;
    }
    sum.each(&mut |total| *total /= f64::from(n));
    (n > 0).then_some(sum)
}

macro_rules! figures {
    ($($type:ty { $($field:ident),* $(,)? })*) => {
        $(impl Figures for $type {
            fn each(&mut self, visit: &mut dyn FnMut(&mut f64)) {
                $(visit(&mut self.$field);)*
            }
        })*
    };
}

figures! {
    DirectionFigures { per_s, mib_per_s, merged_per_s, merged_percent, await_ms, size_kib }
    CpuFigures {
        user_percent, nice_percent, system_percent, iowait_percent, steal_percent, idle_percent,
        interrupt_percent,
    }
    StallFigures { some_percent, full_percent }
    MemoryFigures {
        major_faults_per_s, dirty_bytes, writeback_bytes, cached_bytes, dirty_threshold_bytes,
        refault_bytes_per_s,
    }
    NfsFigures {
        per_s, kib_per_s, retransmissions_per_s, queue_ms, rtt_ms, execute_ms, errors_per_s,
    }
    NfsTransportFigures { sends_per_s, in_flight, backlog, sending, reconnects }
    WayFigures { bits_per_s, packets_per_s, dropped_per_s, errors_per_s }
    QdiscFigures {
        bits_per_s, packets_per_s, drops_per_s, overlimits_per_s, requeues_per_s, backlog_bytes,
    }
    NfsClientFigures { calls_per_s, retransmissions_per_s, credentials_again }
}

impl Figures for InterfaceFigures {
    fn each(&mut self, visit: &mut dyn FnMut(&mut f64)) {
        self.received.each(visit);
        self.sent.each(visit);
    }
}

impl Figures for DeviceFigures {
    fn each(&mut self, visit: &mut dyn FnMut(&mut f64)) {
        for direction in [&mut self.read, &mut self.write, &mut self.discard] {
            direction.each(visit);
        }
        visit(&mut self.flushes_per_s);
        visit(&mut self.flush_await_ms);
        visit(&mut self.queue_size);
        visit(&mut self.util_percent);
        visit(&mut self.await_ms);
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
    fn no_figure_of_a_device_is_forgotten() {
        let mut device = DeviceFigures::default();
        device.each(&mut |value| *value = 1.0);
        let json = serde_json::to_string(&device).unwrap();
        assert!(!json.contains("0.0"), "{json}");
    }
}
