//! The words after `fio`, split as `getopt_long_only` does for fio.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::Error;

use super::{Budget, Collector, Raw, ini};
use crate::fio::options::{self, OptionInfo, ValueKind};
use crate::fio::section::{Ignored, Include, Section, Setting, TextPlace};
use crate::shell::Word;

/// Meaning of a name on the command line.
enum Meaning {
    Program(&'static ProgramOption),
    Job(&'static OptionInfo),
}

impl Meaning {
    fn takes(&self) -> Takes {
        match self {
            Self::Program(option) => option.takes,
            Self::Job(option) if option.kind == ValueKind::Flag => Takes::Perhaps,
            Self::Job(_) => Takes::Value,
        }
    }
}

/// A value, and its range of bytes in the whole text.
type Value = (String, Range<usize>);

/// The jobs of one command of the `whole`: first those on the command line, then those of the job
/// files that it names.
pub(super) fn read_arguments(
    whole: &TextPlace,
    words: &[Word],
    include: Include<'_>,
    budget: &mut Budget,
) -> Result<Vec<Section>, Error> {
    let (collector, files) = (Collector::new(), Vec::new());
    let (wanted, ignored) = (HashSet::new(), Vec::new());
    let mut reader = Arguments { whole, collector, budget, files, wanted, ignored };
    reader.words(words)?;
    let mut sections = reader.collector.finish(reader.budget)?;
    reader.job_files(include, &mut sections)?;
    if let Some(first) = sections.first_mut() {
        first.ignored = reader.ignored;
    }
    Ok(sections)
}

struct Arguments<'a> {
    whole: &'a TextPlace,
    collector: Collector,
    budget: &'a mut Budget,
    files: Vec<(String, Range<usize>)>,
    /// Sections of job files to run; empty means all.
    wanted: HashSet<String>,
    ignored: Vec<Ignored>,
}

impl Arguments<'_> {
    fn words(&mut self, words: &[Word]) -> Result<(), Error> {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word.text == "--" {
                self.files.extend(rest.map(|word| (word.text.clone(), word.span.clone())));
                return Ok(());
            }
            let Some(option) = word.text.strip_prefix('-').filter(|option| !option.is_empty())
            else {
                self.files.push((word.text.clone(), word.span.clone()));
                continue;
            };
            let short = by_letter(option).map(Meaning::Program);
            let option = option.strip_prefix('-').unwrap_or(option);
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            let meaning = match short {
                Some(short) => short,
                None => self.meaning(name, word)?,
            };
            let value = match value {
                Some(value) => Some((value.to_owned(), value_span(&self.whole.text, word, value))),
                None if meaning.takes() == Takes::Value => {
                    rest.next().map(|next| (next.text.clone(), next.span.clone()))
                }
                None => None,
            };
            self.option(&meaning, word, value)?;
        }
        Ok(())
    }

    /// Finds it by the whole name or by an unambiguous prefix.
    fn meaning(&self, name: &str, word: &Word) -> Result<Meaning, Error> {
        if let Some(option) = program_option(name) {
            return Ok(Meaning::Program(option));
        }
        let engine = self.collector.engine();
        let exact = options::option_named(name).or_else(|| options::find_of_engine(engine, name));
        if let Some(option) = exact {
            return Ok(Meaning::Job(option));
        }
        let begins = |known: &&str| !name.is_empty() && known.starts_with(name);
        let mut found: Vec<(&str, Meaning)> = Vec::new();
        // Later options do not make a prefix ambiguous that was unambiguous before.
        let old = |option: &&OptionInfo| option.came().is_none();
        for option in ALL.iter().filter(|option| begins(&option.name)) {
            found.push((option.name, Meaning::Program(option)));
        }
        for option in options::all().chain(options::of_engine(engine)).filter(old) {
            found.extend(option.names().filter(begins).map(|known| (known, Meaning::Job(option))));
        }
        match found.len() {
            0 => Err(self.collector.unknown(name, &self.place(word), &name_span(word, name))),
            1 => Ok(found.remove(0).1),
            _ => {
                let names: Vec<_> = found.iter().map(|(known, _)| *known).take(6).collect();
                Err(self.refuse(
                    format!("`{name}` is ambiguous: several options start with it"),
                    format!("use one of them: {}", names.join(", ")),
                    word,
                ))
            }
        }
    }

    fn option(
        &mut self,
        meaning: &Meaning,
        word: &Word,
        value: Option<Value>,
    ) -> Result<(), Error> {
        let name = match meaning {
            Meaning::Program(option) => option.name,
            Meaning::Job(option) => option.name,
        };
        let is_empty = value.as_ref().is_none_or(|(value, _)| value.is_empty());
        if meaning.takes() == Takes::Value && is_empty {
            let advice = format!("use --{name}=VALUE");
            return Err(self.refuse(format!("{name}: has no value"), advice, word));
        }
        match meaning {
            Meaning::Program(option) => self.program(option, word, value),
            Meaning::Job(option) => self.job(option, word, value),
        }
    }

    fn program(
        &mut self,
        option: &ProgramOption,
        word: &Word,
        value: Option<Value>,
    ) -> Result<(), Error> {
        match (option.fate, value) {
            (Fate::Section, Some((section, _))) => {
                self.wanted.insert(section);
            }
            (Fate::Section | Fate::Ignored, _) => {
                let why = "ignored; iotax writes its own reports";
                self.ignored.push(Ignored { place: self.place(word), why });
            }
            (Fate::Refused(why), _) => {
                let problem = format!("--{} {why}", option.name);
                return Err(self.refuse(problem, "leave it out".to_owned(), word));
            }
        }
        Ok(())
    }

    fn job(&mut self, option: &OptionInfo, word: &Word, value: Option<Value>) -> Result<(), Error> {
        let mut place = TextPlace::clone(&self.place(word));
        if let Some((_, span)) = &value {
            place.span.end = place.span.end.max(span.end);
        }
        let place = Arc::new(place);
        if option.name == "name" {
            let name = value.map_or_else(String::new, |(name, _)| name);
            if name.starts_with("global") {
                return self.collector.begin_global(self.budget);
            }
            return self.collector.begin(&name, place, self.budget);
        }
        let (value, value_span) = value.map_or((None, 0..0), |(value, span)| (Some(value), span));
        self.collector.add(Raw {
            name: option.name.to_owned(),
            name_span: name_span(word, option.name),
            value: value.map(Arc::from),
            variables: Arc::default(),
            value_span,
            place,
        })
    }

    fn job_files(&mut self, include: Include<'_>, found: &mut Vec<Section>) -> Result<(), Error> {
        for (nth, (name, span)) in std::mem::take(&mut self.files).into_iter().enumerate() {
            let place = self.whole.part(span);
            let text = include.file(&name).map_err(|why| {
                place.mark(Error::syntax(format!("cannot read `{name}`: {why}"), ""))
            })?;
            if nth > 0 {
                // Options on the command line apply to the first file only, as in fio.
                self.collector.forget_global();
            }
            let mut sections =
                ini::read_ini(&name, &text, include, &mut self.collector, self.budget)?;
            if nth == 0 && !self.wanted.is_empty() {
                sections.retain(|section| self.wanted.contains(&section.name));
            }
            // Each further file waits for the jobs before it.
            let stonewall = options::option_named("stonewall").filter(|_| nth > 0);
            if let (Some(option), Some(first)) = (stonewall, sections.first_mut()) {
                let place = Arc::new(place);
                let variables = Arc::default();
                let (value, value_span, kb_base) = (None, 0..0, 1024);
                let setting = Setting { option, value, variables, place, value_span, kb_base };
                first.settings.insert(0, setting);
            }
            found.append(&mut sections);
        }
        Ok(())
    }

    fn place(&self, word: &Word) -> Arc<TextPlace> {
        Arc::new(self.whole.part(word.span.clone()))
    }

    fn refuse(&self, problem: String, advice: String, word: &Word) -> Error {
        Error::syntax(problem, advice).at(&self.whole.text, word.span.clone())
    }
}

