//! Reads job files line by line, as `init.c` of fio does.

use std::ops::Range;
use std::sync::Arc;

use iotax_experiment::Error;

use super::{Budget, Collector, Raw};
use crate::fio::section::{Include, Machine, Outside, Section, TextPlace};
use crate::fio::values;

/// Maximum depth of nested `include` lines.
const DEPTH: usize = 16;
/// Longest line, and longest section name, that fio reads completely, in bytes.
const LINE: usize = 8190;
const NAME: usize = 254;

/// The jobs of a file; `collector` has the global settings.
pub(super) fn read_ini(
    name: &str,
    text: &str,
    include: Include<'_>,
    collector: &mut Collector,
    budget: &mut Budget,
) -> Result<Vec<Section>, Error> {
    budget.text(text)?;
    let mut file = File { include, budget, collector, pending: Vec::new(), begun: false };
    file.lines(&Arc::from(name), text, 0)?;
    file.flush()?;
    file.collector.finish(file.budget)
}

struct File<'a> {
    include: Include<'a>,
    budget: &'a mut Budget,
    collector: &'a mut Collector,
    /// Options of the current section: fio sorts them at the end of the section.
    pending: Vec<Raw>,
    begun: bool,
}

impl File<'_> {
    fn lines(&mut self, source: &Arc<str>, text: &str, depth: usize) -> Result<(), Error> {
        // Editors of other systems write a byte-order mark at the start of files.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (number, line) in text.split('\n').enumerate() {
            let span = meaningful(line);
            if span.is_empty() {
                continue;
            }
            let text: Arc<str> = line.trim_end_matches(is_blank).into();
            let place = TextPlace { source: source.clone(), line: number + 1, text, span };
            self.line(place, depth)?;
        }
        Ok(())
    }

    fn line(&mut self, place: TextPlace, depth: usize) -> Result<(), Error> {
        let line = place.text.clone();
        let text = &line[place.span.clone()];
        if line.len() > LINE {
            let long = Error::syntax(format!("the line is longer than {LINE} bytes"), "split it");
            let text = "".into();
            return Err(TextPlace { text, span: 0..0, ..place }.mark(long));
        }
        if text.starts_with('[') {
            return self.section(place, depth);
        }
        if !self.begun {
            return Err(place.mark(Error::syntax(
                "this line is before the first section",
                "start with [global] or with a job such as [job1]",
            )));
        }
        match text.strip_prefix("include") {
            Some(rest) => {
                let file = rest.get(1..).unwrap_or_default().trim().to_owned();
                self.include(&place, &file, depth)
            }
            None => self.option(place),
        }
    }

    fn section(&mut self, place: TextPlace, depth: usize) -> Result<(), Error> {
        let text = &place.text[place.span.clone()];
        let refuse =
            |problem: String, advice: &str| Err(place.mark(Error::syntax(problem, advice)));
        if depth > 0 {
            return refuse(
                "an included file cannot start a section".to_owned(),
                "fio allows only options in included files",
            );
        }
        let Some(name) = text.strip_prefix('[').and_then(|name| name.strip_suffix(']')) else {
            return refuse(
                "a section name must end with ], with nothing after the bracket".to_owned(),
                "use a name such as [job1]",
            );
        };
        if name.is_empty() || name.len() > NAME {
            return refuse(
                format!("a section name must be 1 to {NAME} bytes long"),
                "use a name such as [job1]",
            );
        }
        let name = name.to_owned();
        self.flush()?;
        self.begun = true;
        // fio compares only the first letters: [global2] is global, too.
        if name.starts_with("global") {
            self.collector.begin_global(self.budget)
        } else {
            self.collector.begin(&name, Arc::new(place), self.budget)
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.collector.add_all(std::mem::take(&mut self.pending))
    }

    fn include(&mut self, place: &TextPlace, name: &str, depth: usize) -> Result<(), Error> {
        if depth + 1 > DEPTH {
            return Err(place.mark(Error::syntax(
                format!("include lines are nested more than {DEPTH} levels deep"),
                "check whether a file includes itself",
            )));
        }
        // fio also looks next to the including file.
        let beside = place.source.rfind('/').map(|at| format!("{}{name}", &place.source[..=at]));
        let first = self.include.file(name).map(|text| (name.to_owned(), text));
        let found = match (first, beside) {
            (Err(error), Some(beside)) if !name.starts_with('/') => {
                self.include.file(&beside).map(|text| (beside, text)).map_err(|_| error)
            }
            (first, _) => first,
        };
        let (name, text) = found.map_err(|why| {
            place.mark(Error::syntax(format!("cannot include `{name}`: {why}"), ""))
        })?;
        self.budget.text(&text)?;
        self.lines(&name.into(), &text, depth + 1)
    }

    fn option(&mut self, place: TextPlace) -> Result<(), Error> {
        let Replaced { text: read, variables } = replace(&place, self.include)?;
        let (line, from) = (place.text.clone(), place.span.start);
        let (name, value) = halves(&line[place.span.clone()]);
        let value_span = value.map_or(0..0, |value| place.span.end - value.len()..place.span.end);
        // The caret must mark the value without its blanks.
        let blanks = value.map_or(0, |value| value.len() - value.trim_start().len());
        let name_span = from..from + name.trim_end_matches(is_blank).len();
        let (name, value) = halves(&read);
        let raw = Raw {
            name: name.trim_end_matches(is_blank).to_owned(),
            name_span,
            value: value.map(Arc::from),
            variables: variables.into(),
            value_span: value_span.start + blanks..value_span.end,
            place: Arc::new(place),
        };
        self.pending.push(raw);
        Ok(())
    }
}

