//! Checks whether results were made by the same job.

use indexmap::{IndexMap, IndexSet};
use iotax_experiment::{Arm, Draft};

use super::file::{Measured, ResultFile};
use crate::importers::Options;
use crate::importers::imported::{bytes, microseconds};

/// Options that make the load a different one, with fio's defaults.
const WATCHED: [(&str, &str); 19] = [
    ("rw", "read"),
    ("bs", "4096"),
    ("bsrange", ""),
    ("bssplit", ""),
    ("iodepth", "1"),
    ("numjobs", "1"),
    ("ioengine", "psync"),
    ("direct", "0"),
    ("sync", "0"),
    ("fsync", "0"),
    ("size", ""),
    ("runtime", ""),
    ("rwmixread", "50"),
    ("rwmixwrite", ""),
    ("percentage_random", ""),
    ("random_distribution", ""),
    ("rate", ""),
    ("rate_iops", ""),
    ("thinktime", "0"),
];

/// Options that `DiskSpd` does not have.
const NOT_OF_DISKSPD: [&str; 3] = ["ioengine", "size", "rwmixread"];

/// If no name is common but each result has one job with I/O: gives these the name of the first,
/// with a note.
pub(super) fn one_name(reads: &mut [ResultFile]) -> Option<String> {
    let lone = |read: &ResultFile| -> Option<usize> {
        let mut busy = (0..read.jobs.len()).filter(|at| read.jobs[*at].is_busy());
        busy.next().filter(|_| busy.next().is_none())
    };
    let places: Vec<usize> = reads.iter().map(lone).collect::<Option<_>>()?;
    let name = |at: usize| reads[at].jobs[places[at]].name.clone();
    let first = places.first().map(|_| name(0))?;
    let other = (1..reads.len()).find(|at| name(*at) != first)?;
    let note = format!(
        "job {} of {} is compared with {first} of {}, because each result has only one job",
        name(other),
        reads[other].file.display(),
        reads[0].file.display()
    );
    for (read, at) in reads.iter_mut().zip(places) {
        read.jobs[at].rename(&first);
    }
    Some(note)
}

/// For jobs of the first result that another result does not have under that name, but has exactly
/// one of the same direction, order, block size and depth: gives it the name of the first, with a
/// note.
pub(super) fn one_shape(reads: &mut [ResultFile]) -> Vec<String> {
    let Some((first, others)) = reads.split_first_mut() else { return Vec::new() };
    let mut notes = Vec::new();
    for other in others {
        let mut alike = Vec::new();
        for job in first.jobs.iter().filter(|job| !other.has(&job.name)) {
            let Some(shape) = shape(&job.options) else { continue };
            let is_alike = |job: &Measured| self::shape(&job.options).as_ref() == Some(&shape);
            let lone = |read: &ResultFile| {
                let mut at = (0..read.jobs.len()).filter(|at| is_alike(&read.jobs[*at]));
                at.next().filter(|_| at.next().is_none())
            };
            if let (Some(_), Some(at)) = (lone(first), lone(other))
                && !first.has(&other.jobs[at].name)
            {
                alike.push((at, job.name.clone()));
            }
        }
        for (at, name) in alike {
            notes.push(format!(
                "job {} of {} is compared with {name} of {}, because no other job has the same \
                 load",
                other.jobs[at].name,
                other.file.display(),
                first.file.display()
            ));
            other.jobs[at].rename(&name);
        }
    }
    notes
}

/// What a job does, according to its options: direction and order, block size, depth.
fn shape(options: &Options) -> Option<[String; 3]> {
    let order = options.any(&["rw", "readwrite"])?;
    let block = options.any(&["bs", "blocksize", "bssplit", "bsrange"])?;
    let block = bytes(block).map_or(block.to_owned(), |bytes| bytes.to_string());
    Some([order.to_owned(), block, options.value("iodepth").unwrap_or("1").to_owned()])
}

/// One sentence if the job `name` was not the same in all results; it is named if there are
/// `others`.
pub(super) fn differences(
    arms: &[Arm],
    reads: &[ResultFile],
    name: &str,
    others: bool,
) -> Option<String> {
    let made = reads.iter().filter_map(|read| {
        let job = read.jobs.iter().find(|job| job.name == name)?;
        Some(Made { read, options: &job.options })
    });
    let made: Vec<Made<'_>> = made.collect();
    if let Some(silent) = made.iter().find(|made| made.options.0.is_empty()) {
        let file = silent.read.file.display();
        return Some(format!(
            "{file} does not contain the options of its jobs, so iotax cannot check whether the \
             jobs are the same"
        ));
    }
    let differing: Vec<String> =
        WATCHED.iter().filter_map(|(option, usual)| differs(arms, &made, option, usual)).collect();
    let job = if others { format!(" ({name})") } else { String::new() };
    (!differing.is_empty())
        .then(|| format!("the results are not from the same job{job}: {}", differing.join("; ")))
}

