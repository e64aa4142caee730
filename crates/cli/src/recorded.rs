//! Reads and analyses records.

use iotax_analyze::Phases;
use iotax_caps::{CapNote, Caps};
use iotax_experiment::Spec;
use iotax_record::{End, ExperimentHead, Gap, Location, Reader, SearchHead, SideRecord, Trial};
use iotax_report::{AnalyzedPhase, Redactor};

use crate::exit::{Context as _, Result, failed};

/// Opens the record in `dir`.
///
/// # Errors
/// As [`Reader::open`]; if the record has invalid settings.
pub(crate) fn open(dir: &Location) -> Result<Reader<ExperimentHead>> {
    let reader = Reader::<ExperimentHead>::open(dir)?;
    let stop = &reader.head.spec.stop;
    stop.validate().with_context(|| format!("the record in {}", dir.shown().display()))?;
    Ok(reader)
}

/// The record in `dir`, and the analysis of each phase.
///
/// # Errors
/// As [`open()`]; if a trial cannot be read.
pub(crate) fn read(dir: &Location) -> Result<(Reader<ExperimentHead>, Vec<AnalyzedPhase>)> {
    let reader = open(dir)?;
    let parts = parts(dir, &reader)?;
    Ok((reader, parts))
}

/// The analysis of each phase of the record in `dir`, which `reader` has open.
///
/// # Errors
/// If a trial cannot be read.
pub(crate) fn parts(dir: &Location, reader: &Reader<ExperimentHead>) -> Result<Vec<AnalyzedPhase>> {
    let mut phases = Phases::new(&reader.head);
    for trial in reader.lines()? {
        phases.add(&trial?);
    }
    add_side_records(dir, &reader.head.spec, &mut phases, &mut Retold(None))?;
    let mut parts = phases.finish(reader.end.as_ref());
    let gaps = gaps(dir, reader)?;
    for (_, analysis) in &mut parts {
        analysis.ending.gaps.clone_from(&gaps);
    }
    Ok(parts)
}

/// What is missing in the record in `dir` and in its side records, as sentences. Also prints them
/// on stderr.
///
/// # Errors
/// If one of the records cannot be read.
pub(crate) fn gaps(dir: &Location, reader: &Reader<ExperimentHead>) -> Result<Vec<String>> {
    let mut gaps = Vec::new();
    gaps.extend(reader.gap()?.map(|gap| tell(dir, &gap)));
    for side in SideRecord::ALL {
        if let Some(reader) = side.open(dir, &reader.head.spec)? {
            gaps.extend(reader.gap()?.map(|gap| tell(&side.directory(dir), &gap)));
        }
    }
    Ok(gaps)
}

/// Prints on stderr what is missing in the record in `dir`, and returns it.
pub(crate) fn tell(dir: &Location, gap: &Gap) -> String {
    let said = gap.to_string();
    eprintln!("warning: {}: {said}", dir.shown().display());
    said
}

/// Copies a record, with pseudonyms if others will read it.
pub(crate) struct Retold(pub Option<Redactor>);

impl Retold {
    pub(crate) fn experiment(&mut self, head: &ExperimentHead) -> ExperimentHead {
        self.0.as_mut().map_or_else(|| head.clone(), |redactor| redactor.experiment(head))
    }

    pub(crate) fn trial(&mut self, trial: Trial) -> Trial {
        match &mut self.0 {
            Some(redactor) => redactor.trial(trial),
            None => trial,
        }
    }

    pub(crate) fn end(&mut self, end: Option<&End>) -> Option<End> {
        end.map(|end| self.0.as_mut().map_or_else(|| end.clone(), |redactor| redactor.end(end)))
    }
}

/// Adds the side records of the experiment `main` in `dir` to its phases.
///
/// # Errors
/// If one of them cannot be read.
pub(crate) fn add_side_records(
    dir: &Location,
    main: &Spec,
    phases: &mut Phases,
    retold: &mut Retold,
) -> Result<()> {
    for side in SideRecord::ALL {
        let Some(reader) = side.open(dir, main)? else { continue };
        let mut own = Phases::new(&retold.experiment(&reader.head));
        for trial in reader.lines()? {
            own.add(&retold.trial(trial?));
        }
        match side {
            SideRecord::Precondition => phases.preconditioned_by(&own),
            SideRecord::Drain => drop(phases.drained_by(&own)),
            SideRecord::DepthCheck => phases.checked_at_depths(&own),
            SideRecord::BelowCap => {
                phases.measured_below_caps(&own, retold.end(reader.end.as_ref()).as_ref());
            }
        }
    }
    Ok(())
}

/// The record of a search for caps, and its result.
pub(crate) fn read_search(dir: &Location) -> Result<(Reader<SearchHead>, Caps)> {
    let reader = Reader::<SearchHead>::open(dir)?;
    let probes = reader.lines()?.collect::<Result<Vec<_>, _>>()?;
    let mut caps = match iotax_run::replay(&reader.head, probes) {
        Some(caps) => caps,
        None => as_concluded(dir, &reader)?,
    };
    if let Some(gap) = reader.gap()? {
        caps.notes.push(CapNote::Said(format!("Warning: {}.", tell(dir, &gap))));
    }
    Ok((reader, caps))
}

/// The result as stored when the record was made.
fn as_concluded(dir: &Location, reader: &Reader<SearchHead>) -> Result<Caps> {
    let Some(mut caps) = reader.found::<Caps>(iotax_caps::earlier)? else {
        return Err(failed(format!(
            "{}: the probes in this record do not match its cap search, because the record was \
             edited or comes from another version of iotax; run iotax limits again",
            dir.shown().display()
        )));
    };
    caps.notes.push(CapNote::ConcludedBy { version: reader.head.iotax_version.clone() });
    Ok(caps)
}