/// The name of an option, and its value if there is one.
fn halves(text: &str) -> (&str, Option<&str>) {
    match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    }
}

/// Characters that fio strips from lines.
fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c.is_ascii_control()
}

/// The bytes of a line without comment and surrounding blanks; empty if nothing is left.
fn meaningful(line: &str) -> Range<usize> {
    let end = line.find([';', '#']).unwrap_or(line.len());
    let text = line[..end].trim_end_matches(is_blank);
    let start = text.len() - text.trim_start_matches(is_blank).len();
    start..text.len()
}

// `${NAME}` and fio's keywords (`$ncpus`), replaced before an option is read, as in `options.c` of
// fio (`fio_option_dup_subs`, `fio_keyword_replace`).

/// An option with all variables replaced.
struct Replaced {
    pub text: String,
    /// The replaced variables, as written: `${SIZE}`, `$ncpus`.
    pub variables: Vec<String>,
}

/// Replaces all variables in the option at `place`.
fn replace(place: &TextPlace, outside: &dyn Outside) -> Result<Replaced, Error> {
    let written = &place.text[place.span.clone()];
    let mut variables = Vec::new();
    let text = environment(place, written, outside, &mut variables)?;
    let with_keywords = keywords(place, &text, outside.machine(), &mut variables)?;
    let text = match with_keywords {
        Some(text) => computed(place, text)?,
        None => text,
    };
    Ok(Replaced { text, variables })
}

fn environment(
    place: &TextPlace,
    written: &str,
    outside: &dyn Outside,
    variables: &mut Vec<String>,
) -> Result<String, Error> {
    let mut text = String::new();
    let mut rest = written;
    while let Some(at) = rest.find("${") {
        let Some(length) = rest[at..].find('}') else { break };
        let variable = &rest[at..=at + length];
        let Some(value) = outside.variable(&variable[2..length]) else {
            return Err(unset(place, variable));
        };
        text.push_str(&rest[..at]);
        text.push_str(&value);
        variables.push(variable.to_owned());
        rest = &rest[at + length + 1..];
    }
    text.push_str(rest);
    Ok(text)
}

/// fio replaces it with nothing and continues.
fn unset(place: &TextPlace, variable: &str) -> Error {
    let name = variable.trim_matches(['$', '{', '}']);
    let error = Error::syntax(
        format!("`{variable}` is not set in the environment"),
        format!(
            "set it before the command, as in {name}=VALUE iotax ..., or replace it with its value"
        ),
    );
    marked(place, error, variable)
}

/// The text with fio's keywords replaced; `None` if it has none.
fn keywords(
    place: &TextPlace,
    text: &str,
    machine: Option<Machine>,
    variables: &mut Vec<String>,
) -> Result<Option<String>, Error> {
    let mut replaced = None;
    for word in ["$pagesize", "$mb_memory", "$ncpus"] {
        if !text.contains(word) {
            continue;
        }
        let Some(machine) = machine else {
            let problem =
                format!("`{word}` depends on the machine, and iotax does not know the machine yet");
            return Err(marked(place, Error::syntax(problem, "replace it with the number"), word));
        };
        let so_far = replaced.as_deref().unwrap_or(text);
        let fact = match word {
            "$pagesize" => machine.page_bytes,
            "$mb_memory" => machine.memory_mib,
            _ => machine.cpus,
        };
        replaced = Some(so_far.replace(word, &fact.to_string()));
        variables.push(word.to_owned());
    }
    Ok(replaced)
}

/// fio passes a value that contains a keyword and an arithmetic operator to `bc`.
fn computed(place: &TextPlace, text: String) -> Result<String, Error> {
    let Some((name, value)) = text.split_once('=') else { return Ok(text) };
    if !text.contains(['+', '-', '*', '/']) || text.contains('\'') {
        return Ok(text);
    }
    match values::computed(value) {
        Some(number) => Ok(format!("{name}={number}")),
        None => Err(place.mark(Error::syntax(
            format!("fio passes `{value}` to the calculator bc, which cannot read it"),
            "with a keyword, use only + - * /, parentheses, and whole numbers without units",
        ))),
    }
}

fn marked(place: &TextPlace, error: Error, part: &str) -> Error {
    match place.text[place.span.clone()].find(part) {
        Some(at) => {
            let start = place.span.start + at;
            place.mark_part(error, start..start + part.len())
        }
        None => place.mark(error),
    }
}
