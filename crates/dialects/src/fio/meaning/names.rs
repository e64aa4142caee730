//! Names of jobs as names of files, each once.

use super::draft::Draft;
use crate::fio_write::file_name;
use crate::names::Names;

/// Stands for the index beside the jobs.
const TAKEN: &str = "index";

/// Renames jobs whose names are no file names, or come twice, and says so.
pub(super) fn make_unique(drafts: &mut [Draft<'_>]) {
    let mut names = Names::without(TAKEN);
    for draft in drafts {
        let written = draft.job.name.clone();
        let name = names.take(&file_name(&written));
        if name != written {
            let place = draft.place().words();
            draft.notes.push(format!("{place}: job `{written}` is called `{name}` here"));
        }
        draft.job.name = name;
    }
}
