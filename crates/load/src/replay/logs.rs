//! Logs that a job of fio replays (`read_iolog`): each is imported when it is needed, into a file
//! without a name.

use std::env::temp_dir;
use std::fs::File as OsFile;
use std::io::{BufReader, BufWriter, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use iotax_experiment::{FioLogs, RecordedLoad};
use iotax_trace::import::{self, Format};
use iotax_trace::{Event, Flags, NO_FILE, Reader, Writer};
use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create};
use rustix::io::Errno;

use super::origin::Origin;
use super::survey::{Options, Recording};
use crate::error::Error;
use crate::target::shown;

const PROGRAM: &str = concat!("iotax ", env!("CARGO_PKG_VERSION"));

impl Recording {
    /// The recording that a run was planned with.
    ///
    /// # Errors
    /// As [`Recording::open`] and [`Recording::of_logs`]; also if it has changed.
    pub fn of(load: &RecordedLoad) -> Result<Self, Error> {
        let options = Options::of(load);
        let recording = match &load.logs {
            None => Self::open(&load.path, options)?,
            Some(logs) => Self::imported(&load.path, logs, options)?,
        };
        recording.refuse_other(&load.hash)?;
        Ok(recording)
    }

    /// The same from a copy of [`Recording::contents`].
    ///
    /// # Errors
    /// As [`Recording::of`].
    pub fn of_contents(load: &RecordedLoad, contents: OsFile) -> Result<Self, Error> {
        let recording = Self::read(&load.path, contents, Options::of(load))?;
        recording.refuse_other(&load.hash)?;
        Ok(recording)
    }

    /// A file with all that another machine needs to replay it.
    ///
    /// # Errors
    /// As [`Recording::of_logs`], and if the file cannot be opened.
    pub fn contents(load: &RecordedLoad) -> Result<OsFile, Error> {
        match &load.logs {
            None => OsFile::open(&load.path).map_err(Error::path("open", &load.path)),
            Some(logs) => Ok(Self::imported(&load.path, logs, Options::of(load))?.file),
        }
    }

    /// Imports the logs of a job of fio.
    ///
    /// # Errors
    /// If one cannot be read, is neither a log of fio nor of blktrace, or cannot be replayed as the
    /// job says.
    pub fn of_logs(first: &Path, logs: &FioLogs) -> Result<Self, Error> {
        Self::imported(first, logs, Options::default())
    }

    fn imported(first: &Path, logs: &FioLogs, replay: Options) -> Result<Self, Error> {
        let paths: Vec<&Path> =
            [first].into_iter().chain(logs.others.iter().map(PathBuf::as_path)).collect();
        let inputs = paths.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut file = unnamed().map_err(Error::path("create a file in", &temp_dir()))?;
        let failed = |source| Error::Import { paths: names(&paths), source };
        let options = import::Options { format: None, program: PROGRAM.to_owned() };
        let imported = import::import(inputs, BufWriter::new(&file), &options).map_err(failed)?;
        let refuse = |what: &str| Error::TraceUnfit { path: shown(first), what: what.to_owned() };
        match imported.format {
            Format::Blktrace if paths.len() > 1 => {
                return Err(refuse(
                    "only one trace of blktrace can be replayed at a time; import the files of all \
                     CPUs with iotax capture import",
                ));
            }
            Format::Blktrace if logs.no_stall => {
                return Err(refuse(
                    "replay_no_stall is only supported for logs of fio, because a block trace has \
                     I/Os in flight at the same time; leave it out",
                ));
            }
            Format::FioLog | Format::Blktrace => {}
            Format::Strace | Format::Alibaba | Format::Tencent => {
                return Err(refuse(
                    "it is neither a log of fio nor a trace of blktrace; convert it with iotax \
                     capture import",
                ));
            }
        }
        if logs.direct || logs.no_stall {
            file = changed(&file, logs).map_err(Error::trace(first))?;
        }
        let mut recording = Self::read(first, file, replay)?;
        recording.origin = Some(Origin { logs: logs.clone(), imported });
        Ok(recording)
    }

    /// The format that it was imported from, if it was.
    pub fn imported_from(&self) -> Option<Format> {
        self.origin.as_ref().map(|origin| origin.imported.format)
    }

    /// Number of files that it uses.
    pub fn files(&self) -> usize {
        self.survey.files.iter().filter(|file| file.uses > 0).count()
    }
}

fn names(paths: &[&Path]) -> String {
    let shown: Vec<String> = paths.iter().map(|path| shown(path).display().to_string()).collect();
    shown.join(", ")
}

/// Only a regular file: a pipe or device of a job file from elsewhere could block or have effects.
fn open(path: &Path) -> Result<OsFile, Error> {
    let facts = path.metadata().map_err(Error::path("open", path))?;
    if !facts.is_file() {
        let what = "it is not a regular file; name the file that fio or blktrace wrote".to_owned();
        return Err(Error::TraceUnfit { path: shown(path), what });
    }
    OsFile::open(path).map_err(Error::path("open", path))
}

/// A file that is gone when it is closed; in memory if no directory can hold one.
fn unnamed() -> Result<OsFile, Errno> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(temp_dir(), flags, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(file.into()),
        Err(_) => memfd_create("iotax-log", MemfdFlags::CLOEXEC).map(OsFile::from),
    }
}

