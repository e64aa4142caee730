//! Takes down what killed runs left behind.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Error;
use crate::journal::{self, Found, Open, journals};
use crate::undone::Undone;

/// What [`undo`] did.
#[derive(Debug, Default)]
pub struct UndoReport {
    /// Descriptions of what was removed now.
    pub removed: Vec<String>,
    /// What was forgotten, because its directory is gone.
    pub lost: Vec<String>,
    /// Journals whose run is still alive, or that another process undoes: left alone.
    pub live: usize,
    /// The processes of these runs.
    pub processes: BTreeSet<u32>,
    /// What could not be undone, with path, reason and advice. It stays in its journal.
    pub problems: Vec<Error>,
}

/// Undoes what killed runs left behind (`kill -9`, power loss), according to the journals below
/// `state_dir`. It may be called at any time, by several processes at once, and repeatedly: living
/// runs are left alone, and it is not an error if something is already undone. Only what has the
/// mark of its run is removed.
pub fn undo(state_dir: &Path) -> UndoReport {
    let mut report = UndoReport::default();
    if let Err(error) = undo_all(state_dir, &mut report) {
        report.problems.push(error);
    }
    report
}

fn undo_all(state_dir: &Path, report: &mut UndoReport) -> Result<(), Error> {
    let Some(directory) = journal::directory(state_dir)? else { return Ok(()) };
    for name in journals(&directory)? {
        match Open::found(&directory, &name) {
            Ok(Found::Dead(open)) => {
                let UndoReport { removed, lost, .. } = report;
                let errors = open.unwind(&mut |entry, undone| match undone {
                    Undone::Removed => removed.push(entry.to_string()),
                    Undone::Lost => lost.push(entry.to_string()),
                    Undone::Absent => {}
                });
                report.problems.extend(errors);
            }
            Ok(Found::Living { owner }) => {
                report.live += 1;
                report.processes.extend(owner);
            }
            Ok(Found::Gone) => {}
            Err(error) => report.problems.push(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    use crate::entry::{Entry, inode_of_parent};
    use crate::identity::Identity;
    use crate::journal::Journal;
    use crate::scratch;

    /// A directory to work in, a state directory, and a journal of a run that died.
    struct Dead {
        root: tempfile::TempDir,
    }

    impl Dead {
        /// A run that made a private directory with a file in it and was killed.
        fn with_directory() -> (Self, PathBuf) {
            let dead = Self { root: tempfile::tempdir().unwrap() };
            fs::create_dir(dead.root.path().join("target")).unwrap();
            let mut journal = Journal::new(Some(dead.state()));
            let made = scratch::make(&dead.target(), &mut journal).unwrap().shown().to_owned();
            fs::write(made.join("job.0"), "data").unwrap();
            journal.die();
            (dead, made)
        }

        fn state(&self) -> PathBuf {
            self.root.path().join("state")
        }

        fn target(&self) -> PathBuf {
            fs::canonicalize(self.root.path()).unwrap().join("target")
        }

        fn journal(&self) -> PathBuf {
            let directory = journal::directory(&self.state()).unwrap().unwrap();
            directory.path_of(&journals(&directory).unwrap()[0])
        }

        fn rewrite(&self, change: impl Fn(String) -> String) {
            let journal = self.journal();
            let text = fs::read_to_string(&journal).unwrap();
            fs::write(&journal, change(text)).unwrap();
        }

        /// Undoes, and expects exactly one problem: its text, with random names replaced.
        fn problem(&self) -> String {
            let report = undo(&self.state());
            assert_eq!((report.removed.len(), report.problems.len()), (0, 1), "{report:?}");
            let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
            let mut text = report.problems[0].to_string();
            for path in [&self.target(), &fs::canonicalize(self.state()).unwrap(), &self.state()] {
                text = text.replace(path.to_str().unwrap(), &name(path));
            }
            text = text.replace(&name(&self.journal()), "JOURNAL");
            match text.find(".iotax-") {
                Some(at) => text.replace(&text[at..at + 23].to_owned(), ".iotax-RANDOM"),
                None => text,
            }
        }
    }

    #[test]
    fn what_a_dead_run_made_is_removed_once() {
        let (dead, made) = Dead::with_directory();
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
        assert_eq!(fs::read_dir(dead.target()).unwrap().count(), 0);
        let again = undo(&dead.state());
        assert_eq!((again.removed.len(), again.live, again.problems.len()), (0, 0, 0));
    }

    #[test]
    fn without_a_state_directory_there_is_nothing_to_undo() {
        let report = undo(Path::new("/no/such/state"));
        assert_eq!((report.removed.len(), report.problems.len()), (0, 0));
    }

    #[test]
    fn a_run_killed_before_or_right_after_it_made_the_directory_is_undone() {
        for made_it in [false, true] {
            let (dead, made) = Dead::with_directory();
            fs::remove_dir_all(&made).unwrap();
            if made_it {
                fs::create_dir(&made).unwrap();
            }
            let report = undo(&dead.state());
            assert_eq!((report.removed.len(), report.problems.len()), (usize::from(made_it), 0));
            assert!(!made.exists());
        }
    }

    #[test]
    fn an_interrupted_removal_is_finished() {
        let (dead, made) = Dead::with_directory();
        fs::remove_file(made.join("job.0")).unwrap();
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
    }

    #[test]
    fn a_directory_without_the_mark_is_left_alone() {
        let (dead, made) = Dead::with_directory();
        fs::remove_dir_all(&made).unwrap();
        fs::create_dir(&made).unwrap();
        fs::write(made.join("precious"), "").unwrap();
        insta::assert_snapshot!(dead.problem(), @"target/.iotax-RANDOM: not removed: it does not have the marker of the run that created it. If what is at this path is yours, delete state/undo/JOURNAL to make iotax forget the path");
        assert!(made.join("precious").exists());
    }

    #[test]
    fn a_symbolic_link_in_its_place_is_not_followed() {
        let (dead, made) = Dead::with_directory();
        let moved = dead.root.path().join("moved");
        fs::rename(&made, &moved).unwrap();
        std::os::unix::fs::symlink(&moved, &made).unwrap();
        insta::assert_snapshot!(dead.problem(), @"target/.iotax-RANDOM: not removed: it is not a directory. If what is at this path is yours, delete state/undo/JOURNAL to make iotax forget the path");
        assert!(moved.join("job.0").exists());
    }

    #[test]
    fn it_is_known_by_its_mark_by_whatever_name() {
        let (dead, made) = Dead::with_directory();
        fs::rename(&made, dead.target().join("renamed")).unwrap();
        fs::create_dir(&made).unwrap();
        fs::write(made.join("precious"), "").unwrap();
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
        let left: Vec<_> = fs::read_dir(dead.target()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1);
        assert!(made.join("precious").exists());
    }

    #[test]
    fn links_within_it_are_removed_and_not_followed() {
        let (dead, made) = Dead::with_directory();
        let precious = dead.root.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&precious, made.join("link")).unwrap();
        fs::create_dir_all(made.join("deep/er")).unwrap();
        fs::write(made.join("deep/er/file"), "").unwrap();
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
        assert!(precious.join("file").exists());
    }

    #[test]
    fn a_file_system_that_is_not_mounted_keeps_its_entry() {
        let (dead, made) = Dead::with_directory();
        let elsewhere = dead.root.path().join("elsewhere");
        fs::rename(dead.target(), &elsewhere).unwrap();
        fs::create_dir(dead.root.path().join("target")).unwrap();
        // As if it had been on another file system, or nobody knew on which.
        let original = fs::read_to_string(dead.journal()).unwrap();
        let start = original.find(",\"file_system\":{").unwrap();
        let end = start + original[start..].find('}').unwrap();
        let other = ",\"file_system\":{\"device\":1,\"id\":2";
        for on in [other, ""] {
            let end = if on.is_empty() { end + 1 } else { end };
            dead.rewrite(|_| format!("{}{on}{}", &original[..start], &original[end..]));
            insta::allow_duplicates! {
                insta::assert_snapshot!(dead.problem(), @"target/.iotax-RANDOM cannot be checked, because its file system is not mounted or its directory is gone. Mount the file system and run iotax undo again, or delete state/undo/JOURNAL to make iotax forget the path");
            }
        }
        dead.rewrite(|_| original.clone());
        fs::remove_dir(dead.target()).unwrap();
        fs::rename(&elsewhere, dead.root.path().join("target")).unwrap();
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
    }

    /// Its owner did so; what was in it is gone, and no later undo has to say it again.
    #[test]
    fn what_was_in_a_target_that_is_gone_is_forgotten() {
        for is_made_again in [false, true] {
            let (dead, made) = Dead::with_directory();
            fs::remove_dir_all(dead.target()).unwrap();
            if is_made_again {
                fs::create_dir(dead.target()).unwrap();
            }
            let report = undo(&dead.state());
            assert_eq!((report.removed.len(), report.problems.len()), (0, 0), "{report:?}");
            // An inode may be used again at once: then it is as good as the old one, and empty.
            assert!(report.lost.is_empty() || report.lost == [made.display().to_string()]);
            assert!(is_made_again || !report.lost.is_empty());
            let again = undo(&dead.state());
            assert_eq!((again.lost.len(), again.problems.len()), (0, 0));
        }
    }

    #[test]
    fn a_target_that_was_renamed_is_found() {
        let (dead, made) = Dead::with_directory();
        let renamed = dead.root.path().join("renamed");
        fs::rename(dead.target(), &renamed).unwrap();
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
        assert_eq!(fs::read_dir(renamed).unwrap().count(), 0);
    }

    #[test]
    fn journals_of_other_hosts_and_versions_are_left_alone() {
        let (dead, made) = Dead::with_directory();
        let original = fs::read_to_string(dead.journal()).unwrap();
        let start = original.find("\"host\":\"").unwrap() + 8;
        let end = start + original[start..].find('"').unwrap();
        dead.rewrite(|text| format!("{}elsewhere{}", &text[..start], &text[end..]));
        insta::assert_snapshot!(dead.problem(), @"state/undo/JOURNAL: belongs to host elsewhere; run iotax undo there, or delete the journal if that host no longer exists; nothing listed in it was undone");
        dead.rewrite(|_| original.replace("\"format\":1", "\"format\":2"));
        insta::assert_snapshot!(dead.problem(), @"state/undo/JOURNAL: has format 2, but this version of iotax supports only format 1; run iotax undo with the version that wrote the journal; nothing listed in it was undone");
        dead.rewrite(|_| original.replace("\"made\":\"directory\"", "\"made\":\"moon\""));
        let problem = dead.problem();
        // The variants that this version knows are not the point.
        let (strange, known) = problem.split_once(", expected").unwrap();
        let told = strange.to_owned() + &known[known.find(" at line").unwrap()..];
        insta::assert_snapshot!(told, @"state/undo/JOURNAL: is not a journal of this version of iotax (unknown variant `moon` at line 1 column 14); nothing listed in it was undone");
        dead.rewrite(|_| original.clone());
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
    }

    #[test]
    fn a_torn_last_line_was_never_acted_upon() {
        let (dead, made) = Dead::with_directory();
        dead.rewrite(|text| text + "{\"made\":\"dire");
        assert_eq!(undo(&dead.state()).removed, [made.display().to_string()]);
    }

    #[test]
    fn a_file_is_known_by_inode_and_birth_not_by_name() {
        let dead = Dead { root: tempfile::tempdir().unwrap() };
        fs::create_dir(dead.root.path().join("target")).unwrap();
        let path = dead.target().join("disk.img");
        fs::write(&path, "theirs").unwrap();
        let mut identity = Identity::of(&path).unwrap();
        identity.born_ns = identity.born_ns.map(|born| born + 1);
        let mut journal = Journal::new(Some(dead.state()));
        let parent_inode = inode_of_parent(&path).unwrap();
        journal
            .announce(Entry::File { path: path.clone(), identity, parent_inode, file_system: None })
            .unwrap();
        journal.die();
        if identity.born_ns.is_none() {
            return iotax_testing::skipped("this file system keeps no birth times");
        }
        insta::assert_snapshot!(dead.problem(), @"target/disk.img: not removed: it is not the file that iotax created. If what is at this path is yours, delete state/undo/JOURNAL to make iotax forget the path");
        assert_eq!(fs::read_to_string(path).unwrap(), "theirs");
    }
}
