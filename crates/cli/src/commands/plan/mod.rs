mod beside;

use std::fmt::Write as _;

use indexmap::IndexMap;
use iotax_catalog::Note;
use iotax_experiment::plan::Plan;
use iotax_experiment::units::format_duration;
use iotax_experiment::{
    Design, HostCommands, Layer, Requirement, Spec, StopMode, Target, Workload, rounded_ns,
};
use iotax_quantity::{count, grouped, percent};
use iotax_rig::GivenUp;
use iotax_run::Drivers;
use iotax_wording::doubt::fitted;
use iotax_wording::ending::default_precision;
use iotax_wording::slices;
use serde_json::{Value, json};

use crate::args::{Format, LoadArgs, PlanCommand};
use crate::cloud_disks::Told;
use crate::exit::{Exit, Failure, Result, usage};
use crate::output::{say, wrap};
use crate::resolve::{self, Comparison, Resolved};
use crate::session::Destination;

/// Number of blocks that the text lists; JSON has all.
const SHOWN_BLOCKS: u32 = 5;

/// `iotax plan ...`
pub(crate) fn plan(command: &PlanCommand) -> Result<Exit> {
    let (name, resolved, load, output) = match command {
        PlanCommand::Peel(args) => {
            ("peel", resolve::peel(args)?, &args.measure.load, &args.measure.output)
        }
        PlanCommand::Compare(args) => {
            let Comparison::Targets(resolved) = resolve::compare(args)? else {
                return Err(usage(
                    "these are saved results, so there is nothing to run; use iotax compare to \
                     show them",
                ));
            };
            ("compare", *resolved, &args.measure.load, &args.measure.output)
        }
        PlanCommand::Run(args) => ("run", resolve::run(args, Ok)?, &args.load, &args.output),
    };
    let destination = Destination::new(name, output.out.as_deref());
    let failures = refused_here(&resolved, load, &destination);
    let refused: Vec<String> = failures.iter().map(ToString::to_string).collect();
    let plan = Plan::new(resolved.spec());
    match output.format {
        Format::Text => say(&(text(&resolved, &plan) + &refusals(&refused)))?,
        Format::Json => say(&as_json(&resolved, &plan, &refused))?,
        _ => {
            return Err(usage(
                "a plan is only available as text or json; use --format text or --format json",
            ));
        }
    }
    // What this machine lacks may be there on another, or later; what is mistyped is not.
    let mistake = failures.into_iter().find(Failure::is_usage);
    mistake.map_or(Ok(Exit::Done), |failure| Err(failure.told()))
}

fn text(resolved: &Resolved, plan: &Plan) -> String {
    let spec = resolved.spec();
    let mut out = String::new();
    for workload in spec.phases() {
        let _ = writeln!(out, "Workload {}", workload.name);
        let times = slices::times(workload).unwrap_or_else(|| workload.explain_times());
        for line in [times].iter().chain(&workload.explain_load()).chain(&workload.notes) {
            wrap(&mut out, line, "  ", "    ");
        }
        out.push('\n');
    }
    if let Some(told) = fitted(spec) {
        out.push_str("Files\n");
        wrap(&mut out, &told, "  ", "    ");
        out.push('\n');
    }
    out.push_str("Arms\n");
    let width = spec.arms.iter().map(|arm| arm.name.chars().count()).max().unwrap_or(0);
    for (i, arm) in spec.arms.iter().enumerate() {
        let role = if i == 0 && spec.arms.len() > 1 { "  (baseline)" } else { "" };
        let _ = writeln!(out, "  {:width$}  {}{role}", arm.name, arm.target);
        if let Some(HostCommands { before, after, .. }) = &arm.host_commands {
            wrap(&mut out, &format!("before: {before}"), "    ", "      ");
            let after = after.as_deref().unwrap_or("nothing needs to be undone");
            wrap(&mut out, &format!("after: {after}"), "    ", "      ");
        }
        for line in arm.unheeded(&spec.all_at_once()) {
            wrap(&mut out, &line, "    ", "    ");
        }
    }
    out.push_str(&cloud_disks(spec));
    out.push_str("\nStops\n");
    wrap(&mut out, &stop(spec), "  ", "  ");
    if !spec.fail_if.is_empty() {
        out.push_str("\nFails if\n");
        for rule in &spec.fail_if {
            wrap(&mut out, &rule.to_string(), "  ", "    ");
        }
    }
    let required: Vec<_> = spec.phases().filter_map(|phase| phase.requires.as_ref()).collect();
    if !required.is_empty() {
        out.push_str("\nUnfit if\n");
        for Requirement { rule, source } in required {
            wrap(&mut out, &format!("{rule}: {source}"), "  ", "    ");
        }
    }
    out.push_str(&schedule(resolved, plan));
    out.push_str(&beside::text(spec));
    out
}

/// The schedule of trials, and the order of the first blocks.
fn schedule(resolved: &Resolved, plan: &Plan) -> String {
    let spec = resolved.spec();
    let mut out = format!("\nSchedule, seed {}\n", spec.seed);
    let alternating = slices::schedule(spec);
    let lines = alternating.clone().unwrap_or_else(|| {
        // A single arm with a fixed number of trials needs no reason.
        let is_counted = plan.arms == 1 && plan.min_blocks == plan.max_blocks;
        let why = resolved.whole_trials().filter(|_| !is_counted).and_then(slices::why_whole);
        why.into_iter().chain([length(spec, plan)]).collect()
    });
    for line in lines {
        wrap(&mut out, &line, "  ", "  ");
    }
    let settled = alternating.and_then(|_| spec.in_shortest_slices());
    let max_blocks = settled.as_ref().map_or(plan.max_blocks, |spec| spec.stop.max_blocks);
    let what = if settled.is_some() { slices::block(plan.arms) } else { "block" };
    let indent = " ".repeat(what.len() + 7);
    for block in 0..max_blocks.min(SHOWN_BLOCKS) {
        let order = format!("{what} {:2}: {}", block + 1, order(spec, plan, block).join(", "));
        wrap(&mut out, &order, "  ", &indent);
    }
    if max_blocks > SHOWN_BLOCKS {
        let rest = grouped((max_blocks - SHOWN_BLOCKS).into());
        let each_has_a_verdict = spec.design == Design::Compare && spec.matrix().is_none();
        let may_leave_out = plan.arms > 2 && each_has_a_verdict;
        let left_out = if may_leave_out { "; arms with a verdict are left out" } else { "" };
        let _ = writeln!(out, "  and up to {rest} more{left_out}");
    }
    out
}

