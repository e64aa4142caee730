//! The side runs of an experiment, and how long they take at most.

use std::borrow::Cow;
use std::fmt::Write as _;

use iotax_analyze::{
    PASSES, drain_spec, longest_below_the_cap, longest_depth_check, precondition_spec,
};
use iotax_experiment::plan::Plan;
use iotax_experiment::units::{format_bytes, format_duration};
use iotax_experiment::{Spec, Workload};
use iotax_record::SideRecord;
use serde_json::{Value, json};

use crate::output::wrap;

struct Beside {
    /// Its name, which is also that of its record.
    what: &'static str,
    /// When it runs, in words.
    when: Cow<'static, str>,
    /// Maximum time without switching, in nanoseconds.
    longest_ns: u64,
    /// Maximum time before each trial, in nanoseconds.
    before_each_trial_ns: Option<u64>,
}

/// The longest spec of a follow-up, if one is possible.
type Longest = fn(&Spec) -> Option<Spec>;

/// All possible side runs of `spec`, in order.
fn all(spec: &Spec) -> Vec<Beside> {
    let asked = spec.side_runs;
    let rounds = precondition_spec(spec).filter(|_| asked.precondition);
    let precondition = rounds.map(|rounds| precondition(spec, &rounds));
    let drain = asked.drain_ns.map(|limit_ns| Beside {
        what: SideRecord::Drain.name(),
        when: "first, until throughput falls".into(),
        longest_ns: longest_ns(&drain_spec(spec, limit_ns)),
        before_each_trial_ns: Some(iotax_run::LONGEST_LOOKS_NS),
    });
    let follows = |is_asked: bool, what: SideRecord, when: &'static str, longest: Longest| {
        let when = when.into();
        let longest_ns = longest_ns(&is_asked.then(|| longest(spec)).flatten()?);
        Some(Beside { what: what.name(), when, longest_ns, before_each_trial_ns: None })
    };
    let depths = "after the trials, if arms are equal";
    let loads = "afterwards, if arms reach the same cap";
    let depth_check =
        follows(asked.depth_check, SideRecord::DepthCheck, depths, longest_depth_check);
    let below_cap = follows(asked.below_cap, SideRecord::BelowCap, loads, longest_below_the_cap);
    precondition.into_iter().chain(drain).chain(depth_check).chain(below_cap).collect()
}

/// The time of the passes depends on the storage; the limit is that of the rounds.
fn precondition(spec: &Spec, rounds: &Spec) -> Beside {
    let arms = spec.arms.iter().filter(|arm| !arm.target.is_in_memory()).count();
    let fills: Vec<Workload> = spec.phases().filter_map(Workload::fill).collect();
    let bytes = fills.iter().map(Workload::span_bytes).fold(0, u64::saturating_add);
    let mut plan = Plan::new(rounds);
    plan.arms = arms;
    plan.phases.drain(..fills.len());
    let then = if plan.phases.is_empty() {
        "no rounds, because the workload only reads"
    } else {
        "then rounds of the workload until its rate is steady"
    };
    let span = format_bytes(bytes.saturating_mul(arms as u64));
    let when = format!("first, {PASSES} passes over {span} without a time limit; {then}");
    let longest_ns = plan.duration_ns().1;
    let what = SideRecord::Precondition.name();
    Beside { what, when: when.into(), longest_ns, before_each_trial_ns: None }
}

fn longest_ns(spec: &Spec) -> u64 {
    Plan::new(spec).duration_ns().1
}

/// All side runs, with their maximum times.
pub(super) fn as_json(spec: &Spec) -> Vec<Value> {
    let fields = |beside: Beside| {
        let Beside { what, when, longest_ns, before_each_trial_ns: again } = beside;
        json!({ "what": what, "when": when, "longest_ns": longest_ns, "before_each_trial_ns": again })
    };
    all(spec).into_iter().map(fields).collect()
}

/// A line for each side run, under a heading; empty if there are none.
pub(super) fn text(spec: &Spec) -> String {
    let all = all(spec);
    if all.is_empty() {
        return String::new();
    }
    let mut out = "\nSide runs (times do not include switching between arms)\n".to_owned();
    for Beside { what, when, longest_ns, before_each_trial_ns } in &all {
        let mut line = format!("{what}: {when}");
        if *longest_ns > 0 {
            let _ = write!(line, "; at most {}", format_duration(*longest_ns));
        }
        if let Some(again) = before_each_trial_ns {
            let _ = write!(line, ", plus at most {} before each trial", format_duration(*again));
        }
        wrap(&mut out, &line, "  ", "    ");
    }
    let is_before =
        |what| [SideRecord::Precondition, SideRecord::Drain].map(SideRecord::name).contains(&what);
    let follows = all.iter().any(|beside| !is_before(beside.what));
    if let Some(limit_ns) = spec.stop.max_time_ns.filter(|_| follows) {
        let limit = format_duration(limit_ns);
        let text = format!(
            "after the trials, a side run starts only if the whole run can end within {limit}"
        );
        wrap(&mut out, &text, "  ", "    ");
    }
    out
}
