//! Meaning of fio's options: turns sections as written into phases of jobs.
//!
//! Each option has a [`Class`](super::options::Class). Options with a meaning are read here, by
//! family, as fio 3.33 reads them (`init.c`, `io_u.c`, `filesetup.c`); the others need no code.

mod draft;
mod engine;
mod order;
mod phases;
mod places;
mod replay;
mod rest;
#[cfg(test)]
mod tests;

use indexmap::IndexSet;
use iotax_experiment::{Error, Origin, Workload};

use super::section::{Ignored, Include, Section};
use crate::fio_write::file_name;
use crate::names::{Names, shorten_targets};
use crate::shell;
use draft::Draft;

/// The phases that the sections describe, in order. `origin` is the name of the file, or `a fio
/// command line`; `name` is the name of the whole; `outside` has the logs that jobs replay.
///
/// Each phase is a workload of its own: all its jobs start together. Its throughput is that of its
/// first measured job.
pub(super) fn phases(
    sections: &[Section],
    origin: &str,
    name: Option<&str>,
    outside: Include<'_>,
) -> Result<Vec<Workload>, Error> {
    let draft = |section| Draft::of_section(section, outside);
    let mut drafts = sections.iter().map(draft).collect::<Result<Vec<_>, _>>()?;
    make_names_unique(&mut drafts);
    bind_checks(&mut drafts);
    let phases = phases::split(&mut drafts)?;
    let last = phases.len().saturating_sub(1);
    let mut workloads: Vec<Workload> = Vec::new();
    for (n, phase) in phases.iter().enumerate() {
        let name = name.filter(|_| last == 0);
        // Phases are ranges of the list.
        let mut members: Vec<Draft<'_>> = drafts.drain(..phase.len()).collect();
        refuse_beside_replay(&members)?;
        phases::check_exits(&mut members, n == last);
        workloads.push(workload(members, origin, name));
    }
    shorten_targets(&mut workloads);
    Ok(workloads)
}

/// Refuses jobs that run together with the replay of a log.
fn refuse_beside_replay(drafts: &[Draft<'_>]) -> Result<(), Error> {
    let log = drafts.iter().find_map(|draft| draft.chosen.get("read_iolog"));
    let Some(setting) = log.filter(|_| drafts.len() > 1) else { return Ok(()) };
    let problem = "a log is replayed alone, but other jobs run at the same time";
    let advice = "separate the jobs with stonewall; to replay several logs together, give them to \
                  one job: read_iolog=a.log:b.log with numjobs=2";
    Err(setting.refuse(problem, advice))
}

fn workload(mut drafts: Vec<Draft<'_>>, origin: &str, name: Option<&str>) -> Workload {
    for draft in &mut drafts {
        draft.timing.ends_all = draft.job.ends_all;
    }
    let timings: Vec<_> = drafts.iter().map(|draft| draft.timing).collect();
    let window = phases::window_of(&timings);
    phases::notes(&mut drafts, window);
    let first = drafts.iter().find(|draft| !window.is_before(&draft.timing));
    let first = first.map(|draft| draft.job.name.clone()).unwrap_or_default();
    let together = together(&drafts);
    let (mut jobs, mut notes) = (Vec::new(), IndexSet::new());
    for mut draft in drafts {
        draft.job.start_delay_ns = draft.timing.delay_ns;
        draft.job.end_after_ns = window.own_end_ns(&draft.timing);
        jobs.push(draft.job);
        // Notes about [global] are given once.
        notes.extend(draft.notes);
        for Ignored { place, why } in &draft.chosen.section.ignored {
            let written = place.text.get(place.span.clone()).unwrap_or_default();
            notes.insert(format!("{}: {}: {why}", place.words(), shell::shown(written)));
        }
    }
    Workload {
        about: format!("Read from {origin}."),
        ramp_ns: window.ramp_ns,
        time_ns: window.time_ns,
        primary: first,
        origin: Some(Origin::Text(origin.to_owned())),
        notes: notes.into_iter().collect(),
        ..Workload::new(name.map_or(together, str::to_owned), jobs)
    }
}

/// A name for jobs that run together: their names, as far as they fit into a heading.
fn together(drafts: &[Draft<'_>]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = drafts.iter().take(SHOWN).map(|draft| draft.job.name.as_str()).collect();
    let more = drafts.len().saturating_sub(SHOWN);
    match more {
        0 => shown.join(" + "),
        _ => format!("{} + {more} more", shown.join(" + ")),
    }
}

/// Reserved for the index beside the jobs.
const TAKEN: &str = "index";

/// Renames jobs whose names are repeated or are not file names, and notes it.
fn make_names_unique(drafts: &mut [Draft<'_>]) {
    let mut names = Names::without(TAKEN);
    for draft in drafts {
        let written = draft.job.name.clone();
        let name = names.take(&file_name(&written));
        if name != written {
            let place = draft.place().words();
            draft.notes.push(format!("{place}: job `{written}` is renamed to `{name}`"));
        }
        draft.job.name = name;
    }
}

const OTHERS: &str = "iotax verifies its own checksums, which another job of this file writes";
const UNKNOWN: &str = "verifies data that no other job of this file writes";

/// Finds, for each job that only reads and verifies, the job that wrote the data.
fn bind_checks(drafts: &mut [Draft<'_>]) {
    for at in 0..drafts.len() {
        let job = &drafts[at].job;
        if !(job.verify_apart && job.reads()) {
            continue;
        }
        let is_writer = |other: &Draft<'_>| {
            let other = &other.job;
            (other.verify || other.verify_apart)
                && other.writes_data()
                && (&other.files, &other.target) == (&job.files, &job.target)
                && other.granule_bytes() == job.granule_bytes()
        };
        let is_written = drafts[..at].iter().any(is_writer);
        let draft = &mut drafts[at];
        let Some(setting) = draft.chosen.get("verify") else { continue };
        if is_written {
            draft.note(setting, OTHERS);
        } else {
            draft.job.verify_apart = false;
            draft.job.verify_ends = false;
            draft.beyond(setting, UNKNOWN);
        }
    }
}
