mod peers;

use std::fs;
use std::path::Path;

use iotax_diagnose::{self as diagnose, Diagnosis};
use iotax_experiment::CloudChoice;
use iotax_inspect::{NetworkSubject, ProbeOptions};
use iotax_record::{HostRecord, HostRole, Location, Machine, Reader, SearchHead};
use iotax_report::{self as report, DoctorDetail, HostFindings, Redactor};
use iotax_wording::cause::{cause, causes, unknown_cause};

use self::peers::Peer;
use crate::args::{DoctorArgs, Listing};
use crate::exit::{Exit, Result, failed, usage};
use crate::output::{say, style, wide_style};
use crate::publish::{Extent, SCREEN_LINES};
use crate::resolve::documented;
use crate::{publish, recorded};

/// `iotax doctor`
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit> {
    if let Some(id) = &args.explain {
        return explain(id, args);
    }
    let Case { hosts, diagnoses, choice, gaps } = match &args.record {
        Some(dir) => recorded(dir, &args.facts)?,
        None => looked(args)?,
    };
    if let Some(file) = &args.save {
        save(&hosts, file, args.no_redact)?;
    }
    let with_findings = |(role, machine): (HostRole, Machine)| {
        let findings = diagnose::findings(&machine, &choice);
        let coverage = diagnose::coverage(&machine, &choice);
        HostFindings { role, machine, findings, coverage }
    };
    let hosts: Vec<HostFindings> = hosts.into_iter().map(with_findings).collect();
    say(&printed(&hosts, diagnoses.as_deref(), &gaps, args))?;
    let seen = hosts.iter().any(|host| !nothing_seen(&host.machine));
    Ok(if seen { Exit::Done } else { Exit::Failed })
}

/// What the doctor examines.
struct Case {
    hosts: Vec<(HostRole, Machine)>,
    /// Causes that a measurement points to; `None` without one.
    diagnoses: Option<Vec<Diagnosis>>,
    /// The VM and disks of the targets, as named by the user or the record.
    choice: CloudChoice,
    /// What is missing in the record.
    gaps: Vec<String>,
}

/// A machine: this one, under the given paths, or a saved one.
fn looked(args: &DoctorArgs) -> Result<Case> {
    let machine = match &args.machine {
        Some(file) => Machine::read(file)?,
        None => look(args)?,
    };
    let targets = machine.paths.len();
    let choice = documented::choice_with_facts(&args.facts, &args.documented, targets)?;
    let hosts = vec![(HostRole::Local, machine)];
    Ok(Case { hosts, diagnoses: None, choice, gaps: Vec::new() })
}

fn look(args: &DoctorArgs) -> Result<Machine> {
    let mut paths: Vec<&Path> = Vec::new();
    let mut network: Vec<NetworkSubject> = Vec::new();
    let mut peers: Vec<Peer> = Vec::new();
    for path in &args.paths {
        match peers::named(path)? {
            Some((subject, peer)) => {
                network.push(subject);
                peers.extend(peer);
            }
            None => paths.push(path),
        }
    }
    network.extend(args.interfaces.iter().cloned().map(NetworkSubject::Interface));
    if paths.is_empty() && network.is_empty() {
        paths.push(Path::new("."));
    }
    let mut look = ProbeOptions::default();
    if args.documented.no_metadata {
        look.metadata = None;
    } else if let Some(address) = args.documented.metadata_address {
        look.metadata = Some(address);
    }
    let mut machine = iotax_inspect::machine(&paths, &network, &look);
    peers::probe(&mut machine, &peers);
    Ok(machine)
}

