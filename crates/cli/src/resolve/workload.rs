//! Reads WORKLOAD: a built-in workload or suite, a fio job file, or a command line of fio or
//! `DiskSpd`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use iotax_dialects::fio::{self, Logs, Machine, Outside, Replayed};
use iotax_dialects::importers::{self, ResultTool as Source};
use iotax_dialects::{Tool, diskspd, tool};
use iotax_experiment::file::WorkloadElsewhere;
use iotax_experiment::{Arrivals, Draft, Error as SpecError, Factor, FioLogs, Workload, varied};
use iotax_load::{Recording, ReplayOptions};
use iotax_trace::import::Format;
use iotax_trace::is_trace;

use crate::args::recording::{ArrivalsBy, RecordingArgs};
use crate::exit::{Result, read_argument, usage};

/// The extension of recordings.
const RECORDING: &str = "iotx";

/// Limit for job files, far above what people write.
const MAX_JOB_FILE_BYTES: u64 = 1 << 20;

/// The phases of a load, and their common name if there are several.
pub(crate) struct Load {
    /// At least one.
    pub phases: Vec<Workload>,
    suite: Option<String>,
}

impl Load {
    /// Reads WORKLOAD, which may be a recording to which `args` apply.
    ///
    /// # Errors
    /// If there are such options, and it is something else.
    pub(crate) fn read_with(text: &str, args: &RecordingArgs) -> Result<Self> {
        let path = Path::new(text);
        if is_recording(path) && !is_built_in(text) {
            return Ok(recording(path, args)?.into());
        }
        refuse_for_others(args, text)?;
        Self::read(text)
    }

    /// Reads WORKLOAD: a built-in name, otherwise an existing file, otherwise a command line.
    pub(crate) fn read(text: &str) -> Result<Self> {
        if Workload::preset_names().any(|name| name == text) {
            return Ok(Workload::preset(text)?.into());
        }
        if is_suite(text) {
            return Ok(Self::new(Workload::suite(text)?, text));
        }
        let path = Path::new(text);
        if is_recording(path) {
            return Ok(recording(path, &RecordingArgs::default())?.into());
        }
        if path.exists() {
            return Self::job_file(path);
        }
        if let Some(tool) = tool(text) {
            return Self::command(tool, text);
        }
        if text.contains('/') || path.extension().is_some() {
            return Self::job_file(path);
        }
        Err(usage(unknown(text)))
    }

    fn new(phases: Vec<Workload>, name: &str) -> Self {
        let suite = (phases.len() > 1).then(|| name.to_owned());
        Self { phases, suite }
    }

    fn command(tool: Tool, text: &str) -> Result<Self> {
        let phases = match tool {
            Tool::Fio => fio::from_command(text, &beside(Path::new("")))?,
            Tool::DiskSpd => diskspd::from_command(text)?,
        };
        Ok(Self::new(phases, tool.name()))
    }

    /// Reads a job file or a script. As in fio, included files are next to it.
    fn job_file(path: &Path) -> Result<Self> {
        let text = job_text(path)?;
        let name = path.display().to_string();
        if let Some(tool) = importers::sniff(text.as_bytes()) {
            return Err(usage(result_instead(&name, tool)));
        }
        let phases = match tool(&text).filter(|_| is_script(path, &text)) {
            Some(Tool::Fio) => fio::from_script(&name, &text, &beside(path))?,
            Some(Tool::DiskSpd) => diskspd::from_script(&name, &text)?,
            None => fio::from_job_file(&name, &text, &beside(path))?,
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self::new(phases, &stem))
    }

    /// Makes a phase of each combination of levels of these factors.
    pub(crate) fn vary(&mut self, factors: &[Factor]) -> Result<(), SpecError> {
        if factors.is_empty() {
            return Ok(());
        }
        let name = self.phases.first().map(|phase| phase.name.clone());
        self.phases = varied(std::mem::take(&mut self.phases), factors)?;
        self.suite = self.suite.take().or(name);
        Ok(())
    }

