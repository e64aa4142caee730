use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::*;
use crate::entry::{Entry, inode_of_parent};
use crate::identity::Identity;
use crate::journal::Journal;
use crate::undo;

fn state(user: u32, variables: &[(&str, &str)]) -> String {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name)?;
        Some(PathBuf::from(found.1))
    };
    let can_be_made = |path: &Path| !path.starts_with("/nonexistent");
    state_dir_from(user, variable, can_be_made).display().to_string()
}

#[test]
fn the_state_directory_follows_the_xdg_specification_except_for_root() {
    let user = [("HOME", "/home/me"), ("XDG_STATE_HOME", "/var/me")];
    assert_eq!(state(7, &user), "/var/me/iotax");
    assert_eq!(state(7, &user[..1]), "/home/me/.local/state/iotax");
    assert_eq!(state(0, &user), "/var/lib/iotax");
    assert_eq!(state(0, &[("IOTAX_STATE_DIR", "/s")]), "/s");
    assert_eq!(
        state(7, &[("XDG_STATE_HOME", "relative"), ("HOME", "/h")]),
        "/h/.local/state/iotax"
    );
    assert_eq!(state(7, &[]), "/var/tmp/iotax-7");
    assert_eq!(state(7, &[("HOME", "/nonexistent")]), "/var/tmp/iotax-7");
}

/// A state directory with the journal of a run that died, which made a file.
struct Dead {
    root: tempfile::TempDir,
    journal: PathBuf,
}

impl Dead {
    fn new() -> Self {
        let mut dead = Self { root: tempfile::tempdir().unwrap(), journal: PathBuf::new() };
        let made = dead.made();
        fs::write(&made, "precious").unwrap();
        let mut journal = Journal::new(Some(dead.state()));
        let identity = Identity::of(&made).unwrap();
        let parent_inode = inode_of_parent(&made).unwrap();
        journal
            .announce(Entry::File { path: made, identity, parent_inode, file_system: None })
            .unwrap();
        dead.journal = journal.path();
        journal.die();
        dead
    }

    fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    fn made(&self) -> PathBuf {
        fs::canonicalize(self.root.path()).unwrap().join("made")
    }

    fn journals(&self) -> PathBuf {
        self.state().join("undo")
    }

    /// Undoes, and expects that nothing is and the file stays: the problems, with random names
    /// replaced.
    fn refusal(&self) -> String {
        let report = undo(&self.state());
        assert!(report.removed.is_empty() && self.made().exists(), "{report:?}");
        let told: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
        let root = fs::canonicalize(self.root.path()).unwrap();
        let journal = self.journal.file_stem().unwrap().to_str().unwrap();
        told.join("\n").replace(root.to_str().unwrap(), "ROOT").replace(journal, "JOURNAL")
    }