/// Position of the name: after the dashes, if it is not quoted.
fn name_span(word: &Word, name: &str) -> Range<usize> {
    let dashes = word.text.len() - word.text.trim_start_matches('-').len();
    let start = word.span.start + dashes;
    let end = start + name.len();
    if word.span.len() == word.text.len() && end <= word.span.end {
        start..end
    } else {
        word.span.clone()
    }
}

/// Position of the value: at the end of the word, including its quotes.
fn value_span(text: &str, word: &Word, value: &str) -> Range<usize> {
    let raw = &text[word.span.clone()];
    if raw.ends_with(value) {
        return word.span.end - value.len()..word.span.end;
    }
    let start = raw.find('=').map_or(0, |at| at + 1);
    word.span.start + start..word.span.end
}

// Options of the fio program, as opposed to options of jobs.

/// Whether a value follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// Only with an equals sign.
    Perhaps,
    Value,
}

/// How iotax treats it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It affects only fio's output or memory, not its I/O.
    Ignored,
    /// It selects sections of the job file.
    Section,
    /// With it, fio does not run jobs from this command line.
    Refused(&'static str),
}

#[derive(Debug)]
struct ProgramOption {
    pub name: &'static str,
    /// `-o` for `--output`; fio's `getopt` accepts these too.
    pub letter: char,
    pub takes: Takes,
    pub fate: Fate,
}

