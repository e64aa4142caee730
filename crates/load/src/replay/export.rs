//! A recording as a log that fio replays, with the files that fio needs for it.

use iotax_quantity::grouped;
use iotax_trace::export::fio_log::{Exported, Options, Version, export};
use iotax_trace::{File, FileKind};

use super::survey::Recording;
use crate::error::Error;
use crate::target::shown;

/// fio keeps the whole log in memory.
const MOST_IOS: u64 = 1_000_000;
const MOST_FILES: usize = 1000;

/// A log of fio, version 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioLog {
    pub text: String,
    /// The files that must be there before it is replayed.
    pub files: Vec<LoggedFile>,
    /// Whether all of its I/O bypasses the page cache.
    pub direct: bool,
    /// If its I/O is all on one block device, the name of that device in the log.
    pub device: Option<String>,
    pub exported: Exported,
}

/// A file of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFile {
    pub name: String,
    pub bytes: u64,
}

impl Recording {
    /// Writes it as a log of fio.
    ///
    /// # Errors
    /// If the recording is too large for that, has no I/O that fio can replay, or is damaged.
    pub fn fio_log(&self) -> Result<FioLog, Error> {
        let refuse = |what: String| Error::TraceUnfit { path: shown(&self.path), what };
        let ios: u64 = self.survey.operations.iter().sum();
        if ios > MOST_IOS {
            return Err(refuse(format!(
                "it has {} operations, too many for a log that fio replays (at most {}); record a \
                 shorter time",
                grouped(ios),
                grouped(MOST_IOS)
            )));
        }
        let mut text = Vec::new();
        let options = Options { version: Version::Three, thread: None };
        let exported =
            export(&mut self.reader()?, &mut text, options).map_err(Error::trace(&self.path))?;
        if exported.actions == 0 {
            return Err(refuse("it has no I/O that fio can replay".to_owned()));
        }
        if exported.files.len() > MOST_FILES {
            return Err(refuse(format!(
                "it uses {} files, too many for a job file of fio (at most {})",
                grouped(exported.files.len() as u64),
                grouped(MOST_FILES as u64)
            )));
        }
        let text = String::from_utf8(text).expect("a log is plain text");
        let used = || exported.files.iter().map(|number| &self.survey.files[*number as usize]);
        let direct = used().all(|file| file.uses_direct && !file.uses_buffered);
        let files = exported.files.iter().filter_map(|number| self.logged_file(*number)).collect();
        let device = super::device::sole_device(&self.survey).map(|(number, _)| name(number));
        Ok(FioLog { text, files, direct, device, exported })
    }

    /// `None` if the replay creates it.
    fn logged_file(&self, number: File) -> Option<LoggedFile> {
        let facts = &self.survey.files[number as usize];
        let bytes = match facts.state.kind {
            FileKind::BlockDevice => facts.extent_bytes,
            _ => facts.state.size_bytes.max(facts.read_first.end()),
        };
        (bytes > 0).then(|| LoggedFile { name: name(number), bytes })
    }
}

/// As in the log.
fn name(number: File) -> String {
    format!("f{number}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use iotax_experiment::FioLogs;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_log_comes_back_with_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let log = "fio version 3 iolog\n0 data add\n0 data open\n0 new add\n0 new open\n\
                   1000 data read 4096 4096\n2000 new write 0 8192\n2500 new sync 0 0\n\
                   3000 data close\n";
        fs::write(&path, log).unwrap();
        let logs = FioLogs { others: Vec::new(), direct: true, no_stall: false };
        let made = Recording::of_logs(&path, &logs).unwrap().fio_log().unwrap();
        assert!(made.direct && made.device.is_none());
        assert_eq!(made.files, [LoggedFile { name: "f0".into(), bytes: 8192 }]);
        assert_eq!(made.exported.actions, 3);
        assert!(made.text.contains("f0 read 4096 4096\n"), "{}", made.text);
        assert!(made.text.contains("f1 write 0 8192\n") && made.text.contains("f1 sync 0 0\n"));
    }

    proptest! {
        #[test]
        fn each_io_of_a_log_comes_back_and_finds_its_data(
            ios in prop::collection::vec((0..3_usize, 0..64_u64, 1..8_u64), 1..40),
            direct: bool,
            no_stall: bool,
        ) {
            let mut text = "fio version 3 iolog\n0 data add\n0 data open\n".to_owned();
            let mut written = Vec::new();
            let (mut there, mut read_end) = (HashSet::new(), 0);
            for (at, (kind, block, blocks)) in ios.iter().enumerate() {
                let (offset, length) = (block * 512, blocks * 512);
                let line = match kind {
                    0 => format!("read {offset} {length}"),
                    1 => format!("write {offset} {length}"),
                    _ => "datasync 0 0".to_owned(),
                };
                for one in *block..block + blocks {
                    if *kind == 1 {
                        there.insert(one);
                    } else if *kind == 0 && !there.contains(&one) {
                        read_end = read_end.max((one + 1) * 512);
                    }
                }
                text.extend([&format!("{} data {line}", at * 10), "\n"]);
                written.push(format!("f0 {line}"));
            }
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.log");
            fs::write(&path, text).unwrap();
            let logs = FioLogs { others: Vec::new(), direct, no_stall };
            let made = Recording::of_logs(&path, &logs).unwrap().fio_log().unwrap();
            let actions = made.text.lines().skip(1).map(|line| line.split_once(' ').unwrap());
            let ios: Vec<_> = actions
                .filter(|(_, action)| action.split(' ').count() == 4)
                .map(|(_, action)| action.to_owned())
                .collect();
            prop_assert_eq!(ios, written);
            prop_assert_eq!(made.direct, direct);
            let files: u64 = made.files.iter().map(|file| file.bytes).sum();
            prop_assert!(files >= read_end);
            if no_stall {
                prop_assert!(made.text.lines().skip(1).all(|line| line.starts_with("0 ")));
            }
        }
    }

    #[test]
    fn a_device_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        fs::write(&path, "fio version 3 iolog\n0 /dev/sdb add\n5 /dev/sdb write 8192 4096\n")
            .unwrap();
        let logs = FioLogs { others: Vec::new(), direct: false, no_stall: false };
        let recording = Recording::of_logs(&path, &logs).unwrap();
        assert_eq!(recording.device_bytes(), Some(12_288));
        let made = recording.fio_log().unwrap();
        assert_eq!(made.device.as_deref(), Some("f0"));
        assert_eq!(made.files, [LoggedFile { name: "f0".into(), bytes: 12_288 }]);
    }
}
