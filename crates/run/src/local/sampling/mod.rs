//! Samples of the kernel's counters, once a second while a load runs.
//!
//! One thread wakes, reads some files of `/proc` that were opened before the load started, keeps
//! the figures, and sleeps again. Its CPU time is in each record (`sampler_cpu_ns`). It shares
//! nothing with the threads that drive the load, and its cost is the same for all arms.

mod columns;
mod ends;

use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use iotax_inspect::{Meters, Storage};
use iotax_load::{Error, IoTarget, LoadDriver, LoadProgress, Request, WindowState};
use iotax_record::{Counters, LoadRecord, Site};
use rustix::time::{ClockId, clock_gettime};

use self::columns::{Sample, columns};
use self::ends::Ends;
use crate::clock::nanos;

/// Between samples.
const PERIOD: Duration = Duration::from_secs(1);
/// Edges of the window are sampled when they come. A sample that would come shortly before waits
/// for the edge: figures of a few milliseconds are noise.
const MARGIN: Duration = Duration::from_millis(250);

/// What a trial is expected to do, for the times of samples.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline {
    pub(super) ramp: Duration,
    pub(super) window: Duration,
}

/// Runs the load once, and samples the storage under the target: under its path, and under the
/// device that its site names (layers in between may hide it).
pub(super) fn measured(
    driver: &dyn LoadDriver,
    request: Request<'_>,
    live: &LoadProgress,
    site: &Site,
) -> (Result<LoadRecord, Error>, Counters) {
    let started = Instant::now();
    let lies_on = |site: &Site| site.device.clone();
    let targets = match request.target {
        IoTarget::Several(targets) => targets
            .iter()
            .zip(&site.targets)
            .map(|((name, target), named)| (*name, target.path(), lies_on(&named.site)))
            .collect(),
        one => vec![("", one.path(), lies_on(site))],
    };
    let paths = targets.iter().filter_map(|(_, path, _)| *path);
    let storage =
        iotax_inspect::storage(paths, targets.iter().filter_map(|(.., device)| device.as_deref()));
    let outline = Outline {
        ramp: Duration::from_nanos(request.ramp_ns),
        window: Duration::from_nanos(request.time_ns),
    };
    let (result, mut counters) =
        while_running(&storage, Ends::of(request.target), live, outline, started, || {
            driver.run(&Request { live: Some(live), ..request })
        });
    if let several @ [_, _, ..] = targets.as_slice() {
        for (name, path, device) in several {
            let below = iotax_inspect::storage(*path, device.as_deref());
            for device in &mut counters.devices {
                if below.devices.iter().any(|part| part.name == device.name) {
                    device.targets.push((*name).to_owned());
                }
            }
        }
    }
    if let (Ok(load), None) = (&result, counters.window_ns) {
        // A driver that does not report its window ends when the window closes.
        let end_ns = counters.at_ns.last();
        counters.window_ns = end_ns.map(|end| [end.saturating_sub(load.window_ns), *end]);
    }
    (result, counters)
}

/// Runs `load` while sampling the storage under the target, or the ends of its path. `started` is
/// the start of the trial.
pub(super) fn while_running<T>(
    storage: &Storage,
    Ends { names: ends, meters: interfaces }: Ends,
    live: &LoadProgress,
    outline: Outline,
    started: Instant,
    load: impl FnOnce() -> T,
) -> (T, Counters) {
    let devices = storage.devices.iter().map(|device| device.name.clone()).collect();
    let mut meters =
        Meters::open(Path::new("/proc"), devices, storage.nfs.clone()).with_interfaces(interfaces);
    live.begin();
    let (result, taken) = thread::scope(|scope| {
        let sampler =
            thread::Builder::new().name("counters".to_owned()).spawn_scoped(scope, || {
                let taken = samples(&mut meters, live, outline);
                (taken, clock_gettime(ClockId::ThreadCPUTime))
            });
        // The sampler ends whatever happens to the load, or the scope would wait for ever.
        let ending = Ending(live);
        let result = load();
        drop(ending);
        // Without threads to spare there are no counters, but there is a measurement.
        let taken = sampler.ok().map(|sampler| sampler.join().unwrap_or_else(|p| resume_unwind(p)));
        (result, taken)
    });
    let Some(((samples, scene), cpu)) = taken else { return (result, Counters::default()) };
    let mut counters = columns(storage, &samples, started);
    counters.interfaces = ends::columns(&ends, &samples);
    counters.sampler_cpu_ns =
        cpu.tv_sec.unsigned_abs() * 1_000_000_000 + cpu.tv_nsec.unsigned_abs();
    let edge = |at: Instant| nanos(at.saturating_duration_since(started));
    counters.window_ns = scene.opened.zip(scene.closed).map(|(a, b)| [edge(a), edge(b)]);
    (result, counters)
}