/// The same recording with what the job says about all I/Os.
fn changed(file: &OsFile, logs: &FioLogs) -> Result<OsFile, iotax_trace::Error> {
    let read = || -> Result<_, iotax_trace::Error> {
        let mut again = file.try_clone()?;
        again.rewind()?;
        Reader::new(BufReader::with_capacity(1 << 20, again))
    };
    // An importer knows the state of a file only at the end.
    let mut reader = read()?;
    while reader.chunk()?.is_some() {}
    let (files, end) = (reader.files.clone(), reader.end.take().unwrap_or_default());
    let mut reader = read()?;
    let mut output = unnamed().map_err(std::io::Error::from)?;
    let mut writer = Writer::new(BufWriter::new(&output), &reader.head)?;
    for state in files {
        writer.file(state);
    }
    while let Some(events) = reader.chunk()? {
        for event in events {
            writer.push(as_the_job_says(event, logs))?;
        }
    }
    writer.finish(&end)?;
    output.flush()?;
    Ok(output)
}

fn as_the_job_says(event: Event, logs: &FioLogs) -> Event {
    let is_direct = logs.direct && event.file != NO_FILE;
    let flags = if is_direct { event.flags.with(Flags::DIRECT) } else { event.flags };
    // Without times, each I/O follows the one before it.
    let end_ns = if logs.no_stall { 0 } else { event.end_ns };
    Event { flags, end_ns, ..event }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::AtomicBool;

    use iotax_record::LoadRecord;

    use super::super::drive::ReadAhead;
    use super::super::session::{self, Sessions};
    use super::*;
    use crate::driver::Request;
    use crate::target::IoTarget;

    const LOG: &str = "fio version 3 iolog\n0 data add\n0 data open\n\
                       1000 data write 0 8192\n2000 data datasync 0 0\n3000000 data read 4096 4096\n\
                       3000000 data close\n";

    fn logs() -> FioLogs {
        FioLogs { others: Vec::new(), direct: false, no_stall: false }
    }

    fn replayed(recording: &Recording, directory: &Path) -> LoadRecord {
        let (target, stop) = (IoTarget::Path(directory), AtomicBool::new(false));
        super::super::prepare(recording, target, &|_, _| {}, &stop).unwrap();
        let workload = recording.workload("log");
        let request = Request {
            workload: &workload,
            target,
            ramp_ns: 0,
            time_ns: workload.time_ns,
            part: None,
            seed: 1,
            index_ends: &iotax_experiment::IndexEnds::Both,
            stop: &stop,
            live: None,
        };
        session::run(recording, &Sessions::default(), &request, ReadAhead::default()).unwrap()
    }

    #[test]
    fn a_log_without_stalls_is_replayed_at_once_and_is_not_late() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("a.log");
        fs::write(&log, LOG).unwrap();
        let timed = Recording::of_logs(&log, &logs()).unwrap();
        assert_eq!((timed.length_ns(), timed.files()), (3_000_000_000, 1));
        let recording = Recording::of_logs(&log, &FioLogs { no_stall: true, ..logs() }).unwrap();
        assert_eq!(recording.length_ns(), 0);
        let record = replayed(&recording, dir.path());
        let job = &record.jobs[0];
        assert_eq!((job.write.ios, job.write.bytes, job.read.bytes), (1, 8192, 4096));
        assert_eq!(job.first_error, None);
        let replay = record.replay.unwrap();
        assert!(!replay.is_too_late);
        assert_eq!(replay.left_over, 0);
        let load = recording.workload("log").jobs.remove(0).recording.unwrap();
        assert_eq!(Recording::of(&load).unwrap().hash(), recording.hash());
        let contents = Recording::contents(&load).unwrap();
        fs::write(&log, LOG.replace("8192", "4096")).unwrap();
        let error = Recording::of(&load).map(drop).unwrap_err().to_string();
        assert!(error.contains("it is not the recording that the run was planned with"), "{error}");
        // On another machine, there is no log.
        fs::remove_file(&log).unwrap();
        let there = Recording::of_contents(&load, contents).unwrap();
        assert_eq!(replayed(&there, dir.path()).jobs[0].write.bytes, 8192);
    }

    #[test]
    fn each_thread_has_its_log_and_direct_io_if_the_job_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["a.log", "b.log"].map(|name| dir.path().join(name));
        fs::write(&one, LOG).unwrap();
        fs::write(&two, LOG.replace("write 0", "write 4096")).unwrap();
        let both = FioLogs { others: vec![two], direct: true, no_stall: false };
        let recording = Recording::of_logs(&one, &both).unwrap();
        let job = recording.workload("log").jobs.remove(0);
        assert_eq!(job.recording.unwrap().threads, 2);
        assert!(recording.survey.files[0].uses_direct && !recording.survey.files[0].uses_buffered);
    }

    #[test]
    fn what_is_no_log_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let refused =
            |logs: &FioLogs| Recording::of_logs(&path, logs).map(drop).unwrap_err().to_string();
        assert!(refused(&logs()).contains("cannot open"));
        fs::write(&path, "text\n").unwrap();
        assert!(refused(&logs()).contains("unknown format"));
        let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace/tests/data/app.strace");
        fs::copy(trace, &path).unwrap();
        assert!(refused(&logs()).contains("neither a log of fio nor a trace of blktrace"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(refused(&logs()).contains("it is not a regular file"));
    }
}
