use std::fmt::Write as _;

use iotax_experiment::Workload;
use serde_json::json;

use crate::args::{Listing, WorkloadsArgs};
use crate::exit::{Exit, Result};
use crate::output::{list, wrap};

/// `iotax workloads [NAME]`
pub(crate) fn workloads(args: &WorkloadsArgs) -> Result<Exit> {
    if let Some(name) = &args.name
        && Workload::preset(name).is_err()
        && Workload::suite_about(name).is_some()
    {
        return suite(name, args.format);
    }
    let chosen: Vec<Workload> = match &args.name {
        Some(name) => vec![Workload::preset(name)?],
        None => Workload::presets().collect(),
    };
    let value = || json!({ "workloads": chosen.iter().map(with_sources).collect::<Vec<_>>() });
    let text = || match (&args.name, chosen.as_slice()) {
        (Some(_), [workload]) => in_full(workload),
        _ => index(),
    };
    list(args.format, text, value)
}

/// The workload, and the sources of its figures if it has any.
fn with_sources(workload: &Workload) -> serde_json::Value {
    let mut shown = json!(workload);
    let sources = Workload::preset_sources(&workload.name);
    if !sources.is_empty() {
        shown["sources"] = sources.into();
    }
    shown
}

/// A suite: its phases in full, and its source.
fn suite(name: &str, format: Listing) -> Result<Exit> {
    let phases = Workload::suite(name)?;
    let about = Workload::suite_about(name).unwrap_or_default();
    let source = Workload::suite_source(name).unwrap_or_default();
    let mut out = format!("{name}\n");
    wrap(&mut out, about, "  ", "  ");
    wrap(&mut out, &format!("Source: {source}"), "  ", "  ");
    for phase in &phases {
        let _ = writeln!(out, "  {}", phase.name);
        for line in phase.explain() {
            wrap(&mut out, &line, "    ", "      ");
        }
    }
    let value = || json!({ "suite": name, "about": about, "source": source, "phases": phases });
    list(format, || out, value)
}

/// Each on a line or two, with the first sentence about it.
fn index() -> String {
    let mut out = "Workloads\n".to_owned();
    for workload in Workload::presets() {
        line(&mut out, &workload.name, &workload.about);
    }
    out.push_str("\nSuites, which run several workloads one after the other\n");
    for name in Workload::suite_names().filter(|name| Workload::preset(name).is_err()) {
        line(&mut out, name, Workload::suite_about(name).unwrap_or_default());
    }
    out.push_str(
        "\n`iotax workloads NAME` shows a workload in full and lists what you can change. A\n\
         workload can also be a fio job file, or a quoted fio or DiskSpd command line.\n",
    );
    out
}

fn line(out: &mut String, name: &str, about: &str) {
    let first = about.split_inclusive(". ").next().unwrap_or(about).trim_end();
    wrap(out, first, &format!("  {name:<26} "), &" ".repeat(INDENT));
}

/// Columns before the text of an index.
const INDENT: usize = 29;

/// The workload, what can be changed, and the sources of its figures.
fn in_full(workload: &Workload) -> String {
    let mut out = format!("{}\n", workload.name);
    wrap(&mut out, &workload.about, "  ", "  ");
    for line in workload.explain() {
        wrap(&mut out, &line, "    ", "      ");
    }
    out.push_str("\nTo change a value, use --set KEY=VALUE or --set JOB.KEY=VALUE:\n");
    for (table, key, unit, about) in iotax_experiment::override_options() {
        let name = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
        let name = format!("  {name:<20} ");
        wrap(&mut out, &format!("{about} ({})", unit.placeholder()), &name, &" ".repeat(23));
    }
    let own = Workload::preset_sources(&workload.name).iter().map(String::as_str);
    for source in Workload::suite_source(&workload.name).into_iter().chain(own) {
        wrap(&mut out, &format!("Source: {source}"), "", "  ");
    }
    out
}
