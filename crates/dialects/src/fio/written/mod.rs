//! A job file or a command line as written: sections of settings, in the order of fio.

mod arguments;
mod ini;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::Error;

use super::options::{self, OptionInfo};
use super::section::{COMMAND_LINE, Ignored, Include, Section, Setting, TextPlace};
use crate::lines::by_line;
use crate::shell::{self, Pasted, Tool};

/// Reads a job file.
///
/// `include` returns the text of files named in `include` lines, and the variables. Every value is
/// valid for its option. Errors name the file and line.
pub fn read_job_file(name: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = Budget::new();
    let sections = ini::read_ini(name, text, include, &mut Collector::new(), &mut budget)?;
    if sections.is_empty() {
        return Err(Error::syntax(
            format!("{name} has no job"),
            "add a job section such as [job1]; [global] alone does not define a job",
        ));
    }
    Ok(sections)
}

/// Reads a command line as a shell would pass it to fio, or several command lines that are joined
/// by `&`, `;`, `&&`, `sleep` and `wait`.
///
/// `include` returns the text of job files that the command names. Every value is valid for its
/// option. Errors mark the part of the text.
pub fn read_command(text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let name = if text.trim_end().contains('\n') { "the script" } else { COMMAND_LINE };
    read_script(name, text, include)
}

/// Reads a file of command lines. Positions have a line number and `name`.
pub(crate) fn read_script(
    name: &str,
    text: &str,
    include: Include<'_>,
) -> Result<Vec<Section>, Error> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = read_commands(name, text, include);
    read.map_err(|error| if name == COMMAND_LINE { error } else { by_line(error, name) })
}

/// The sections of all commands; `source` is the name of the text.
fn read_commands(source: &str, text: &str, include: Include<'_>) -> Result<Vec<Section>, Error> {
    let mut budget = Budget::new();
    budget.text(text)?;
    let whole =
        TextPlace { source: source.into(), line: 0, text: text.into(), span: 0..text.len() };
    let Pasted { runs, notes } = shell::read_pasted(text, Tool::Fio)?;
    let mut found: Vec<Section> = Vec::new();
    for run in runs {
        let mut sections = arguments::read_arguments(&whole, &run.words, include, &mut budget)?;
        if sections.is_empty() {
            return Err(no_job().at(text, run.span));
        }
        for section in &mut sections {
            section.phase = run.start.phase;
            section.command = run.start.command;
            section.start_offset_ns = run.start.offset_ns;
        }
        found.append(&mut sections);
    }
    let Some(first) = found.first_mut() else {
        return Err(Error::syntax("there is no fio command", "start with fio --name=..."));
    };
    first.ignored.extend(
        notes
            .into_iter()
            .map(|note| Ignored { place: Arc::new(whole.part(note.span)), why: note.why }),
    );
    Ok(found)
}

fn no_job() -> Error {
    Error::syntax(
        "this command has no job",
        "write --name=NAME before the options of a job, or give a job file",
    )
}

// Limits for the text, so that no text takes unbounded time or memory.

/// Bytes of text, including all included files.
const TEXT: usize = 4 << 20;
/// Number of settings; those of `[global]` count once per job.
const SETTINGS: usize = 1 << 16;
/// fio's limit (`REAL_MAX_JOBS`).
const SECTIONS: usize = 4096;

/// What may still be read.
struct Budget {
    text: usize,
    settings: usize,
    sections: usize,
}

impl Budget {
    fn new() -> Self {
        Self { text: TEXT, settings: SETTINGS, sections: SECTIONS }
    }

    /// Counts the text of another file or command line.
    fn text(&mut self, text: &str) -> Result<(), Error> {
        self.text = self.text.checked_sub(text.len()).ok_or_else(|| {
            Error::syntax(
                format!(
                    "the text, with all included files, is longer than {}",
                    iotax_quantity::size(TEXT as u64)
                ),
                "split it",
            )
        })?;
        Ok(())
    }

