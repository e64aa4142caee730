//! Combines consecutive trials into one by adding their counts.

use crate::trial::{
    DirectionRecord, FarEndRecord, JobRecord, LatencySummary, LoadRecord, PauseRecord,
    SystemCounters,
};

impl LoadRecord {
    /// Adds a later trial of the same arm: its window, its jobs and its counters.
    pub fn add(&mut self, later: &Self) {
        self.window_ns = self.window_ns.saturating_add(later.window_ns);
        for job in &later.jobs {
            match self.jobs.iter_mut().find(|known| known.name == job.name) {
                Some(known) => known.add(job),
                None => self.jobs.push(job.clone()),
            }
        }
        later.operations.iter().for_each(|operation| operation.add_to(&mut self.operations));
        self.system.add(&later.system);
        self.far_end = self.far_end.zip(later.far_end).map(|(a, b)| FarEndRecord {
            cpu_ns: a.cpu_ns.saturating_add(b.cpu_ns),
            cpu_busy_ns: sum(a.cpu_busy_ns, b.cpu_busy_ns),
            ..a
        });
        for busy in &later.busiest {
            match self.busiest.iter_mut().find(|known| known.one == busy.one) {
                Some(known) => known.busy_ns = known.busy_ns.saturating_add(busy.busy_ns),
                None => self.busiest.push(busy.clone()),
            }
        }
        let pauses = [self.paused, later.paused].into_iter().flatten();
        self.paused = pauses.reduce(PauseRecord::and);
        match (&mut self.replay, &later.replay) {
            (Some(replay), Some(later)) => replay.add(later),
            (replay, later) => *replay = replay.take().or_else(|| later.clone()),
        }
        for warning in &later.warnings {
            if !self.warnings.contains(warning) {
                self.warnings.push(warning.clone());
            }
        }
    }
}

impl JobRecord {
    /// Adds the job of a later trial. Values that are not counts stay those of the first, and a
    /// summary of another tool is dropped, because two summaries cannot be added.
    fn add(&mut self, later: &Self) {
        self.active_ns = self.active_ns.saturating_add(later.active_ns);
        self.read.add(&later.read);
        self.write.add(&later.write);
        if let Some(more) = &later.trim {
            self.trim.get_or_insert_default().add(more);
        }
        self.both = None::<LatencySummary>;
        self.sync_summary = None;
        self.sync.merge(&later.sync);
        for (all, more) in [
            (&mut self.cpu_user_ns, later.cpu_user_ns),
            (&mut self.cpu_system_ns, later.cpu_system_ns),
            (&mut self.minor_faults, later.minor_faults),
            (&mut self.major_faults, later.major_faults),
            (&mut self.context_switches, later.context_switches),
            (&mut self.in_flight_io_ns, later.in_flight_io_ns),
        ] {
            *all = all.saturating_add(more);
        }
        self.waiting_ns = sum(self.waiting_ns, later.waiting_ns);
        self.cpu_wait_ns = sum(self.cpu_wait_ns, later.cpu_wait_ns);
        self.offered_ios = sum(self.offered_ios, later.offered_ios);
        self.verify_mismatches = sum(self.verify_mismatches, later.verify_mismatches);
        self.max_slip_ns = self.max_slip_ns.max(later.max_slip_ns);
        self.first_error = self.first_error.take().or_else(|| later.first_error.clone());
        if let (Some(tcp), Some(more)) = (&mut self.tcp, &later.tcp) {
            // The same connections, or the same number of others.
            tcp.connections = tcp.connections.max(more.connections);
            tcp.retransmits = tcp.retransmits.saturating_add(more.retransmits);
            tcp.rtt_ns = tcp.rtt_ns.max(more.rtt_ns);
        }
        if let (Some(udp), Some(more)) = (&mut self.udp, &later.udp) {
            udp.add(more);
        }
        later.operations.iter().for_each(|operation| operation.add_to(&mut self.operations));
    }
}

impl DirectionRecord {
    fn add(&mut self, later: &Self) {
        for (all, more) in [
            (&mut self.ios, later.ios),
            (&mut self.bytes, later.bytes),
            (&mut self.errors, later.errors),
            (&mut self.short_ios, later.short_ios),
        ] {
            *all = all.saturating_add(more);
        }
        self.service.merge(&later.service);
        if let Some(more) = &later.response {
            self.response.get_or_insert_default().merge(more);
        }
        self.per_second_ios.extend(&later.per_second_ios);
        self.per_second_bytes.extend(&later.per_second_bytes);
        self.fio_bins.clear();
        self.summary = None;
    }
}

impl SystemCounters {
    fn add(&mut self, later: &Self) {
        *self = Self {
            process_cpu_ns: sum(self.process_cpu_ns, later.process_cpu_ns),
            device_read_bytes: sum(self.device_read_bytes, later.device_read_bytes),
            device_write_bytes: sum(self.device_write_bytes, later.device_write_bytes),
            cpu_busy_ns: sum(self.cpu_busy_ns, later.cpu_busy_ns),
            cpu_steal_ns: sum(self.cpu_steal_ns, later.cpu_steal_ns),
            kernel_threads_cpu_ns: sum(self.kernel_threads_cpu_ns, later.kernel_threads_cpu_ns),
        };
    }
}

/// `None` if one of them is unknown.
fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.zip(b).map(|(a, b)| a.saturating_add(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(latencies_ns: &[u64]) -> LoadRecord {
        let mut read = DirectionRecord { ios: latencies_ns.len() as u64, ..Default::default() };
        for latency_ns in latencies_ns {
            read.service.record(*latency_ns);
        }
        let job = JobRecord {
            name: "io".into(),
            active_ns: 100,
            cpu_user_ns: 7,
            offered_ios: Some(3),
            read,
            ..JobRecord::default()
        };
        let system = SystemCounters { process_cpu_ns: Some(5), ..SystemCounters::default() };
        LoadRecord { window_ns: 100, jobs: vec![job], system, ..LoadRecord::default() }
    }

    #[test]
    fn two_trials_are_one_of_both_windows_and_all_latencies() {
        let mut all = load(&[1000, 2000]);
        all.add(&load(&[3000]));
        let [job] = &all.jobs[..] else { panic!("{:?}", all.jobs) };
        assert_eq!((all.window_ns, job.active_ns, job.cpu_user_ns), (200, 200, 14));
        assert_eq!((job.read.ios, job.read.service.count(), job.offered_ios), (3, 3, Some(6)));
        assert_eq!([0.0, 1.0].map(|q| job.read.service.quantile_ns(q) / 1000), [1, 3]);
        assert_eq!(all.system.process_cpu_ns, Some(10));
        assert_eq!(all.system.cpu_busy_ns, None, "it is not known");
    }
}
