//! What WORKLOAD stands for: a built-in workload or suite, a job file of fio, a command line of
//! fio or `DiskSpd`.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use iotax_dialects::diskspd;
use iotax_dialects::fio::{self, Machine, Outside};
use iotax_dialects::importers::{self, Tool};
use iotax_spec::{Factor, Spec, Workload, varied};

use crate::exit::{Usage, read_argument, usage};

/// A job file is text that people write; nobody has written this much.
const MAX_JOB_FILE_BYTES: u64 = 1 << 20;

/// The phases of a load, and the name of the whole where there are several.
pub(crate) struct Load {
    /// At least one.
    pub phases: Vec<Workload>,
    suite: Option<String>,
}

impl Load {
    /// Reads what the user wrote for WORKLOAD.
    pub(crate) fn read(text: &str) -> Result<Self> {
        if let Some(program) = program(text) {
            return Self::command(program, text);
        }
        if Workload::preset_names().any(|name| name == text) {
            return Ok(Workload::preset(text)?.into());
        }
        if is_suite(text) {
            return Ok(Self::new(Workload::suite(text)?, text));
        }
        let path = Path::new(text);
        let looks_like_file = text.contains('/') || path.extension().is_some();
        if looks_like_file || path.is_file() {
            return Self::job_file(path);
        }
        Err(Usage(unknown(text)).into())
    }

    fn new(phases: Vec<Workload>, name: &str) -> Self {
        let suite = (phases.len() > 1).then(|| name.to_owned());
        Self { phases, suite }
    }

    fn command(program: Program, text: &str) -> Result<Self> {
        Ok(match program {
            Program::Fio => Self::new(fio::from_command(text, &beside(Path::new("")))?, "fio"),
            Program::DiskSpd => diskspd::from_command(text)?.into(),
        })
    }

    /// A job file, or a script of fio's command lines; what it includes lies beside it, as fio has it.
    fn job_file(path: &Path) -> Result<Self> {
        let text = job_text(path)?;
        let name = path.display().to_string();
        if let Some(tool) = importers::sniff(text.as_bytes()) {
            return Err(Usage(result_instead(&name, tool)).into());
        }
        let read = if is_script(path, &text) { fio::from_script } else { fio::from_job_file };
        let phases = read(&name, &text, &beside(path))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self::new(phases, &stem))
    }

    /// With each combination of levels of these factors as a phase of its own.
    pub(crate) fn vary(&mut self, factors: &[Factor]) -> Result<(), iotax_spec::Error> {
        if factors.is_empty() {
            return Ok(());
        }
        let name = self.phases.first().map(|phase| phase.name.clone());
        self.phases = varied(std::mem::take(&mut self.phases), factors)?;
        self.suite = self.suite.take().or(name);
        Ok(())
    }

    /// The experiment that `build` makes of the first phase, with the others after it.
    pub(crate) fn into_spec(
        mut self,
        build: impl FnOnce(Workload) -> Result<Spec, iotax_spec::Error>,
    ) -> Result<Spec> {
        let first = self.phases.remove(0);
        Ok(build(first)?.followed_by(self.phases, self.suite)?)
    }
}

impl From<Workload> for Load {
    fn from(workload: Workload) -> Self {
        Self { phases: vec![workload], suite: None }
    }
}

/// Whether a workload or a suite has this name.
pub(crate) fn is_built_in(name: &str) -> bool {
    Workload::preset_names().any(|known| known == name) || is_suite(name)
}

fn is_suite(name: &str) -> bool {
    Workload::suite_names().any(|suite| suite == name)
}

/// Whose command lines are understood.
#[derive(Clone, Copy)]
enum Program {
    Fio,
    DiskSpd,
}

/// The program that a pasted text runs: that of its first line, or, where it is a script, of the
/// first line that runs one of them.
fn program(text: &str) -> Option<Program> {
    let text = text.trim_start_matches('\u{feff}').replace("\\\r\n", " ").replace("\\\n", " ");
    program_of(&text).or_else(|| text.lines().find_map(program_of))
}

