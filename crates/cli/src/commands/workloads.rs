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
    list(args.format, || text(&chosen, args.name.is_some()), value)
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

fn text(workloads: &[Workload], in_full: bool) -> String {
    let mut out = String::new();
    for workload in workloads {
        let _ = writeln!(out, "{}", workload.name);
        wrap(&mut out, &workload.about, "  ", "  ");
        for line in workload.explain() {
            wrap(&mut out, &line, "    ", "      ");
        }
        out.push('\n');
    }
    if in_full {
        out.push_str("To change a value, use --set KEY=VALUE or --set JOB.KEY=VALUE:\n");
        for (table, key, unit, about) in iotax_experiment::override_options() {
            let name = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
            let name = format!("  {name:<20} ");
            wrap(&mut out, &format!("{about} ({})", unit.placeholder()), &name, &" ".repeat(23));
        }
        let own =
            workloads.iter().flat_map(|w| Workload::preset_sources(&w.name)).map(String::as_str);
        let sources = workloads.iter().filter_map(|w| Workload::suite_source(&w.name)).chain(own);
        for source in sources {
            wrap(&mut out, &format!("Source: {source}"), "", "  ");
        }
    } else {
        out.push_str("Suites (each runs several phases):\n");
        for name in Workload::suite_names().filter(|name| Workload::preset(name).is_err()) {
            let _ = writeln!(out, "{name}");
            wrap(&mut out, Workload::suite_about(name).unwrap_or_default(), "  ", "  ");
        }
        out.push_str("\n`iotax workloads NAME` shows what you can change and how.\n");
    }
    out
}
