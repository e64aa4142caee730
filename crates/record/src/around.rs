//! Whether a path belongs to a record.

use std::path::{Path, PathBuf};

use crate::experiment::ExperimentHead;
use crate::search::SearchHead;
use crate::store::Record as _;

/// The iotax results directory that `path` is, or is in, whether or not the path exists.
pub fn record_around(path: &Path) -> Option<PathBuf> {
    let all = std::path::absolute(path).ok()?;
    let there = all.ancestors().find_map(|part| part.canonicalize().ok())?;
    let holds = |dir: &Path, files: [&str; 2]| files.iter().all(|file| dir.join(file).is_file());
    let is_record = |dir: &&Path| {
        holds(dir, [ExperimentHead::HEAD, ExperimentHead::LINES])
            || holds(dir, [SearchHead::HEAD, SearchHead::LINES])
    };
    there.ancestors().find(is_record).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn whatever_lies_in_a_record_belongs_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("results/sub")).unwrap();
        fs::write(root.join("results/experiment.json"), "{}").unwrap();
        assert_eq!(record_around(&root.join("results")), None, "half of a record is none");
        fs::write(root.join("results/trials.jsonl"), "").unwrap();
        std::os::unix::fs::symlink(root.join("results/sub"), root.join("link")).unwrap();
        for path in
            ["results", "results/", "results/sub/new/file", "results/trials.jsonl", "link/x"]
        {
            assert_eq!(record_around(&root.join(path)), Some(root.join("results")), "{path}");
        }
        assert_eq!(record_around(&root), None);
        assert_eq!(record_around(&root.join("results2")), None);
    }
}
