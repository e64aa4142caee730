//! Names of jobs as names of files, each once.

use std::collections::{HashMap, HashSet};

use super::draft::Draft;
use crate::fio_write::file_name;

/// Stands for the index beside the jobs.
const TAKEN: &str = "index";

/// Renames jobs whose names are no file names, or come twice, and says so.
pub(super) fn make_unique(drafts: &mut [Draft<'_>]) {
    let mut taken = HashSet::from([TAKEN.to_owned()]);
    let mut numbers: HashMap<String, u32> = HashMap::new();
    for draft in drafts {
        let written = draft.job.name.clone();
        let plain = file_name(&written);
        let mut name = plain.clone();
        while !taken.insert(name.clone()) {
            let number = numbers.entry(plain.clone()).or_insert(1);
            *number += 1;
            name = format!("{plain}-{number}");
        }
        if name != written {
            let place = draft.place().words();
            draft.notes.push(format!("{place}: job `{written}` is called `{name}` here"));
        }
        draft.job.name = name;
    }
}
