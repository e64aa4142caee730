use std::path::{Path, PathBuf};

use anyhow::Result;
use iotax_analyze::doctor::{self, Finding};
use iotax_catalog::{cause, causes};
use iotax_inspect::Look;
use iotax_record::Machine;
use iotax_report::{self as report, Redactor};

use crate::args::{DoctorArgs, Listing};
use crate::documented;
use crate::exit::{Exit, Usage};
use crate::output::{say, style};

/// `iotax doctor`
pub fn doctor(args: &DoctorArgs) -> Result<Exit> {
    if let Some(id) = &args.explain {
        return explain(id, args);
    }
    let machine = match &args.machine {
        Some(file) => Machine::read(file)?,
        None => look(args),
    };
    if let Some(file) = &args.save {
        save(&machine, file, args.no_redact)?;
    }
    let choice = documented::choice(&args.documented, machine.paths.len())?;
    let findings = doctor::findings(&machine, &choice);
    say(&printed(&machine, &findings, args))?;
    Ok(if nothing_seen(&machine) { Exit::Failed } else { Exit::Done })
}

/// This machine, under the paths that were asked for.
fn look(args: &DoctorArgs) -> Machine {
    let here = [PathBuf::from(".")];
    let paths = if args.paths.is_empty() { here.as_slice() } else { &args.paths };
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let mut look = Look::default();
    if args.no_metadata {
        look.metadata = None;
    }
    iotax_inspect::machine(&paths, &look)
}

fn save(machine: &Machine, file: &Path, names_too: bool) -> Result<()> {
    let clean =
        if names_too { machine.clone() } else { Redactor::of_machine(machine).machine(machine) };
    Ok(clean.write(file)?)
}

fn printed(machine: &Machine, findings: &[Finding], args: &DoctorArgs) -> String {
    match args.format {
        Listing::Text => report::doctor_text(machine, findings, style(args.color)),
        Listing::Json => report::doctor_json(machine, findings),
    }
}

/// Whether there was nothing under any of the paths.
fn nothing_seen(machine: &Machine) -> bool {
    !machine.paths.is_empty() && machine.paths.iter().all(|path| path.top.is_none())
}

fn explain(id: &str, args: &DoctorArgs) -> Result<Exit> {
    let asked = match id {
        "" => causes().iter().collect(),
        id => vec![cause(id).map_err(|error| Usage(error.to_string()))?],
    };
    say(&match (args.format, id) {
        (Listing::Json, _) => report::cause_json(&asked),
        (Listing::Text, "") => report::cause_list(style(args.color)),
        (Listing::Text, _) => report::cause_text(asked[0], style(args.color)),
    })?;
    Ok(Exit::Done)
}