struct Ending<'a>(&'a LoadProgress);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Samples until the run is over: at the start, every second, at the edges of the window, and at
/// the end.
fn samples(
    meters: &mut Meters,
    live: &LoadProgress,
    outline: Outline,
) -> (Vec<Sample>, WindowState) {
    let mut samples = Vec::new();
    let mut take = || {
        samples.push(Sample { at: Instant::now(), reading: meters.read() });
        samples[samples.len() - 1].at
    };
    let start = take();
    let mut scene = WindowState::default();
    let mut next = start + PERIOD;
    loop {
        let edge = match scene {
            WindowState { closed: Some(_), .. } => None,
            WindowState { opened: Some(opened), .. } => Some(opened + outline.window),
            _ => Some(start + outline.ramp),
        };
        let now = live.wait(scene, after_edge(next, edge));
        let at = take();
        if now.over {
            return (samples, now);
        }
        next = if now == scene { next + PERIOD } else { at + PERIOD };
        // A machine that was asleep, or very late, is not sampled in a burst afterwards.
        if next <= at {
            next = at + PERIOD;
        }
        scene = now;
    }
}

/// `next`, or a little after the edge that is expected right after it.
fn after_edge(next: Instant, edge: Option<Instant>) -> Instant {
    match edge {
        Some(edge) if next <= edge + MARGIN / 4 && edge < next + MARGIN => edge + MARGIN / 4,
        _ => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: f64) -> Duration {
        Duration::from_secs_f64(n)
    }

    #[test]
    fn a_sample_waits_for_an_edge_that_is_about_to_come() {
        let start = Instant::now();
        let at = |next: f64, edge: f64| {
            let at = after_edge(start + seconds(next), Some(start + seconds(edge)));
            at.duration_since(start).as_secs_f64()
        };
        assert!(at(1.0, 1.0) > 1.0, "the edge comes at the same time");
        assert!(at(1.0, 1.2) > 1.2, "the edge comes right after");
        assert_eq!(at(1.0, 1.5), 1.0, "the edge is far");
        assert_eq!(at(2.0, 1.5), 2.0, "the edge should have come long ago");
    }

    #[test]
    fn a_run_is_sampled_at_its_start_its_edges_and_its_end() {
        let live = LoadProgress::default();
        let outline = Outline { ramp: seconds(600.0), window: seconds(600.0) };
        let started = Instant::now();
        let (result, counters) =
            while_running(&Storage::default(), Ends::default(), &live, outline, started, || {
                // Seen one by one, if only the scheduler lets the sampler run in between.
                live.window_opens();
                thread::sleep(seconds(0.3));
                live.window_closes();
                thread::sleep(seconds(0.3));
                "done"
            });
        assert_eq!(result, "done");
        let [opened, closed] = counters.window_ns.unwrap();
        assert!(opened < closed);
        let at = &counters.at_ns;
        assert!(at.len() >= 2 && at.is_sorted(), "{at:?}");
        assert!(counters.cpu_ticks.is_some() && counters.sampler_cpu_ns > 0);
    }

    #[test]
    fn a_load_that_panics_does_not_leave_the_sampler_running() {
        let live = LoadProgress::default();
        let outline = Outline { ramp: seconds(600.0), window: seconds(600.0) };
        let run = std::panic::AssertUnwindSafe(|| {
            while_running(
                &Storage::default(),
                Ends::default(),
                &live,
                outline,
                Instant::now(),
                || panic!("on purpose"),
            )
        });
        assert!(std::panic::catch_unwind(run).is_err());
    }
}