    /// Counts another job with this number of settings.
    fn section(&mut self, place: &Arc<TextPlace>, settings: usize) -> Result<(), Error> {
        self.sections = self.sections.checked_sub(1).ok_or_else(|| {
            place.mark(Error::syntax(
                format!("there are more than {SECTIONS} jobs"),
                "use fewer jobs; fio does not support more",
            ))
        })?;
        self.settings(place, settings)
    }

    /// Counts the settings of a job.
    fn settings(&mut self, place: &Arc<TextPlace>, settings: usize) -> Result<(), Error> {
        self.settings = self.settings.checked_sub(settings).ok_or_else(|| {
            place.mark(Error::syntax(
                format!(
                    "there are more than {SETTINGS} settings; settings in [global] count once per \
                     job"
                ),
                "split it",
            ))
        })?;
        Ok(())
    }
}

// Collects options into the settings of a job.

/// The engine of a job that does not name one, on Linux.
const DEFAULT_ENGINE: &str = "psync";

/// One option as written, before lookup.
struct Raw {
    pub name: String,
    pub value: Option<Arc<str>>,
    /// Variables from outside the text.
    pub variables: Arc<[String]>,
    pub place: Arc<TextPlace>,
    /// Range of bytes in the text of the place.
    pub name_span: Range<usize>,
    pub value_span: Range<usize>,
}

/// Settings of a job or of `[global]` so far.
#[derive(Clone)]
struct Given {
    settings: Vec<Setting>,
    engine: Arc<str>,
    kb_base: u16,
}

/// Collects settings, global ones first.
struct Collector {
    global: Given,
    /// The current job: its name, its position, and the number of its global settings.
    job: Option<(String, Arc<TextPlace>, Given)>,
    sections: Vec<Section>,
}

impl Collector {
    fn new() -> Self {
        let (settings, engine) = (Vec::new(), DEFAULT_ENGINE.into());
        let global = Given { settings, engine, kb_base: 1024 };
        Self { global, job: None, sections: Vec::new() }
    }

    /// Ends the current job and begins another, with the global settings so far.
    fn begin(
        &mut self,
        name: &str,
        place: Arc<TextPlace>,
        budget: &mut Budget,
    ) -> Result<(), Error> {
        self.end(budget)?;
        budget.section(&place, self.global.settings.len())?;
        self.job = Some((name.to_owned(), place, self.global.clone()));
        Ok(())
    }

    /// Makes the following settings global again.
    fn begin_global(&mut self, budget: &mut Budget) -> Result<(), Error> {
        self.end(budget)
    }

    fn forget_global(&mut self) {
        self.global = Self::new().global;
    }

    /// The jobs so far.
    fn finish(&mut self, budget: &mut Budget) -> Result<Vec<Section>, Error> {
        self.end(budget)?;
        Ok(std::mem::take(&mut self.sections))
    }

    fn end(&mut self, budget: &mut Budget) -> Result<(), Error> {
        let Some((name, place, mut given)) = self.job.take() else { return Ok(()) };
        // A job with another engine does not get the options of the global engine.
        if given.engine != self.global.engine {
            let engine = given.engine.clone();
            given.settings.retain(|setting| applies(setting, &engine));
        }
        let own = given.settings.len().saturating_sub(self.global.settings.len());
        budget.settings(&place, own)?;
        let settings = given.settings;
        let (command, phase, start_offset_ns, ignored) = (0, 0, 0, Vec::new());
        let section = Section { name, place, settings, command, phase, start_offset_ns, ignored };
        self.sections.push(section);
        Ok(())
    }

    fn given(&mut self) -> &mut Given {
        match &mut self.job {
            Some((_, _, given)) => given,
            None => &mut self.global,
        }
    }

    /// Adds the options of a section of a job file in the order of fio: by priority, and those of
    /// the engine last.
    fn add_all(&mut self, mut options: Vec<Raw>) -> Result<(), Error> {
        options.sort_by_key(|option| priority(&option.name));
        let mut unknown = Vec::new();
        for option in options {
            match options::option_named(&option.name) {
                Some(info) => self.add_known(info, option)?,
                None => unknown.push(option),
            }
        }
        unknown.into_iter().try_for_each(|option| self.add(option))
    }