/// A measurement, and the machine at that time.
fn recorded(dir: &Path, facts: &[String]) -> Result<Case> {
    let dir = &Location::from(dir);
    if Reader::<SearchHead>::is_in(dir) {
        let (reader, caps) = recorded::read_search(dir)?;
        let gaps = reader.gap()?.map(|gap| gap.to_string()).into_iter().collect();
        let mut head = reader.head;
        let targets = head.search.targets.len();
        head.opened.cloud = documented::with_facts(head.opened.cloud, facts, targets)?;
        return Ok(Case {
            gaps,
            diagnoses: Some(diagnose::of_search(&head, &caps)),
            hosts: machines(head.hosts),
            choice: head.opened.cloud,
        });
    }
    let (reader, mut parts) = recorded::read(dir)?;
    let spec = &reader.head.spec;
    let choice = documented::with_facts(reader.head.cloud.clone(), facts, spec.targets().count())?;
    for (experiment, _) in &mut parts {
        experiment.cloud.clone_from(&choice);
    }
    let used = parts.iter().flat_map(|(_, analysis)| &analysis.arms).map(|arm| arm.trials);
    if used.sum::<u32>() == 0 {
        return Err(failed(format!(
            "{}: no trial is usable, so there is nothing to examine; iotax report shows why",
            dir.shown().display()
        )));
    }
    let gaps = parts.first().map(|(_, part)| part.ending.gaps.clone()).unwrap_or_default();
    let diagnoses = parts.iter().flat_map(|(experiment, part)| diagnose::of_arms(experiment, part));
    Ok(Case {
        diagnoses: Some(diagnoses.collect()),
        hosts: machines(reader.head.hosts),
        choice,
        gaps,
    })
}

/// The machine of each host; at least one, which may be empty.
fn machines(hosts: Vec<HostRecord>) -> Vec<(HostRole, Machine)> {
    let hosts = if hosts.is_empty() { vec![HostRecord::default()] } else { hosts };
    let seen = |host: HostRecord| (host.role, host.machine.map_or_else(Machine::default, |m| *m));
    hosts.into_iter().map(seen).collect()
}

fn save(hosts: &[(HostRole, Machine)], file: &Path, names_too: bool) -> Result<()> {
    let [(_, machine)] = hosts else {
        return Err(usage(format!(
            "these results are from {} hosts, but --save can save only one host; run iotax doctor \
             --save on each host",
            hosts.len()
        )));
    };
    if machine.paths.is_empty() {
        let problem = "nothing to save: these results do not describe the storage under their \
                       targets";
        return Err(usage(problem.to_owned()));
    }
    if names_too {
        return Ok(machine.write(file)?);
    }
    let mut redactor = Redactor::default();
    let clean = redactor.machine(machine);
    clean.write(file)?;
    // Without the key, nobody could map the pseudonyms back.
    let key = publish::write(&(&publish::beside(file)).into(), &redactor);
    key.inspect_err(|_| drop(fs::remove_file(file)))
}

fn printed(
    hosts: &[HostFindings],
    diagnoses: Option<&[Diagnosis]>,
    gaps: &[String],
    args: &DoctorArgs,
) -> String {
    match args.format {
        Listing::Text => {
            let detail = if args.all { DoctorDetail::Whole } else { DoctorDetail::Folded };
            let document = report::doctor(hosts, diagnoses, detail);
            match Extent::of(false, args.verbose || args.all) {
                Extent::Screen => {
                    let more = "Full output: iotax doctor -v, or --format json\n";
                    report::screen(&document, wide_style(args.color), SCREEN_LINES) + more
                }
                _ => report::text(&document, style(args.color)),
            }
        }
        Listing::Json => report::doctor_json(hosts, diagnoses, gaps),
    }
}

/// Whether nothing was seen under any of the paths.
fn nothing_seen(machine: &Machine) -> bool {
    !machine.paths.is_empty() && machine.paths.iter().all(|path| path.top.is_none())
}

fn explain(id: &str, args: &DoctorArgs) -> Result<Exit> {
    let asked = match id {
        "" => causes().iter().collect(),
        id => vec![cause(id).ok_or_else(|| usage(unknown_cause(id)))?],
    };
    say(&match (args.format, id) {
        (Listing::Json, _) => report::cause_json(&asked),
        (Listing::Text, "") => report::text(&report::known_causes(), style(args.color)),
        (Listing::Text, _) => report::text(&report::explained(asked[0]), style(args.color)),
    })?;
    Ok(Exit::Done)
}