const fn option(name: &'static str, letter: char, takes: Takes, fate: Fate) -> ProgramOption {
    ProgramOption { name, letter, takes, fate }
}

const NO_LOAD: Fate = Fate::Refused("makes fio print information instead of running jobs");
const REMOTE: Fate = Fate::Refused("lets fio run on another machine");
const TRIGGER: Fate = Fate::Refused("runs a command during the load");

/// All of them in fio 3.33 on Linux (`l_opts` in `init.c`).
static ALL: &[ProgramOption] = &{
    use Fate::{Ignored, Refused, Section};
    use Takes::{Nothing, Perhaps, Value};
    [
        option("output", 'o', Value, Ignored),
        option("latency-log", 'l', Value, Refused("is no longer a fio option")),
        option("bandwidth-log", 'b', Nothing, Ignored),
        option("minimal", 'm', Nothing, Ignored),
        option("output-format", 'F', Value, Ignored),
        option("append-terse", 'f', Perhaps, Ignored),
        option("version", 'v', Nothing, NO_LOAD),
        option("help", 'h', Nothing, NO_LOAD),
        option("cmdhelp", 'c', Perhaps, NO_LOAD),
        option("enghelp", 'i', Perhaps, NO_LOAD),
        option("showcmd", 's', Nothing, NO_LOAD),
        option("readonly", 'r', Nothing, Ignored),
        option("eta", 'e', Value, Ignored),
        option("eta-interval", 'O', Value, Ignored),
        option("eta-newline", 'E', Value, Ignored),
        option("debug", 'd', Value, Ignored),
        option("parse-only", 'P', Nothing, NO_LOAD),
        option("section", 'x', Value, Section),
        option("inflate-log", 'X', Value, NO_LOAD),
        option("alloc-size", 'a', Value, Ignored),
        option("profile", 'p', Value, Refused("runs a workload that is built into fio")),
        option("warnings-fatal", 'w', Nothing, Ignored),
        option("max-jobs", 'j', Value, Ignored),
        option("terse-version", 'V', Value, Ignored),
        option("server", 'S', Perhaps, REMOTE),
        option("daemonize", 'D', Value, REMOTE),
        option("client", 'C', Value, REMOTE),
        option("remote-config", 'R', Value, REMOTE),
        option("cpuclock-test", 'T', Nothing, NO_LOAD),
        option("crctest", 'G', Perhaps, NO_LOAD),
        option("memcpytest", 'M', Perhaps, NO_LOAD),
        option("idle-prof", 'I', Value, Ignored),
        option("status-interval", 'L', Value, Ignored),
        option("trigger-file", 'W', Value, TRIGGER),
        option("trigger-timeout", 'B', Value, TRIGGER),
        option("trigger", 'H', Value, TRIGGER),
        option("trigger-remote", 'J', Value, TRIGGER),
        option("aux-path", 'K', Value, Ignored),
        option("merge-blktrace-only", 'A', Nothing, NO_LOAD),
    ]
};

/// Finds it by the whole name.
fn program_option(name: &str) -> Option<&'static ProgramOption> {
    ALL.iter().find(|option| option.name == name)
}

/// Finds it by letter, if `name` is one.
fn by_letter(name: &str) -> Option<&'static ProgramOption> {
    let mut letters = name.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    ALL.iter().find(|option| option.letter == letter)
}
