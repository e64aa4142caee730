use std::fmt::Write as _;

use anyhow::Result;
use iotax_spec::Workload;
use serde_json::json;

use crate::args::{Listing, WorkloadsArgs};
use crate::exit::Exit;
use crate::output::{say, wrap};

/// `iotax workloads [NAME]`
pub fn workloads(args: &WorkloadsArgs) -> Result<Exit> {
    let chosen: Vec<Workload> = match &args.name {
        Some(name) => vec![Workload::preset(name)?],
        None => Workload::presets().collect(),
    };
    match args.format {
        Listing::Json => say(&format!("{:#}\n", json!({ "workloads": chosen })))?,
        Listing::Text => say(&text(&chosen, args.name.is_some()))?,
    }
    Ok(Exit::Done)
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
        out.push_str("Every value can be changed: --set KEY=VALUE or --set JOB.KEY=VALUE\n");
        for (table, key, unit, about) in iotax_spec::override_keys() {
            let name = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
            let name = format!("  {name:<20} ");
            wrap(&mut out, &format!("{about} ({})", unit.placeholder()), &name, &" ".repeat(23));
        }
    } else {
        out.push_str("iotax workloads NAME tells what can be changed, and how.\n");
    }
    out
}
