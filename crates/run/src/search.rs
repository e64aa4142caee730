//! The search for caps on this machine: makes the probes that the search requests, records their
//! results, and can replay them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use iotax_caps::{Caps, Ended, Observation, Prober, search_caps};
use iotax_experiment::{Driver, IndexEnds, Opened, Probe, ProbePurpose, Purpose, Search};
use iotax_record::{End, EndReason, Environment, ProbeLoad, ProbeRecord, SearchHead, Writer};

use crate::clock::nanos;
use crate::error::Error;
use crate::host::{Host, Load, Task, TrialRequest};
use crate::observer::{Event, Observer};

/// How often a pause checks whether the user wants to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What a search needs.
pub struct SearchSetup<'a> {
    /// The search.
    pub search: &'a Search,
    /// The facts about its targets.
    pub opened: &'a Opened,
    pub environment: &'a Environment,
    /// Where the targets are, prepared.
    pub host: &'a mut dyn Host,
    /// Set from outside to end the search early.
    pub stop: &'a AtomicBool,
    pub writer: &'a mut Writer<SearchHead>,
    pub observer: &'a mut dyn Observer,
}

/// Searches the caps; each probe is on disk when the next one begins.
///
/// # Errors
/// If results could not be written.
pub fn search(setup: SearchSetup<'_>) -> Result<(Caps, End), Error> {
    let (search, opened) = (setup.search, setup.opened);
    let started = Instant::now();
    let mut prober = HostProber { setup, started, probes: 0, unwritten: None };
    let caps = search_caps(search, opened, &mut prober);
    if let Some(error) = prober.unwritten {
        return Err(error.into());
    }
    let interrupted = prober.setup.stop.load(Ordering::Relaxed);
    let end = End {
        reasons: vec![reason(caps.ended.as_ref())],
        wall_ns: nanos(started.elapsed()),
        interrupted,
        gave_up: caps.ended.is_some() && !interrupted,
        trials: Some(prober.probes),
        other_programs: None,
    };
    prober.setup.writer.conclude(&caps)?;
    prober.setup.writer.finish(&end)?;
    Ok((caps, end))
}

fn reason(ended: Option<&Ended>) -> EndReason {
    match ended {
        None => EndReason::SearchDecided,
        Some(Ended::Interrupted) => EndReason::Interrupted,
        Some(Ended::Silent { target }) => EndReason::ArmSilent { arm: target.clone(), trials: 1 },
        Some(Ended::Failed(why)) => EndReason::SearchFailed(why.clone()),
    }
}

/// The caps according to earlier probes. `None` if the search would have made other probes: the
/// record was edited, or comes from another version of the search.
pub fn replay(head: &SearchHead, probes: Vec<ProbeRecord>) -> Option<Caps> {
    let environment = &head.host().environment;
    let mut replay = Replay { environment, probes: probes.into(), differs: false };
    let caps = search_caps(&head.search, &head.opened, &mut replay);
    (!replay.differs).then_some(caps)
}

struct HostProber<'a> {
    setup: SearchSetup<'a>,
    started: Instant,
    probes: u32,
    /// Why a probe could not be written down.
    unwritten: Option<iotax_record::Error>,
}

impl Prober for HostProber<'_> {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        let takes = Duration::from_nanos(probe.ramp_ns + probe.time_ns);
        if let ProbePurpose::Known(purpose) = probe.purpose {
            self.setup.observer.on(&Event::StepStarts { purpose, takes });
        }
        let started_ns = nanos(self.started.elapsed());
        let loads = self.drive(probe)?;
        // A load that ended early has no meaningful rate.
        if self.setup.stop.load(Ordering::Relaxed) {
            return Err(Ended::Interrupted);
        }
        let record = ProbeRecord { probe: probe.clone(), started_ns, loads };
        if let Err(error) = self.setup.writer.append(&record) {
            let why = error.to_string();
            self.unwritten = Some(error);
            return Err(Ended::Failed(why));
        }
        self.probes += 1;
        observations(&record, self.setup.environment)
    }

    fn pause(&mut self, pause_ns: u64) -> Result<(), Ended> {
        let pause = Duration::from_nanos(pause_ns);
        self.setup.observer.on(&Event::StepStarts { purpose: Purpose::Rest, takes: pause });
        let end = Instant::now() + pause;
        while Instant::now() < end {
            if self.setup.stop.load(Ordering::Relaxed) {
                return Err(Ended::Interrupted);
            }
            thread::sleep(POLL_INTERVAL.min(end.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }
}

impl HostProber<'_> {
    /// Loads all places of the probe at the same time.
    fn drive(&mut self, probe: &Probe) -> Result<Vec<ProbeLoad>, Ended> {
        let SearchSetup { search, host, .. } = &mut self.setup;
        let seed = search.seed.wrapping_add(u64::from(self.probes));
        let request = |(place, (target, _)): (usize, &(usize, _))| TrialRequest {
            arm: *target,
            driver: Driver::Native,
            task: Task::Run(probe.workload(place, search)),
            index_ends: IndexEnds::Both,
            ramp_ns: probe.ramp_ns,
            time_ns: probe.time_ns,
            part: None,
            seed,
            sustained_iops: None,
        };
        let requests: Vec<_> = probe.places.iter().enumerate().map(request).collect();
        let loads = host.together(&requests).map_err(|error| Ended::Failed(error.to_string()))?;
        Ok(loads.into_iter().map(load).collect())
    }
}

fn load(load: Load) -> ProbeLoad {
    load.map_or_else(ProbeLoad::Failed, |load| ProbeLoad::Done(Box::new(load)))
}

/// One per place, or why there is none.
fn observations(
    record: &ProbeRecord,
    environment: &Environment,
) -> Result<Vec<Observation>, Ended> {
    record
        .loads
        .iter()
        .map(|load| match load {
            ProbeLoad::Done(load) => Ok(Observation::of(load, environment)),
            ProbeLoad::Failed(why) => Err(Ended::Failed(why.clone())),
        })
        .collect()
}

/// Probes that were made before, in their order.
struct Replay<'a> {
    environment: &'a Environment,
    probes: VecDeque<ProbeRecord>,
    /// The search asked for another one.
    differs: bool,
}

impl Prober for Replay<'_> {
    fn probe(&mut self, probe: &Probe) -> Result<Vec<Observation>, Ended> {
        let Some(record) = self.probes.pop_front() else { return Err(Ended::Interrupted) };
        // What it was for is in other words in a record of an earlier format.
        let purpose = record.probe.purpose.clone();
        if record.probe != (Probe { purpose, ..probe.clone() })
            || record.loads.len() != probe.places.len()
        {
            self.differs = true;
            return Err(Ended::Interrupted);
        }
        observations(&record, self.environment)
    }

    fn pause(&mut self, _: u64) -> Result<(), Ended> {
        Ok(())
    }
}
