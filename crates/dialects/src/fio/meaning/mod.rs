//! What fio's options mean: from sections as written to phases of jobs.
//!
//! Each option has a [`Class`](super::options::Class). Those with a meaning are read in `families/`, one
//! family per file, as fio 3.33 reads them (`init.c`, `io_u.c`, `filesetup.c`); the others need no
//! code.

mod checks;
mod chosen;
mod draft;
mod families;
mod names;
mod phases;
#[cfg(test)]
mod tests;
mod window;

use indexmap::IndexSet;
use iotax_experiment::{Error, Origin, Workload};

use super::section::{Ignored, Section};
use crate::{shell, targets};
use draft::Draft;

/// The phases that the sections describe, in their order. `origin` is the file's name, or `a fio
/// command line`; `name` is that of the whole.
///
/// Each phase is a workload of its own: all its jobs start together, and its throughput is that of
/// its first job (of those that are measured).
pub(super) fn phases(
    sections: &[Section],
    origin: &str,
    name: Option<&str>,
) -> Result<Vec<Workload>, Error> {
    let mut drafts = sections.iter().map(Draft::read).collect::<Result<Vec<_>, _>>()?;
    names::make_unique(&mut drafts);
    checks::bind(&mut drafts);
    let phases = phases::split(&mut drafts)?;
    let last = phases.len().saturating_sub(1);
    let mut workloads: Vec<Workload> = Vec::new();
    for (n, phase) in phases.iter().enumerate() {
        let name = name.filter(|_| last == 0);
        // Phases are stretches of the list.
        let mut members: Vec<Draft<'_>> = drafts.drain(..phase.len()).collect();
        phases::check_exits(&mut members, n == last);
        workloads.push(workload(members, origin, name));
    }
    targets::shorten(&mut workloads);
    Ok(workloads)
}

fn workload(mut drafts: Vec<Draft<'_>>, origin: &str, name: Option<&str>) -> Workload {
    for draft in &mut drafts {
        draft.timing.ends_all = draft.job.ends_all;
    }
    let timings: Vec<_> = drafts.iter().map(|draft| draft.timing).collect();
    let window = window::of(&timings);
    window::notes(&mut drafts, window);
    let first = drafts.iter().find(|draft| !window.is_before(&draft.timing));
    let first = first.map(|draft| draft.job.name.clone()).unwrap_or_default();
    let together = together(&drafts);
    let (mut jobs, mut notes) = (Vec::new(), IndexSet::new());
    for mut draft in drafts {
        draft.job.start_delay_ns = draft.timing.delay_ns;
        draft.job.end_after_ns = window.own_end_ns(&draft.timing);
        jobs.push(draft.job);
        // What stands in [global] is said once.
        notes.extend(draft.notes);
        for Ignored { place, why } in &draft.chosen.section.ignored {
            let written = place.text.get(place.span.clone()).unwrap_or_default();
            notes.insert(format!("{}: {}: {why}", place.words(), shell::shown(written)));
        }
    }
    Workload {
        name: name.map_or(together, str::to_owned),
        about: format!("Read from {origin}."),
        ramp_ns: window.ramp_ns,
        time_ns: window.time_ns,
        jobs,
        index: None,
        primary: first,
        requires: None,
        origin: Some(Origin::Text(origin.to_owned())),
        notes: notes.into_iter().collect(),
        yields: None,
    }
}

/// A name for jobs that run together: theirs, as far as a heading has room.
fn together(drafts: &[Draft<'_>]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<&str> = drafts.iter().take(SHOWN).map(|draft| draft.job.name.as_str()).collect();
    let more = drafts.len().saturating_sub(SHOWN);
    match more {
        0 => shown.join(" + "),
        _ => format!("{} + {more} more", shown.join(" + ")),
    }
}