    /// Adds one option of a command line; the written order applies.
    fn add(&mut self, option: Raw) -> Result<(), Error> {
        let found = options::option_named(&option.name)
            .or_else(|| options::find_of_engine(&self.given().engine, &option.name));
        match found {
            Some(info) => self.add_known(info, option),
            None => Err(self.unknown(&option.name, &option.place, &option.name_span)),
        }
    }

    /// The engine that the following options belong to.
    fn engine(&self) -> &str {
        self.job.as_ref().map_or(&self.global.engine, |(_, _, given)| &given.engine)
    }

    fn add_known(&mut self, option: &'static OptionInfo, raw: Raw) -> Result<(), Error> {
        let Raw { value, variables, place, value_span, .. } = raw;
        let given = self.given();
        let setting =
            Setting { option, value, variables, place, value_span, kb_base: given.kb_base };
        setting.check_value()?;
        match option.name {
            "kb_base" => given.kb_base = if setting.choice()?.0 == "1000" { 1000 } else { 1024 },
            "ioengine" => given.engine = engine_of(setting.text()).into(),
            "name" => {
                if let Some((name, ..)) = &mut self.job {
                    setting.text().clone_into(name);
                }
                return Ok(());
            }
            _ => {}
        }
        self.given().settings.push(setting);
        Ok(())
    }

    /// Why a name is not an option.
    fn unknown(&self, name: &str, place: &TextPlace, span: &Range<usize>) -> Error {
        let engines: Vec<_> = options::engines_with(name).collect();
        let error = if let Some((had, advice)) = options::gone(name) {
            Error::syntax(format!("`{name}` exists only in {had}"), advice)
        } else if engines.is_empty() {
            let none = format!("fio up to {} has no option `{name}`", options::NEWEST_KNOWN);
            let problem = match closest(name) {
                Some(better) => format!("{none}; did you mean `{better}`?"),
                None => none,
            };
            Error::syntax(
                problem,
                "`fio --cmdhelp=all` lists the options of the fio on this machine",
            )
        } else {
            let (owners, engine) = (engines.join(", "), self.engine());
            Error::syntax(
                format!("`{name}` works only with {owners}, but this job uses {engine}"),
                format!("set ioengine={} first, or leave it out", engines[0]),
            )
        };
        place.mark_part(error, span.clone())
    }
}

/// Whether a setting applies to a job with this engine.
fn applies(setting: &Setting, engine: &str) -> bool {
    let name = setting.option.name;
    options::option_named(name).is_some()
        || options::find_of_engine(engine, name)
            .is_some_and(|own| std::ptr::eq(own, setting.option))
}

/// `external:/path/to/engine.so` is an engine of its own.
fn engine_of(value: &str) -> &str {
    value.split(':').next().unwrap_or(value)
}

/// fio sorts the options of a section: these come first or last.
fn priority(name: &str) -> i8 {
    match name {
        "lockfile" | "cpus_allowed_policy" | "kb_base" | "unit_base" => -1,
        "filename" | "filename_format" => 1,
        _ => 0,
    }
}

/// The closest known name, if at most a third of `name` is mistyped.
fn closest(name: &str) -> Option<&'static str> {
    let letters = letters(name);
    options::all()
        .flat_map(OptionInfo::names)
        .filter(|known| {
            // Each mistake changes the length by at most one, and the set of letters by two: only
            // few names are left to compare in full.
            let most = (known.len() / 3).max(1);
            let differing = (letters ^ self::letters(known)).count_ones() as usize;
            known.len().abs_diff(name.len()) <= most && differing <= 2 * most
        })
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1) && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The set of letters in a name.
fn letters(name: &str) -> u32 {
    name.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, byte| set | 1 << (byte - b'a'))
}