/// The reasons why a run would be refused on this machine now. Creates nothing.
fn refused_here(resolved: &Resolved, load: &LoadArgs, destination: &Destination) -> Vec<Failure> {
    let spec = resolved.spec();
    let driver = Drivers::find(spec).map_err(Failure::from);
    let targets = iotax_rig::refuse(spec, &load.dir, &GivenUp::by_user(&load.destroy));
    let targets = resolved.advised(targets.map_err(Failure::from));
    let failures = [destination.refuse_unusable().err(), driver.err(), targets.err()];
    failures.into_iter().flatten().collect()
}

/// The reasons under a heading; empty if there are none.
fn refusals(reasons: &[String]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let mut out = "\nOn this machine, iotax would currently refuse this run\n".to_owned();
    for line in reasons.iter().flat_map(|reason| reason.lines()) {
        let indent = if line.starts_with(' ') { "    " } else { "  " };
        wrap(&mut out, line.trim_start(), indent, "    ");
    }
    out
}

/// The layers of each simulated cloud disk, once.
fn cloud_disks(spec: &Spec) -> String {
    let disks = spec.targets().filter_map(Target::cloud);
    let disks: IndexMap<String, _> =
        disks.map(|disk| (Layer::Cloud(disk.clone()).to_string(), disk)).collect();
    if disks.is_empty() {
        return String::new();
    }
    let mut told = Told::indented("  ");
    let notes: Vec<Note> = disks.values().flat_map(|disk| disk.notes.clone()).collect();
    for (text, disk) in &disks {
        told.disk(text, &disk.made);
    }
    format!("\nCloud disks\n{}", told.with_notes(&notes))
}

fn stop(spec: &Spec) -> String {
    if spec.stop.min_blocks == spec.stop.max_blocks {
        return format!("after {} of each arm", count(spec.stop.max_blocks, "trial"));
    }
    let goal = match spec.stop.mode {
        _ if !spec.fail_if.is_empty() => "when each rule is broken, passes or cannot be decided",
        StopMode::Quick => "when every arm has a verdict",
        StopMode::Default => {
            let precision = default_precision(spec.stop.margin);
            &format!("when every arm has a verdict and its effect is known to {precision}")
        }
        StopMode::Tight => {
            "when every effect is known to within 1 percentage point or a tenth of its size"
        }
    };
    let margin = percent(spec.stop.margin);
    let limit = spec.stop.max_time_ns.map_or(String::new(), |limit| {
        format!(". iotax starts no block that would end after {}", format_duration(limit))
    });
    format!("{goal}; arms that differ by less than {margin} count as equal{limit}")
}

/// The number of blocks and trials, and how long they take.
fn length(spec: &Spec, plan: &Plan) -> String {
    let trials = count(u32::try_from(plan.arms).unwrap_or(u32::MAX), "trial");
    let (shortest, longest) = plan.duration_ns();
    let is_recorded = spec.phases().any(Workload::is_recorded);
    let shown = |ns| format_duration(if is_recorded { rounded_ns(ns) } else { ns });
    let (shortest, longest) = (shown(shortest), shown(longest));
    if plan.min_blocks == plan.max_blocks {
        let blocks = count(plan.max_blocks, "block");
        return format!("{blocks} of {trials}, {longest}, not including switching between arms");
    }
    let (fewest, most) = (plan.min_blocks, count(plan.max_blocks, "block"));
    format!(
        "{fewest} to {most} of {trials}, {shortest} to {longest}, not including switching between \
         arms"
    )
}

fn order<'a>(spec: &'a Spec, plan: &Plan, block: u32) -> Vec<&'a str> {
    let order = plan.order(block, |_| true);
    order.into_iter().map(|arm| spec.arms[arm].name.as_str()).collect()
}

fn as_json(resolved: &Resolved, plan: &Plan, refused: &[String]) -> String {
    let spec = resolved.spec();
    let blocks: Vec<_> = (0..plan.max_blocks).map(|block| order(spec, plan, block)).collect();
    let (shortest_ns, longest_ns) = plan.duration_ns();
    let value = json!({
        "spec": spec,
        "plan": plan,
        "duration_ns": { "shortest": shortest_ns, "longest": longest_ns },
        "blocks": blocks,
        "slices": in_slices(spec),
        "whole_trials": resolved.whole_trials(),
        "side_runs": beside::as_json(spec),
        "refused_here": refused,
    });
    iotax_report::json_text(&value)
}

/// The number of blocks if trials become slices, and the shortest time to a verdict. The length of
/// slices is in each phase of the spec.
fn in_slices(spec: &Spec) -> Option<Value> {
    let plan = Plan::new(&spec.in_shortest_slices()?);
    Some(json!({
        "min_blocks": plan.min_blocks,
        "max_blocks": plan.max_blocks,
        "max_time_ns": plan.max_time_ns,
        "shortest_ns": plan.duration_ns().0,
    }))
}
