//! What may be run beside an experiment, and how long that takes at most.

use std::fmt::Write as _;

use iotax_analyze::{drain_spec, longest_below_the_cap, longest_depth_check};
use iotax_plan::Plan;
use iotax_record::SideRecord;
use iotax_spec::Spec;
use iotax_spec::units::format_duration;
use serde_json::{Value, json};

use crate::output::wrap;

/// One of them.
struct Beside {
    /// Its name, that of its record.
    what: &'static str,
    /// Whether and when it is run, in words.
    when: &'static str,
    /// Without switching, in nanoseconds.
    longest_ns: u64,
    /// Longest time before each trial, in nanoseconds.
    before_each_trial_ns: Option<u64>,
}

/// All that may be run beside `spec`, in their order.
fn all(spec: &Spec) -> Vec<Beside> {
    let asked = spec.side_runs;
    let drain = asked.drain_ns.map(|limit_ns| Beside {
        what: SideRecord::Drain.name(),
        when: "first, until throughput falls",
        longest_ns: longest_ns(&drain_spec(spec, limit_ns)),
        before_each_trial_ns: Some(iotax_run::LONGEST_LOOKS_NS),
    });
    let follows = |is_asked: bool, what: SideRecord, when, longest: fn(&Spec) -> Option<Spec>| {
        let longest_ns = longest_ns(&is_asked.then(|| longest(spec)).flatten()?);
        Some(Beside { what: what.name(), when, longest_ns, before_each_trial_ns: None })
    };
    let depths = "afterwards, if arms are equal";
    let loads = "after that, if arms sit on a cap";
    let depth_check =
        follows(asked.depth_check, SideRecord::DepthCheck, depths, longest_depth_check);
    let unmask = follows(asked.unmask, SideRecord::Unmask, loads, longest_below_the_cap);
    drain.into_iter().chain(depth_check).chain(unmask).collect()
}

fn longest_ns(spec: &Spec) -> u64 {
    Plan::new(spec).duration_ns().1
}

/// All of them, with their longest times.
pub fn as_json(spec: &Spec) -> Vec<Value> {
    let fields = |beside: Beside| {
        let Beside { what, when, longest_ns, before_each_trial_ns: again } = beside;
        json!({ "what": what, "when": when, "longest_ns": longest_ns, "before_each_trial_ns": again })
    };
    all(spec).into_iter().map(fields).collect()
}

/// A line for each of them, under a title; nothing if there are none.
pub fn text(spec: &Spec) -> String {
    let all = all(spec);
    if all.is_empty() {
        return String::new();
    }
    let mut out = "\nBeside it, without switching\n".to_owned();
    for Beside { what, when, longest_ns, before_each_trial_ns } in &all {
        let mut line = format!("{what}: {when}; {} at most", format_duration(*longest_ns));
        if let Some(again) = before_each_trial_ns {
            let _ = write!(line, ", and {} before each trial", format_duration(*again));
        }
        wrap(&mut out, &line, "  ", "    ");
    }
    let follows = all.iter().any(|beside| beside.before_each_trial_ns.is_none());
    if let Some(limit_ns) = spec.stop.max_time_ns.filter(|_| follows) {
        let limit = format_duration(limit_ns);
        let text = format!("what follows is run only if all ends within {limit} of the start");
        wrap(&mut out, &text, "  ", "    ");
    }
    out
}
