//! Whole replays, and parts that are replayed one after the other on each target.
//!
//! # Why parts are replayed in order
//!
//! A part needs the files as the parts before it leave them: their sizes and extents, what is in the
//! page cache, files that are unlinked but still open. This module does not compute such a state.
//! It replays the parts in order on each target, and keeps the files open in between. The state is
//! then what the same I/Os made of it on that storage. If a target is not where it should be, for
//! example after a failed trial, its files are laid out again, and the parts before the next one
//! are replayed without think times and without being counted.
//!
//! After the last part, the files are restored, and the recording begins again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

use iotax_quantity::size;
use iotax_record::LoadRecord;
use iotax_vdisk::available_memory;

use super::drive::{Copy, ReadAhead, Tracks, Trial};
use super::files::Files;
use super::graph::Roles;
use super::needs::{Buffering, raise_file_limit};
use super::parts::{Cut, Part};
use super::place::{Layout, Place, Warmed, cool_or_warm, make_ready};
use super::signal::Halt;
use super::survey::{Recording, Survey};
use crate::driver::{LayoutProgress, Request};
use crate::engine::gate::Gate;
use crate::error::Error;

/// Copies start one after the other, within this part of the replay: long enough that their bursts
/// do not coincide, and short enough that all of them run most of the time.
const STARTS_WITHIN_ONE_IN: u64 = 10;

/// Targets between two parts.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<PathBuf, Session>>);

/// A target between two parts.
struct Session {
    /// Of each copy.
    files: Vec<Files>,
    /// Number of the next part.
    next: usize,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, path: &Path) -> Option<Session> {
        self.lock().remove(path)
    }

    fn put(&self, path: &Path, session: Session) {
        self.lock().insert(path.to_owned(), session);
    }

    fn count(&self) -> usize {
        self.lock().len()
    }

    /// Closes all files.
    pub(super) fn end(&self) {
        self.lock().clear();
    }
}

/// Lays out the files of all copies. Files that are there already are used.
pub(super) fn prepare(
    recording: &Recording,
    places: &[Place],
    progress: &LayoutProgress<'_>,
    stop: &std::sync::atomic::AtomicBool,
) -> Result<(), Error> {
    Buffering::of(&recording.survey).refuse_beyond(recording.options.copies)?;
    make_ready(&layouts(recording, places), progress, stop)
}

fn layouts<'a>(recording: &'a Recording, places: &'a [Place]) -> Vec<Layout<'a>> {
    let layout = |place: &'a Place| match place {
        Place::Directory(path) => Some(Layout::of(recording, path)),
        Place::Device { .. } => None,
    };
    places.iter().filter_map(layout).collect()
}

/// Replays the part of the request, or all of the recording as often as its time needs.
pub(super) fn run(
    recording: &Recording,
    sessions: &Sessions,
    request: &Request<'_>,
    ahead: ReadAhead,
) -> Result<LoadRecord, Error> {
    let places = Place::of_copies(recording, request.target)?;
    let tracks = Tracks::of(&recording.survey);
    let ahead = ahead.shared_by(recording.options.copies);
    let stage = Stage { recording, sessions, request, places, tracks, ahead };
    match request.part {
        Some(part) => stage.part(part),
        None => stage.whole(),
    }
}

struct Stage<'a> {
    recording: &'a Recording,
    sessions: &'a Sessions,
    request: &'a Request<'a>,
    places: Vec<Place>,
    tracks: Tracks,
    ahead: ReadAhead,
}

/// How a part is replayed.
#[derive(Debug, Clone, Copy, Default)]
struct Manner {
    /// When it must end, after its start.
    limit_ns: Option<u64>,
    /// Without think times, and without being counted.
    is_hurried: bool,
    /// Another part follows, with the files as they are then.
    is_continued: bool,
    /// Of the same trial; only the first shows its window.
    pass: u64,
}

/// A replay, and whether it came to its end.
struct Replayed {
    load: LoadRecord,
    is_whole: bool,
}

