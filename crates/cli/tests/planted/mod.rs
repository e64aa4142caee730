//! Gates over a planted regression of 20 % whose trials are of every awkward kind. Trials are
//! simulated and performed by the trial loop in virtual time; records, rules and exit codes are the
//! program's.

mod host;
mod saved;
mod storage;

use std::fmt;

use iotax_analyze::{Phases, depth_check};
use iotax_experiment::plan::Plan;
use iotax_experiment::{Arm, Rule, SideRuns, Spec, Stop, Target, Workload};
use iotax_record::{ExperimentHead, FORMAT, SideRecord, Site, Writer};
use iotax_run::Setup;

use crate::support::{Desk, Said};
use host::{Scripted, Silent, Time};
use storage::Disk;

/// What makes the regression hard to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// Both arms are as fast while they have burst credits, which end early, late, in the depth
    /// check or never.
    Bursts,
    /// The regression is made of stalls.
    Stalls,
    /// The agent of the slower arm dies where it is slow.
    DyingAgents,
    /// Of saved results of the slower arm, those that were slow completed nothing or have no such
    /// job.
    MissingResults,
    /// Nothing is slower: what a gate must let pass.
    Healthy,
}

impl Kind {
    /// With a regression.
    pub(crate) const PLANTED: [Self; 4] =
        [Self::Bursts, Self::Stalls, Self::DyingAgents, Self::MissingResults];
}

/// What a gate did about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// The rule is broken.
    Failed,
    /// Undecided, by its exit code, on stderr and first in the report.
    Undecided,
    /// Nothing could be judged, and the exit code says that.
    Refused,
    /// Exit code 0 without a word.
    Passed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Failed => "failed",
            Self::Undecided => "undecided",
            Self::Refused => "refused",
            Self::Passed => "passed",
        })
    }
}

/// What the gate with this number makes of it, and what it said.
pub(crate) fn gate(kind: Kind, number: u64) -> (Verdict, String) {
    let desk = Desk::new();
    let mut storage = Disk::new(kind, number);
    let said = if kind == Kind::MissingResults {
        saved::write(&desk, &mut storage);
        desk.run(&saved::arguments(&desk))
    } else {
        record(&desk, storage);
        desk.run(&["report", "out"])
    };
    (verdict(&said), said.to_string())
}

fn verdict(said: &Said) -> Verdict {
    let is_loud = said.err.contains("undecided (neither broken nor passed)")
        && said.out.lines().take(8).any(|line| line.contains("Rule undecided"));
    match said.code {
        1 => Verdict::Failed,
        6 if is_loud => Verdict::Undecided,
        0 => Verdict::Passed,
        _ => Verdict::Refused,
    }
}

/// Runs a comparison and the depth check that it calls for, and keeps their records.
fn record(desk: &Desk, storage: Disk) {
    let spec = spec();
    let dir = desk.path().join("out");
    let mut host = Scripted::new(storage);
    let head = experiment(spec.clone());
    let mut phases = Phases::new(&head);
    let end = perform(&mut host, &head, &dir, &mut phases);
    let Some(spec) = depth_check(&spec, &phases.finish(Some(&end))).filter(|_| !end.gave_up) else {
        return;
    };
    let head = experiment(spec);
    let mut check = Phases::of_depth_check(&head, &phases);
    perform(&mut host, &head, &dir.join(SideRecord::DepthCheck.name()), &mut check);
}

fn perform(
    host: &mut Scripted,
    experiment: &ExperimentHead,
    dir: &std::path::Path,
    phases: &mut Phases,
) -> iotax_record::End {
    let mut writer = Writer::create(dir, experiment).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let time: Time = host.time();
    let setup = Setup {
        experiment,
        plan: &Plan::new(&experiment.spec),
        host,
        stop: &stop,
        clock: &time,
        sustained: &iotax_analyze::Sustained::default(),
        spent: std::time::Duration::ZERO,
        writer: &mut writer,
        phases,
        observer: &mut Silent,
    };
    iotax_run::trials(setup).unwrap()
}

fn spec() -> Spec {
    let mut workload = Workload::preset("randread-4k").unwrap();
    (workload.ramp_ns, workload.time_ns) = (1_000_000_000, 5_000_000_000);
    workload.set("depth=8").unwrap();
    let arm = |name: &str| Arm::new(name, Target::Path("/".into()));
    let mut spec =
        Spec::compare(workload, vec![arm("old"), arm("new")], Stop::default(), 7).unwrap();
    spec = spec.with(|spec| spec.fail_if = vec![Rule::parse("slower by 5%").unwrap()]);
    spec = spec.with(|spec| spec.side_runs = SideRuns { depth_check: true, ..SideRuns::default() });
    spec
}

fn experiment(spec: Spec) -> ExperimentHead {
    ExperimentHead {
        cloud: iotax_experiment::CloudChoice::default(),
        format: FORMAT,
        id: None,
        iotax_version: "0".to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        command: Vec::new(),
        hosts: vec![iotax_record::HostRecord::default()],
        sites: vec![Site::default(); spec.arms.len()],
        spec,
    }
}