    /// The experiment that `build` makes from the phases.
    pub(crate) fn into_draft(
        self,
        build: impl FnOnce(Vec<Workload>) -> Result<Draft, SpecError>,
    ) -> Result<Draft> {
        let suite = self.suite.filter(|_| self.phases.len() > 1);
        let draft = Draft { suite, ..build(self.phases)? };
        draft.validate()?;
        Ok(draft)
    }
}

impl From<Workload> for Load {
    fn from(workload: Workload) -> Self {
        Self { phases: vec![workload], suite: None }
    }
}

/// Whether there is a recording, or a file that ought to be one.
fn is_recording(path: &Path) -> bool {
    is_trace(path) || path.extension().is_some_and(|end| end == RECORDING)
}

/// The workload that replays a recording.
fn recording(path: &Path, args: &RecordingArgs) -> Result<Workload, iotax_load::Error> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let arrivals = match args.arrivals {
        None | Some(ArrivalsBy::Answers) => Arrivals::AfterAnswers,
        Some(ArrivalsBy::Clock) => Arrivals::ByTheClock,
    };
    let copies = args.copies.unwrap_or(1);
    let options = ReplayOptions { allow_loss: args.allow_loss, arrivals, copies };
    let recording = Recording::open(&absolute, options)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(recording.workload(&stem))
}

/// Whether a text is the name of a workload or suite, or a command line, and so cannot be a target.
pub(crate) fn is_workload(text: &str) -> bool {
    is_built_in(text) || tool(text).is_some() && !Path::new(text).exists()
}

/// Refuses options of recordings for a workload that is not a recording.
///
/// # Errors
/// If there is such an option.
pub(crate) fn refuse_for_others(args: &RecordingArgs, workload: &str) -> Result<()> {
    args.given().map_or(Ok(()), |option| {
        Err(usage(format!(
            "{option} applies only to recordings, but {workload} is not a recording; leave out \
             {option}, or make a recording with iotax capture"
        )))
    })
}

fn is_built_in(name: &str) -> bool {
    Workload::preset_names().any(|known| known == name) || is_suite(name)
}

fn is_suite(name: &str) -> bool {
    Workload::suite_names().any(|suite| suite == name)
}

/// Whether a file is a script, judged by its name or first line.
fn is_script(path: &Path, text: &str) -> bool {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    ["sh", "bash", "bat", "cmd", "ps1"].iter().any(|known| extension == *known)
        || text.trim_start_matches('\u{feff}').starts_with("#!")
}

/// Resolves what a job file refers to: files next to it, variables, and facts of this machine.
pub(crate) struct Beside {
    directory: PathBuf,
}

/// The resolver for `file`.
pub(crate) fn beside(file: &Path) -> Beside {
    Beside { directory: file.parent().unwrap_or(Path::new("")).to_owned() }
}

impl Beside {
    /// The phases of a workload that an experiment file names.
    pub(crate) fn phases(
        &self,
        elsewhere: WorkloadElsewhere<'_>,
    ) -> Result<Vec<Workload>, SpecError> {
        match elsewhere {
            WorkloadElsewhere::Fio(entry) => fio::from_entry(entry, self),
            WorkloadElsewhere::Recording(named) => {
                let workload =
                    recording(&self.directory.join(&named.recording), &RecordingArgs::default());
                Ok(vec![workload.map_err(|why| SpecError::syntax(why.to_string(), ""))?])
            }
        }
    }

    /// fio opens logs in its working directory; a job file from elsewhere may have them beside it.
    fn log(&self, name: &str) -> PathBuf {
        let beside = self.directory.join(name);
        let here = Path::new(name);
        let path = if here.exists() || !beside.exists() { here } else { &beside };
        std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
    }
}

