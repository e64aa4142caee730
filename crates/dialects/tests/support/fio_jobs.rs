//! What iotax makes of a job file of fio, for tables of many of them.

use std::path::{Path, PathBuf};

use iotax_dialects::fio::{self, Beyond, Machine, Outside};
use iotax_experiment::{Error, Workload};

/// Who does it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    Native,
    WithFio,
    Refused,
}

impl Verdict {
    /// As tables have it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::WithFio => "with fio",
            Self::Refused => "refused",
        }
    }
}

/// One job file.
pub(crate) struct Row {
    /// Its name without `.fio`.
    pub file: String,
    pub verdict: Verdict,
    /// What keeps the native engines, or iotax, from it.
    pub why: String,
}

/// The job files in a directory, in order.
pub(crate) fn in_directory(directory: &Path) -> Vec<PathBuf> {
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
pub(crate) fn row(path: &Path) -> Row {
    let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let text = std::fs::read_to_string(path).unwrap();
    let read = fio::from_job_file(&format!("{file}.fio"), &text, &Beside(path));
    let (verdict, why) = match read {
        Err(error) => (Verdict::Refused, headline(&error)),
        Ok(phases) => judge(&phases),
    };
    Row { file, verdict, why }
}

fn judge(phases: &[Workload]) -> (Verdict, String) {
    assert!(!phases.is_empty());
    match phases.iter().try_for_each(|phase| fio::require_native([phase])) {
        Err(beyond) if beyond.needs_fio() => (Verdict::WithFio, reasons(&beyond)),
        Err(beyond) => (Verdict::Refused, reasons(&beyond)),
        Ok(()) => match phases.iter().try_for_each(Workload::validate) {
            Err(error) => (Verdict::Refused, headline(&error)),
            Ok(()) => (Verdict::Native, String::new()),
        },
    }
}

/// The first line of an error, without the file's name.
fn headline(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap();
    line.split_once(".fio:").map_or(line, |(_, at)| at).replace('|', "\\|")
}

/// The options in question, each once.
fn reasons(beyond: &Beyond) -> String {
    const MOST: usize = 3;
    let mut names: Vec<String> = Vec::new();
    for option in &beyond.options {
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
pub(crate) fn counts(rows: &[&Row]) -> String {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let (native, with_fio) = (count(Verdict::Native), count(Verdict::WithFio));
    format!("{native} native, {with_fio} with fio, {} refused", count(Verdict::Refused))
}