/// A job of a result with its options.
struct Made<'a> {
    read: &'a ResultFile,
    options: &'a Options,
}

/// `bs 4k in before, 8k in after`, if it differs.
fn differs(arms: &[Arm], made: &[Made<'_>], option: &str, usual: &str) -> Option<String> {
    let diskspd = |made: &Made<'_>| made.read.tool.starts_with("DiskSpd");
    if NOT_OF_DISKSPD.contains(&option) && made.iter().any(diskspd) {
        return None;
    }
    let meant = |made: &Made<'_>| {
        let text = made.options.value(option).unwrap_or(usual);
        amount(option, text).map_or(text.to_owned(), |amount| amount.to_string())
    };
    let first = meant(made.first()?);
    if made.iter().all(|made| meant(made) == first) {
        return None;
    }
    let unset = if usual.is_empty() { "none" } else { usual };
    let shown = |made: &Made<'_>| made.options.value(option).unwrap_or(unset).to_owned();
    let of_arms: Vec<String> = (0..arms.len())
        .filter_map(|arm| {
            let own = made.iter().filter(|made| made.read.arm == arm).map(shown);
            let values: Vec<String> = own.collect::<IndexSet<_>>().into_iter().collect();
            (!values.is_empty()).then(|| format!("{} in {}", values.join(" and "), arms[arm].name))
        })
        .collect();
    Some(format!("{option} {}", of_arms.join(", ")))
}

/// The value of a size or a time, so that `4k` equals `4096`; `None` for other text.
fn amount(option: &str, text: &str) -> Option<u64> {
    match option {
        "bs" | "size" | "rate" => bytes(text),
        "runtime" => microseconds(text),
        _ => None,
    }
}

// Which jobs of results have a partner on the other side, and which do not.

/// Number of names to list before the rest are only counted.
const MOST_LISTED: usize = 4;

/// All jobs, in the order of the results.
pub(super) fn names(reads: &[ResultFile]) -> Vec<String> {
    let names = reads.iter().flat_map(|read| &read.jobs).map(|job| &job.name);
    names.collect::<IndexSet<_>>().into_iter().cloned().collect()
}

/// Whether both sides of a comparison have the job; with one arm, whether it has.
pub(super) fn has_sides(reads: &[ResultFile], spec: &Draft, name: &str) -> bool {
    let of_arm = |arm: usize| reads.iter().any(|read| read.arm == arm && read.has(name));
    match spec.arms.len() {
        1 => of_arm(0),
        _ => spec.pairs().into_iter().any(|pair| pair.into_iter().all(of_arm)),
    }
}

/// Notes on jobs that are left out, and on results that lack some jobs of the others.
pub(super) fn missing(reads: &[ResultFile], arms: &[Arm], kept: &[String]) -> Vec<String> {
    let arms_of = |name: &str| -> Vec<&str> {
        let of_arm = |arm: &usize| reads.iter().any(|read| read.arm == *arm && read.has(name));
        (0..arms.len()).filter(of_arm).map(|arm| arms[arm].name.as_str()).collect()
    };
    let mut left_out: IndexMap<Vec<&str>, Vec<String>> = IndexMap::new();
    for name in names(reads).into_iter().filter(|name| !kept.contains(name)) {
        left_out.entry(arms_of(&name)).or_default().push(name);
    }
    let mut notes: Vec<String> = left_out
        .into_iter()
        .map(|(arms, names)| {
            format!("left out (found only in {}): {}", arms.join(" and "), names.join(", "))
        })
        .collect();
    for name in kept {
        let lacking = reads.iter().filter(|read| !read.has(name));
        let files: Vec<String> = lacking.map(|read| read.file.display().to_string()).collect();
        if !files.is_empty() {
            notes.push(format!("{name} is not in {}", shortened(&files)));
        }
    }
    notes
}

/// `first, second`
pub(super) fn listed(jobs: &[Measured]) -> String {
    shortened(&jobs.iter().map(|job| job.name.clone()).collect::<Vec<_>>())
}

fn shortened(names: &[String]) -> String {
    let more = if names.len() > MOST_LISTED { ", ..." } else { "" };
    format!("{}{more}", names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", "))
}

/// Whether some of them are records with several arms, each of which names its jobs.
pub(super) fn are_arms(reads: &[ResultFile]) -> bool {
    reads.iter().any(|read| read.is_ours() && read.jobs.iter().all(|job| job.name.contains(": ")))
}