    fn is_undone(&self) -> bool {
        let report = undo(&self.state());
        report.problems.is_empty() && report.removed.len() == 1 && !self.made().exists()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_journal_that_others_can_write_is_not_obeyed() {
    let dead = Dead::new();
    set_mode(&dead.journal, 0o620);
    insta::assert_snapshot!(dead.refusal(), @"ROOT/state/undo/JOURNAL.jsonl: is writable by other users (mode 0620); nothing listed in it was undone");
    set_mode(&dead.journal, 0o600);
    assert!(dead.is_undone());
}

#[test]
fn no_journal_is_obeyed_where_others_can_write() {
    let dead = Dead::new();
    set_mode(&dead.journals(), 0o1777);
    insta::assert_snapshot!(dead.refusal(), @"ROOT/state/undo: other users can write here (mode 1777) and could make `iotax undo` remove anything that you own; nothing was created or undone. Remove their write permission (chmod go-w), or set IOTAX_STATE_DIR to a directory that only you can write to");
    set_mode(&dead.journals(), 0o700);
    for mode in [0o777, 0o1777, 0o775] {
        set_mode(&dead.state(), mode);
        insta::allow_duplicates! {
            let told = dead.refusal().replace(&format!("{mode:04o}"), "MODE");
            insta::assert_snapshot!(told, @"ROOT/state: other users can write here (mode MODE) and could make `iotax undo` remove anything that you own; nothing was created or undone. Remove their write permission (chmod go-w), or set IOTAX_STATE_DIR to a directory that only you can write to");
        }
    }
    set_mode(&dead.state(), 0o755);
    assert!(dead.is_undone());
}

#[test]
fn nothing_is_made_where_others_can_write() {
    let root = tempfile::tempdir().unwrap();
    set_mode(root.path(), 0o777);
    for state in [root.path().to_owned(), root.path().join("state")] {
        let made = Held::make(&state, "undo");
        assert!(matches!(made, Err(Error::OpenState { .. })), "{made:?}");
        let made = run_directory(Some(&state));
        assert!(matches!(made, Err(Error::OpenState { .. })), "{made:?}");
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

/// The sticky bit keeps others from exchanging the state directory; a group with the number of its
/// owner has no other members.
#[test]
fn on_the_way_others_may_write_where_they_can_exchange_nothing() {
    let root = tempfile::tempdir().unwrap();
    let way = root.path().join("way");
    fs::create_dir(&way).unwrap();
    let make = || Held::make(&way.join("state"), "undo");
    for (mode, is_safe) in [(0o755, true), (0o1777, true), (0o777, false)] {
        set_mode(&way, mode);
        assert_eq!(make().is_ok(), is_safe, "{mode:o}");
    }
    set_mode(&way, 0o775);
    let facts = rustix::fs::stat(&way).unwrap();
    assert_eq!(make().is_ok(), facts.st_uid == facts.st_gid);
}

#[test]
fn what_is_no_regular_file_is_passed_over_and_the_rest_undone() {
    let dead = Dead::new();
    let (journal, journals) = (dead.journal.clone(), dead.journals());
    let elsewhere = dead.root.path().join("elsewhere.jsonl");
    fs::rename(&journal, &elsewhere).unwrap();
    symlink(&elsewhere, journals.join("link.jsonl")).unwrap();
    let fifo = journals.join("fifo.jsonl");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    fs::create_dir(journals.join("directory.jsonl")).unwrap();
    let socket = journals.join("socket.jsonl");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    insta::assert_snapshot!(dead.refusal(), @"
    ROOT/state/undo/directory.jsonl: is a directory, which iotax never creates here; nothing listed in it was undone
    ROOT/state/undo/fifo.jsonl: is a FIFO, which iotax never creates here; nothing listed in it was undone
    ROOT/state/undo/link.jsonl: is a symbolic link, which iotax never creates here; nothing listed in it was undone
    ROOT/state/undo/socket.jsonl: is a socket, which iotax never creates here; nothing listed in it was undone
    ");
    assert_eq!(crate::served(&dead.state()).unwrap(), []);
    fs::rename(&elsewhere, &journal).unwrap();
    let report = undo(&dead.state());
    assert_eq!((report.removed.len(), report.problems.len()), (1, 4));
}

/// Gives a file to a user that is neither root nor this one; false, said loudly, if only root
/// could.
fn give_away(path: &Path) -> bool {
    let is_given = chown(path, Some(54_321), None).is_ok();
    iotax_testing::needs(is_given, "root, to give a file to another user")
}

#[test]
fn what_belongs_to_another_user_is_not_obeyed() {
    let dead = Dead::new();
    if !give_away(&dead.journal) {
        return;
    }
    insta::assert_snapshot!(dead.refusal(), @"ROOT/state/undo/JOURNAL.jsonl: belongs to user 54321, not to you or root; nothing listed in it was undone");
    chown(&dead.journal, Some(0), None).unwrap();
    assert!(give_away(&dead.journals()));
    insta::assert_snapshot!(dead.refusal(), @"ROOT/state/undo belongs to user 54321, who could make `iotax undo` remove anything that you own; nothing was created or undone. Set IOTAX_STATE_DIR to a directory that only you can write to");
    chown(dead.journals(), Some(0), None).unwrap();
    assert!(give_away(dead.root.path()));
    insta::assert_snapshot!(dead.refusal(), @"ROOT belongs to user 54321, who could make `iotax undo` remove anything that you own; nothing was created or undone. Set IOTAX_STATE_DIR to a directory that only you can write to");
    chown(dead.root.path(), Some(0), None).unwrap();
    assert!(dead.is_undone());
}

/// Between the look at a path and its use lies the attack: the directory that was looked at stays.
#[test]
fn a_directory_that_is_exchanged_later_is_not_followed() {
    let dead = Dead::new();
    let held = Held::hold(&dead.state(), "undo").unwrap().unwrap();
    let names = held.names().unwrap();
    let name = names.iter().find(|name| name.len() > 2).unwrap();
    fs::rename(dead.journals(), dead.state().join("moved")).unwrap();
    fs::create_dir(dead.journals()).unwrap();
    fs::write(dead.journals().join(name), "another's").unwrap();
    let mut text = String::new();
    let mut journal = held.open(name).unwrap().unwrap();
    io::Read::read_to_string(&mut journal, &mut text).unwrap();
    assert!(text.contains("\"made\":\"file\""), "{text}");
    held.remove(name).unwrap();
    assert!(dead.journals().join(name).exists());
}