/// The first word, with arguments behind it.
fn program_of(text: &str) -> Option<Program> {
    let (word, rest) = text.trim_start().split_once(char::is_whitespace)?;
    let word = word.trim_matches(['"', '\'']);
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    match name.to_ascii_lowercase().trim_end_matches(".exe") {
        _ if rest.trim().is_empty() => None,
        "fio" => Some(Program::Fio),
        "diskspd" => Some(Program::DiskSpd),
        _ => None,
    }
}

/// Whether a file is a shell's, by its name or its first line.
fn is_script(path: &Path, text: &str) -> bool {
    let is_named_so = path.extension().is_some_and(|name| name == "sh" || name == "bash");
    is_named_so || text.trim_start_matches('\u{feff}').starts_with("#!")
}

/// What a file names: files that lie beside it, variables and facts of this machine.
pub(crate) struct Beside {
    directory: PathBuf,
}

/// What `file` names.
pub(crate) fn beside(file: &Path) -> Beside {
    Beside { directory: file.parent().unwrap_or(Path::new("")).to_owned() }
}

impl Outside for Beside {
    fn file(&self, name: &str) -> Result<String, String> {
        job_text(&self.directory.join(name)).map_err(|error| format!("{error:#}"))
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
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
        return Err(refused("it is larger than 1 MiB, which no job file is"));
    }
    Ok(text)
}

/// Words in front of a command: what a shell makes of them is not read here.
fn command_behind(text: &str) -> Option<&str> {
    let mut starts = text.match_indices(' ').map(|(at, _)| &text[at + 1..]);
    starts.find(|rest| program(rest).is_some())
}

/// What is said of a result in the place of a job file.
fn result_instead(name: &str, tool: Tool) -> String {
    match tool {
        Tool::Fio | Tool::Iperf3 | Tool::Knb | Tool::K8sNetperf => format!(
            "{name} is a result of {}, and no job file; iotax report {name} shows it, and iotax \
             compare puts two of them side by side",
            tool.name()
        ),
        Tool::Diskspd => format!(
            "{name} is a result of DiskSpd, and no job file; results in XML (diskspd -Rxml) are \
             shown by iotax report, and compared by iotax compare"
        ),
    }
}

fn unknown(text: &str) -> String {
    if matches!(text, "fio" | "diskspd") {
        return format!("`{text}` alone does nothing; paste its options, too: '{text} ...'");
    }
    if let Some(command) = command_behind(text) {
        let shown: String = command.chars().take(40).collect();
        return format!(
            "a command must begin with fio or diskspd; what stands before it is for a shell: begin \
             at '{shown}...'"
        );
    }
    let error = Workload::preset(text).expect_err("looked for before");
    let suites: Vec<&str> = Workload::suite_names().collect();
    format!(
        "{error}\nsuites: {}\nor a job file (job.fio), or a command line ('fio --name=...', \
         'diskspd -b64K ...')",
        suites.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_do_is_named() {
        assert!(unknown("sudo fio --name=a").contains("begin at 'fio --name=a"));
        assert!(unknown("SZ=4M taskset -c 0 fio --name=a").contains("begin at 'fio --name=a"));
        assert!(unknown("fio").contains("paste its options"));
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
        assert!(said("a.txt", text).contains("is a result of DiskSpd, and no job file"));
        let json = "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []\n}\n";
        assert!(said("a.json", json).contains("is a result of fio, and no job file"));
    }

    #[test]
    fn command_lines_are_told_by_their_first_word() {
        let is = |text: &str| program(text).is_some();
        assert!(is("fio --name=a") && is("/usr/bin/fio --name=a") && is(" fio a.fio"));
        assert!(is("diskspd -b4K x") && is("C:\\tools\\DiskSpd.exe -b4K x"));
        assert!(
            is("# writer (\"driver\")\nfio --name=a &\nsleep 2\n")
                && is("#!/bin/sh\nfio \\\n --name=a")
        );
        assert!(!is("# a comment") && !is("a\nb"));
        assert!(!is("fio") && !is("fio ") && !is("randread-4k") && !is("fiona --name=a"));
    }
}
