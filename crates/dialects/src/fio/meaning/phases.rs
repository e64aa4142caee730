//! Which jobs run together, and which after others: `stonewall`, `wait_for`, `exitall`.

use std::ops::Range;

use iotax_experiment::Error;

use super::draft::Draft;

/// Jobs that run together, as positions in the list of all.
pub(super) type Phase = Range<usize>;

/// The phases, in their order.
pub(super) fn split(drafts: &mut [Draft<'_>]) -> Result<Vec<Phase>, Error> {
    let mut phases: Vec<Phase> = Vec::new();
    // The job whose `wait_for` began the phase.
    let mut waiting: Option<usize> = None;
    for at in 0..drafts.len() {
        let starts = match phases.last() {
            None => true,
            Some(phase) => {
                let phase_of = |at: usize| drafts[at].chosen.section.phase;
                phase_of(at) != phase_of(phase.start) || stonewalled(drafts, at)?
            }
        };
        if starts {
            phases.push(at..at + 1);
            waiting = None;
            continue;
        }
        match waits(drafts, at, &phases)? {
            Wait::NewPhase => {
                phases.push(at..at + 1);
                waiting = Some(at);
                continue;
            }
            Wait::Part => too_late(drafts, at, "starts when one of several jobs ends"),
            Wait::Over => {}
            // In fio it would have started with the phase before.
            Wait::None => {
                if let Some(waiter) = waiting.take() {
                    too_late(drafts, waiter, "starts while other jobs still run");
                }
            }
        }
        if let Some(phase) = phases.last_mut() {
            phase.end = at + 1;
        }
    }
    late_starts(drafts, &phases);
    Ok(phases)
}

/// Whether a job waits for all that were started before it.
fn stonewalled(drafts: &[Draft<'_>], at: usize) -> Result<bool, Error> {
    let chosen = &drafts[at].chosen;
    let Some(setting) = chosen.get("stonewall") else { return Ok(false) };
    if !setting.boolean()? {
        return Ok(false);
    }
    let (command, phase) = (chosen.section.command, chosen.section.phase);
    let mut together = drafts.iter().map(|d| d.chosen.section).filter(|s| s.phase == phase);
    let is_first = !drafts[..at].iter().any(|earlier| {
        let section = earlier.chosen.section;
        (section.phase, section.command) == (phase, command)
    });
    if is_first {
        return Ok(false);
    }
    if together.any(|section| section.command != command) {
        let advice = "join the commands with `;` instead of `&`, or leave it out";
        return Err(setting.refuse("phases of commands that run side by side", advice));
    }
    Ok(true)
}

enum Wait {
    /// It waits for nobody.
    None,
    /// The job waited for is over by then.
    Over,
    /// It waits for all that runs.
    NewPhase,
    /// It waits for some of what runs.
    Part,
}

fn waits(drafts: &[Draft<'_>], at: usize, phases: &[Phase]) -> Result<Wait, Error> {
    let Some(setting) = drafts[at].chosen.get("wait_for") else { return Ok(Wait::None) };
    let name = setting.value.as_deref().unwrap_or_default();
    let Some(current) = phases.last() else { return Ok(Wait::None) };
    let found = drafts[..at].iter().rposition(|draft| draft.chosen.section.name == name);
    match found {
        Some(job) if job < current.start => return Ok(Wait::Over),
        Some(_) if current.len() == 1 => return Ok(Wait::NewPhase),
        Some(_) => return Ok(Wait::Part),
        None => {}
    }
    Err(setting.refuse_value("there is no such job before this one", ""))
}

fn too_late(drafts: &mut [Draft<'_>], at: usize, why: &str) {
    if let Some(setting) = drafts[at].chosen.get("wait_for") {
        drafts[at].beyond(setting, why);
    }
}

/// fio counts `startdelay` from its own start: in later phases some of it has passed.
fn late_starts(drafts: &mut [Draft<'_>], phases: &[Phase]) {
    for at in phases.iter().skip(1).cloned().flatten() {
        let draft = &mut drafts[at];
        if let Some(setting) = draft.chosen.get("startdelay")
            && draft.timing.delay_ns > draft.chosen.section.start_offset_ns
        {
            draft.note(setting, "from the start of its phase; fio counts from its own start");
        }
    }
}

/// Who else ends with a job that has `exitall`, in fio; `drafts` are the jobs of a phase.
pub(super) fn check_exits(drafts: &mut [Draft<'_>], is_last: bool) {
    let groups = groups(drafts);
    for (at, draft) in drafts.iter_mut().enumerate().filter(|(_, draft)| draft.job.ends_all) {
        let what = draft.chosen.get("exit_what");
        let members = groups.iter().filter(|group| **group == groups[at]).count();
        match what.map_or("group", |setting| setting.word().0) {
            // It ends alone.
            "group" if members == 1 => draft.job.ends_all = false,
            "group" if members < groups.len() => {
                if let Some(setting) = draft.chosen.get("exitall") {
                    draft.beyond(setting, "ends the jobs of its own group only");
                }
            }
            "all" if !is_last => {
                if let Some(setting) = what {
                    draft.beyond(setting, "keeps later phases from running");
                }
            }
            _ => {}
        }
    }
}

/// The reporting group of each job of a phase.
fn groups(drafts: &[Draft<'_>]) -> Vec<usize> {
    let mut group = 0;
    let numbers = drafts.iter().map(|draft| {
        group += usize::from(draft.chosen.switch("new_group", false) == Ok(true));
        group
    });
    numbers.collect()
}