impl Outside for Beside {
    fn file(&self, name: &str) -> Result<String, String> {
        job_text(&self.directory.join(name)).map_err(|error| format!("{error:#}"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn recording(&self, logs: &Logs) -> Result<Replayed, String> {
        let mut paths = logs.paths.iter().map(|name| self.log(name));
        let first = paths.next().ok_or("no log is named")?;
        let logs =
            FioLogs { others: paths.collect(), direct: logs.direct, no_stall: logs.no_stall };
        let recording = Recording::of_logs(&first, &logs).map_err(|error| error.to_string())?;
        Ok(Replayed {
            workload: recording.workload("replay"),
            files: recording.files(),
            is_block_trace: recording.imported_from() == Some(Format::Blktrace),
        })
    }

    fn machine(&self) -> Option<Machine> {
        let size = iotax_inspect::machine_size()?;
        Some(Machine {
            page_bytes: size.page_bytes,
            memory_mib: size.memory_bytes >> 20,
            cpus: size.possible_cpus.into(),
        })
    }
}

fn job_text(path: &Path) -> Result<String> {
    let context = || format!("cannot read the job file {}", path.display());
    let refused = |why: &str| usage(format!("{}: {why}", context()));
    let facts = read_argument(fs::metadata(path), context)?;
    if !facts.is_file() {
        return Err(refused("it is not a regular file"));
    }
    let mut text = String::new();
    let mut file = read_argument(File::open(path), context)?.take(MAX_JOB_FILE_BYTES + 1);
    read_argument(file.read_to_string(&mut text), context)?;
    if text.len() as u64 > MAX_JOB_FILE_BYTES {
        return Err(refused("it is larger than 1 MiB, too large for a job file"));
    }
    Ok(text)
}

/// The error for a result that is passed as a job file.
fn result_instead(name: &str, tool: Source) -> String {
    match tool {
        Source::Fio | Source::Iperf3 | Source::Knb | Source::K8sNetperf => format!(
            "{name} is a result file from {}, not a job file; show it with iotax report {name}, or \
             compare two results with iotax compare",
            tool.name()
        ),
        Source::Diskspd => format!(
            "{name} is a result file from DiskSpd, not a job file; iotax report and iotax compare \
             read DiskSpd results as XML (diskspd -Rxml)"
        ),
    }
}

fn unknown(text: &str) -> String {
    if matches!(text, "fio" | "diskspd") {
        return format!("`{text}` needs options; paste the whole command line: '{text} ...'");
    }
    let error = Workload::preset(text).expect_err("looked for before");
    let suites: Vec<&str> = Workload::suite_names().collect();
    format!(
        "{error}\nsuites: {}\nor give a job file (job.fio) or a command line ('fio --name=...', \
         'diskspd -b64K ...')",
        suites.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_known_is_answered() {
        assert!(unknown("fio").contains("paste the whole command line"));
        assert!(unknown("fiona").contains("suites:"));
    }

    #[test]
    fn a_result_is_no_job_file() {
        let dir = tempfile::tempdir().unwrap();
        let said = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            let Err(error) = Load::read(path.to_str().unwrap()) else { panic!("{name} is read") };
            error.to_string()
        };
        let text = "\nCommand Line: diskspd -b4K x\n\nInput parameters:\n\n\ttimespan:   1\n";
        assert!(said("a.txt", text).contains("is a result file from DiskSpd, not a job file"));
        let json = "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []\n}\n";
        assert!(said("a.json", json).contains("is a result file from fio, not a job file"));
    }

    #[test]
    fn a_file_that_exists_is_a_file_whatever_its_name() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["fio --name=a", "sudo fio -x", "diskspd -b4K x", "$ fio a"] {
            let path = dir.path().join(name);
            fs::write(&path, "[of-the-file]\nrw=randread\nsize=1m\nruntime=1\ntime_based\n")
                .unwrap();
            let load = Load::read(path.to_str().unwrap()).unwrap();
            assert_eq!(load.phases[0].jobs[0].name, "of-the-file", "{name}");
        }
    }

    #[test]
    fn a_batch_file_is_read_as_its_shell_reads_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("all.BAT");
        let text = "@echo off\r\nREM two lines\r\ndiskspd -c1M -b4K -d1 ^\r\n  a.dat\r\ndiskspd -c1M -d1 b.dat\r\n";
        fs::write(&path, text).unwrap();
        let load = Load::read(path.to_str().unwrap()).unwrap();
        let names: Vec<&str> = load.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["a.dat", "b.dat"]);
    }
}
