//! What iotax makes of a job file of fio, for tables of many of them.

use std::path::{Path, PathBuf};

use iotax_spec::fio::written::{Machine, Outside};
use iotax_spec::{Error, Workload, fio};

/// Who does it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    Native,
    WithFio,
    Refused,
}

impl Verdict {
    /// As tables have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::WithFio => "with fio",
            Self::Refused => "refused",
        }
    }
}

/// One job file.
pub struct Row {
    /// Its name without `.fio`.
    pub file: String,
    pub verdict: Verdict,
    /// What keeps the native engines, or iotax, from it.
    pub why: String,
}

/// The job files in a directory, in order.
pub fn in_directory(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "fio"));
    files.sort();
    files
}

/// Files beside one, no environment, and a machine that is the same everywhere.
struct Beside<'a>(&'a Path);

impl Outside for Beside<'_> {
    fn file(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.with_file_name(name)).map_err(|error| error.to_string())
    }

    fn machine(&self) -> Option<Machine> {
        Some(Machine { page_bytes: 4096, memory_mib: 16 << 10, cpus: 4 })
    }
}

/// Reads one.
pub fn row(path: &Path) -> Row {
    let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let read = fio::from_job_file(&format!("{file}.fio"), &text, &Beside(path));
    let (verdict, why) = match read.and_then(|phases| judge(&phases)) {
        Ok(()) => (Verdict::Native, String::new()),
        Err(error) if error.needs_fio() => (Verdict::WithFio, reasons(&error)),
        Err(error) => (Verdict::Refused, reasons(&error)),
    };
    Row { file, verdict, why }
}

fn judge(phases: &[Workload]) -> Result<(), Error> {
    assert!(!phases.is_empty());
    phases.iter().try_for_each(Workload::require_native)?;
    phases.iter().try_for_each(Workload::validate)
}

/// The options in question, each once; else the first line of the error.
fn reasons(error: &Error) -> String {
    const MOST: usize = 3;
    let Error::Beyond { options, .. } = error else {
        let text = error.to_string();
        let line = text.lines().next().unwrap();
        return line.split_once(".fio:").map_or(line, |(_, at)| at).replace('|', "\\|");
    };
    let mut names: Vec<String> = Vec::new();
    for option in options {
        let value = option.value.as_deref().map(|value| format!("={value}")).unwrap_or_default();
        let why = option.beyond.as_deref().unwrap();
        let name = format!("`{}{value}` ({why})", option.name);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("{}{more}", names.join(", ")).replace('|', "\\|")
}

/// How many there are of each kind, in words.
pub fn counts(rows: &[&Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let (native, with_fio) = (count(Verdict::Native), count(Verdict::WithFio));
    format!("{native} native, {with_fio} with fio, {} refused", count(Verdict::Refused))
}