impl Stage<'_> {
    /// A shorter trial ends early. A longer one repeats the recording: as often as it takes at the
    /// recorded speed, so that all arms do the same. Files are restored in between, which is not
    /// measured.
    fn whole(&self) -> Result<LoadRecord, Error> {
        drop(self.sessions.take(self.key()));
        let survey = &self.recording.survey;
        let (time_ns, length_ns) = (self.request.time_ns, survey.length_ns.max(1));
        let part = survey.whole();
        let limit_ns = Some(time_ns).filter(|time_ns| *time_ns < length_ns);
        let mut all: Option<LoadRecord> = None;
        for pass in 0..time_ns.div_ceil(length_ns).max(1) {
            let replayed = self.begin().and_then(|(files, warmed)| {
                let manner = Manner { limit_ns, pass, ..Manner::default() };
                let mut replayed = self.perform(&part, &files, manner)?;
                warmed.note_in(&mut replayed.load);
                Ok(replayed)
            });
            let Replayed { load, is_whole } = match replayed {
                // What was replayed before the user stopped it counts.
                Err(Error::Interrupted) if all.is_some() => break,
                replayed => replayed?,
            };
            match &mut all {
                Some(all) => all.add(&load),
                None => all = Some(load),
            }
            if !is_whole {
                break;
            }
        }
        Ok(all.expect("at least one pass"))
    }

    /// One part; after the last comes the first.
    fn part(&self, number: u32) -> Result<LoadRecord, Error> {
        let survey = &self.recording.survey;
        let count = survey.cuts.as_ref().map_or(0, Vec::len) + 1;
        let number = number as usize % count;
        let mut warmed = Warmed::default();
        let there = self.sessions.take(self.key()).filter(|there| there.next == number);
        let mut session = if let Some(session) = there.filter(|_| number > 0) {
            session
        } else {
            let (files, read) = self.begin()?;
            warmed = read;
            Session { files, next: 0 }
        };
        while session.next < number {
            let manner = Manner { is_hurried: true, is_continued: true, ..Manner::default() };
            if !self.numbered(&session, manner)?.is_whole {
                return Err(Error::Interrupted);
            }
            session.next += 1;
        }
        let is_continued = number + 1 < count;
        let manner = Manner { is_continued, ..Manner::default() };
        let mut replayed = self.numbered(&session, manner)?;
        warmed.note_in(&mut replayed.load);
        session.next += 1;
        if replayed.is_whole && is_continued {
            self.sessions.put(self.key(), session);
        }
        Ok(replayed.load)
    }

    fn numbered(&self, session: &Session, manner: Manner) -> Result<Replayed, Error> {
        let part = self.recording.survey.part(session.next).expect("there is that part");
        self.perform(&part, &session.files, manner)
    }

    fn key(&self) -> &Path {
        self.places.first().map_or(Path::new(""), Place::path)
    }

    /// Brings the files of all copies to the start of the recording, and opens them.
    fn begin(&self) -> Result<(Vec<Files>, Warmed), Error> {
        let (recording, stop) = (self.recording, self.request.stop);
        prepare(recording, &self.places, &|_, _| {}, stop)?;
        let layouts = layouts(recording, &self.places);
        layouts.iter().try_for_each(Layout::use_now)?;
        let available_bytes = || available_memory().map(|available| available.bytes);
        let warmed = cool_or_warm(&layouts, available_bytes, stop)?;
        let others = u32::try_from(self.sessions.count()).unwrap_or(u32::MAX);
        let copies = recording.options.copies;
        raise_file_limit(&recording.survey, copies.saturating_mul(others.saturating_add(1)))?;
        let files = self.places.iter().map(|place| Files::open(&recording.survey, place));
        Ok((files.collect::<Result<_, _>>()?, warmed))
    }

    fn perform(&self, part: &Part, files: &[Files], manner: Manner) -> Result<Replayed, Error> {
        let Request { stop, live, workload, .. } = *self.request;
        let live = live.filter(|_| !manner.is_hurried);
        let length_ns = manner.limit_ns.unwrap_or(part.length_ns);
        let copies = files.len() as u64;
        let seed = self.request.seed.wrapping_add(manner.pass.rotate_left(32));
        let copy = |(number, files): (u64, _)| {
            let halt = Halt::new(stop);
            halt.hurried.store(manner.is_hurried, Ordering::Relaxed);
            let shift_ns = length_ns / STARTS_WITHIN_ONE_IN * number / copies;
            let shift_ns = if manner.is_hurried { 0 } else { shift_ns };
            let seed = seed ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03);
            Copy::new(
                &self.tracks,
                files,
                &self.recording.survey,
                self.ahead,
                halt,
                [seed, shift_ns],
            )
        };
        let trial = Trial {
            recording: self.recording,
            part,
            tracks: &self.tracks,
            copies: (0..).zip(files).map(copy).collect(),
            gate: Gate::new(),
            piece_bytes: Buffering::of(&self.recording.survey).piece_bytes,
            job: workload.jobs.first().map_or_else(|| "replay".to_owned(), |job| job.name.clone()),
            // Reserves room for the per-second counters of a replay up to ten times slower than the
            // recording.
            seconds: usize::try_from(length_ns / 100_000_000).unwrap_or(0).min(1 << 16),
            limit_ns: manner.limit_ns,
            live,
            window: live.filter(|_| manner.pass == 0),
            is_continued: manner.is_continued,
        };
        let load = trial.perform()?;
        Ok(Replayed { load, is_whole: trial.is_whole(manner.is_continued) })
    }
}

impl Warmed {
    fn note_in(&self, load: &mut LoadRecord) {
        if let Some(replay) = &mut load.replay {
            replay.warmed_bytes = self.bytes;
        }
        if let Some(too_large) = self.too_large {
            load.warnings.push(format!(
                "files were not read into the page cache, although they were in it when the \
                 recording began: they need {}, but only {} of memory is available",
                size(too_large.cached_bytes),
                size(too_large.available_bytes)
            ));
        }
    }
}

impl Survey {
    fn whole(&self) -> Part {
        Part {
            after: None,
            events: None,
            roles: self.roles.clone(),
            length_ns: self.length_ns,
            operations: self.operations.iter().sum(),
        }
    }

    /// The part of this number; `None` after the last.
    fn part(&self, number: usize) -> Option<Part> {
        let cuts = self.cuts.as_ref().map_or(&[][..], Vec::as_slice);
        let begin = if number == 0 { None } else { Some(cuts.get(number - 1)?) };
        let end = cuts.get(number);
        let whole = self.whole();
        let first = begin.map_or(0, |cut| cut.last.number + 1);
        let origin_ns = begin.map_or(whole.roles.origin_ns, |cut| cut.time_ns);
        let end_ns = end.map_or(whole.roles.origin_ns + whole.length_ns, |cut| cut.time_ns);
        let until = end.map_or(whole.operations, Cut::operations_before);
        let mut roles = Roles { origin_ns, ..whole.roles };
        for (role, facts) in roles.files.iter_mut().zip(&self.files) {
            // A file that an earlier part has created is there.
            role.is_created &= facts.first_event >= first;
        }
        Some(Part {
            after: begin.map(|cut| cut.last),
            events: end.map(|cut| cut.last.number + 1 - first),
            roles,
            length_ns: end_ns.saturating_sub(origin_ns),
            operations: until.saturating_sub(begin.map_or(0, Cut::operations_before)),
        })
    }
}
