//! Prints the results in the requested format, and writes `report.html` next to the record.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use iotax_caps::Caps;
use iotax_diagnose as diagnose;
use iotax_experiment::Design;
use iotax_experiment::rule::{RuleOutcome, UndecidedAs};
use iotax_record::{End, ExperimentHead, HostRole, Location, Reader, SearchHead, Trial};
use iotax_report as report;
use iotax_report::{
    AnalyzedPhase, CheckResult, Document, HostFindings, Redactor, Ruling, SearchResult,
};
use iotax_rig::Held;
use iotax_run::{Arms as _, Hosts};

use crate::args::{Color, Format};
use crate::exit::{Context as _, Exit, GATE_UNDECIDED, Result, bug, usage};
use crate::output::{REPORT, say, style, wide_style};

/// What fits a terminal of 24 lines above the path of the report, which may take two, and the
/// shell's next line.
pub(crate) const SCREEN_LINES: usize = 21;

/// The format and colours of the output.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    pub format: Format,
    pub color: Color,
    /// How much of text.
    pub extent: Extent,
}

/// How much of a result is printed as text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The sentences of the answer.
    Answer,
    /// What fits one screen.
    Screen,
    Everything,
}

impl Extent {
    /// What was asked for; a terminal gets one screen, and what reads on everything.
    pub(crate) fn of(quiet: bool, verbose: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Answer,
            (_, true) => Self::Everything,
            _ if io::stdout().is_terminal() => Self::Screen,
            _ => Self::Everything,
        }
    }
}

/// Results that were measured or read from a record.
pub(crate) enum Answer {
    /// The phases of the experiment of this name.
    Trials {
        name: String,
        parts: Vec<AnalyzedPhase>,
    },
    Caps(CapsAnswer),
    /// The caps of a disk, and whether it is fit for applications.
    Check {
        caps: CapsAnswer,
        /// The phases of the suite; none if the check was interrupted before.
        fitness: Vec<AnalyzedPhase>,
    },
}

/// The result of a search for caps.
pub(crate) struct CapsAnswer {
    pub head: Box<SearchHead>,
    pub caps: Caps,
    pub end: Option<End>,
}

/// A finished measurement, ready to be published.
pub(crate) struct Finished {
    pub answer: Answer,
    /// The directory of its record, if it has one.
    pub dir: Option<Held>,
    /// The exit code without rules, or the error that stopped the measurement.
    pub ended: Result<Exit>,
    /// Hosts to shut down.
    pub hosts: Option<Hosts>,
}

impl Finished {
    /// The result of a search for caps, and how it ended; shuts the hosts down.
    pub(crate) fn of_caps(self) -> Result<(CapsAnswer, Result<Exit>)> {
        down(self.hosts)?;
        match self.answer {
            Answer::Caps(caps) => Ok((caps, self.ended)),
            Answer::Trials { .. } | Answer::Check { .. } => unreachable!("a search was run"),
        }
    }

    /// The phases of an experiment, and how it ended; shuts the hosts down.
    pub(crate) fn of_phases(self) -> Result<(Vec<AnalyzedPhase>, Result<Exit>)> {
        down(self.hosts)?;
        match self.answer {
            Answer::Trials { parts, .. } => Ok((parts, self.ended)),
            Answer::Caps(_) | Answer::Check { .. } => unreachable!("an experiment was run"),
        }
    }
}

fn down(hosts: Option<Hosts>) -> Result<()> {
    Ok(hosts.map_or(Ok(()), |hosts| Box::new(hosts).down())?)
}

/// A document as text.
pub(crate) fn in_text(document: &Document, color: Color, extent: Extent) -> String {
    match extent {
        Extent::Answer => report::answer(document, style(color)),
        Extent::Screen => report::screen(document, wide_style(color), SCREEN_LINES),
        Extent::Everything => report::text(document, style(color)),
    }
}

/// Prints the results on stdout and writes `report.html` to the record's directory. Prints what it
/// can even if the report cannot be written or the measurement stopped early.
pub(crate) fn publish(finished: Finished, shown: Shown) -> Result<Exit> {
    let Finished { answer, dir, ended, hosts } = finished;
    let printed = answer.show(dir.as_ref().map(Location::from).as_ref(), shown);
    let exit = ended?;
    printed?;
    let exit = if exit == Exit::Done { answer.judged(shown.format) } else { exit };
    down(hosts)?;
    Ok(exit)
}

impl Answer {
    fn show(&self, dir: Option<&Location>, shown: Shown) -> Result<()> {
        let Shown { format, color, extent } = shown;
        if let Self::Check { .. } = self {
            refuse_for_check(format)?;
        }
        let document = self.document();
        let written = dir.map_or(Ok(()), |dir| write_page(dir, &document));
        // People read the document, programs the data.
        say(&match format {
            Format::Text => in_text(&document, color, extent),
            Format::Markdown => report::markdown(&document),
            Format::Json => self.json(dir)?,
            Format::Csv => match self {
                Self::Trials { parts, .. } => report::csv(parts.iter().map(|(_, part)| part)),
                Self::Caps(caps) => report::search_csv(caps.result()),
                Self::Check { .. } => unreachable!("it was refused"),
            },
            Format::Junit => report::junit(self.name(), &self.suites(), self.undecided_as()),
            Format::Github => {
                add_to_summary(&report::markdown(&document))?;
                report::github(&self.rulings(), self.undecided_as())
            }
        })?;
        if let (Format::Text, Some(dir), true) = (format, dir, written.is_ok()) {
            let dir = dir.shown().display();
            match extent {
                Extent::Answer => {}
                Extent::Screen => say(&format!("Details: {dir}/{REPORT} (iotax report -v {dir})"))?,
                Extent::Everything => {
                    say(&format!("\nReport: {dir}/{REPORT}\nAgain:  iotax report {dir}"))?;
                }
            }
        }
        written
    }

    pub(crate) fn document(&self) -> Document {
        match self {
            Self::Trials { name, parts } => report::experiments(name, parts),
            Self::Caps(caps) => report::search(caps.result()),
            Self::Check { caps, fitness } => report::check(checked(caps, fitness)),
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Trials { name, .. } => name,
            Self::Caps(_) => "limits",
            Self::Check { .. } => "check",
        }
    }

    /// The outcome of the rules, by workload.
    fn suites(&self) -> Vec<(String, Vec<Ruling>)> {
        match self {
            Self::Trials { parts, .. } => {
                let of = |(_, part): &AnalyzedPhase| (part.workload.clone(), report::rulings(part));
                parts.iter().map(of).collect()
            }
            Self::Caps(caps) => {
                vec![(self.name().to_owned(), report::search_rulings(caps.result()))]
            }
            Self::Check { .. } => Vec::new(),
        }
    }

    fn rulings(&self) -> Vec<Ruling> {
        self.suites().into_iter().flat_map(|(_, rulings)| rulings).collect()
    }

    /// How an undecided rule counts.
    fn undecided_as(&self) -> Option<UndecidedAs> {
        match self {
            Self::Trials { parts, .. } => parts.first()?.0.spec.undecided,
            Self::Caps(caps) => caps.head.search.undecided,
            Self::Check { .. } => None,
        }
    }

    /// The exit status of a complete run, by its rules. Unless stdout has the text report, prints
    /// broken rules on stderr. Always prints undecided rules there.
    pub(crate) fn judged(&self, format: Format) -> Exit {
        let rulings = self.rulings();
        let of = |outcome| rulings.iter().filter(move |ruling| ruling.outcome == outcome);
        let broken: Vec<_> = of(RuleOutcome::Fail).collect();
        let undecided: Vec<_> = of(RuleOutcome::Undecided).collect();
        if format != Format::Text {
            tell(&broken);
        }
        if undecided.is_empty() || !broken.is_empty() {
            return if broken.is_empty() { Exit::Done } else { Exit::GateFailed };
        }
        tell(&undecided);
        let are = if undecided.len() == 1 { "rule is" } else { "rules are" };
        let are = format!("{} {are} undecided (neither broken nor passed)", undecided.len());
        match self.undecided_as() {
            None => {
                eprintln!(
                    "error: {are}, so the exit code is {GATE_UNDECIDED}. --undecided pass makes it \
                     0; --undecided fail makes it 1."
                );
                Exit::GateUndecided
            }
            Some(UndecidedAs::Pass) => {
                eprintln!(
                    "warning: {are}, but treated as passed, so exit code 0 does not mean that \
                     nothing got slower."
                );
                Exit::Done
            }
            Some(UndecidedAs::Fail) => {
                eprintln!("error: {are}, but treated as broken, so the exit code is 1.");
                Exit::GateFailed
            }
        }
    }

    /// A run prints a superset of fio's JSON; a comparison prints its comparisons.
    fn json(&self, dir: Option<&Location>) -> Result<String> {
        let (name, parts) = match self {
            Self::Trials { name, parts } => (name, parts),
            Self::Caps(caps) => return Ok(report::search_json(caps.result())),
            Self::Check { caps, fitness } => {
                return Ok(report::check_json(&checked(caps, fitness)));
            }
        };
        // The files of other tools already have their results in fio's format.
        let is_run = parts.iter().all(|(experiment, _)| {
            experiment.spec.design == Design::Single && !experiment.spec.is_of_results()
        });
        let trials = || -> Result<Vec<Trial>> {
            let Some(dir) = dir else { return Ok(Vec::new()) };
            Ok(Reader::<ExperimentHead>::open(dir)?.lines()?.collect::<Result<Vec<_>, _>>()?)
        };
        Ok(match parts.as_slice() {
            [(experiment, analysis)] if is_run => {
                report::json_run(experiment, analysis, &trials()?)
            }
            [(experiment, analysis)] => report::json_compare(experiment, analysis),
            parts if is_run => report::phases_json_run(name, parts, &trials()?),
            parts => report::phases_json_compare(name, parts),
        })
    }
}

impl CapsAnswer {
    pub(crate) fn result(&self) -> SearchResult<'_> {
        SearchResult { head: &self.head, caps: &self.caps, end: self.end.as_ref() }
    }
}

/// A check, with what its record knows of the machine.
fn checked<'a>(caps: &'a CapsAnswer, fitness: &'a [AnalyzedPhase]) -> CheckResult<'a> {
    let machine = caps.head.host().machine.as_deref().cloned().unwrap_or_default();
    let cloud = &caps.head.opened.cloud;
    let findings = diagnose::findings(&machine, cloud);
    let coverage = diagnose::coverage(&machine, cloud);
    let host = HostFindings { role: HostRole::Local, machine, findings, coverage };
    CheckResult { caps: caps.result(), fitness, host }
}

/// Refuses the formats that a check does not have.
pub(crate) fn refuse_for_check(format: Format) -> Result<()> {
    match format {
        Format::Text | Format::Json | Format::Markdown => Ok(()),
        Format::Csv | Format::Junit | Format::Github => Err(usage(
            "--format: iotax check supports text, json and markdown; for csv, junit or github, run \
             its parts separately: `iotax limits DIR` and `iotax run fitness DIR`",
        )),
    }
}

fn tell(rulings: &[&Ruling]) {
    for ruling in rulings {
        eprintln!("{}", ruling.sentence);
    }
}

/// Appends the report to the step summary of a GitHub workflow, if this runs in one.
fn add_to_summary(markdown: &str) -> Result<()> {
    let Some(file) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty()) else {
        return Ok(());
    };
    let add =
        || OpenOptions::new().append(true).create(true).open(&file)?.write_all(markdown.as_bytes());
    add().with_context(|| format!("GITHUB_STEP_SUMMARY: cannot write {}", file.display()))
}

/// Writes `report.html`.
pub(crate) fn write_page(dir: &Location, document: &Document) -> Result<()> {
    let file = dir.join(REPORT);
    replace(file.at(), &report::html(document))
        .with_context(|| format!("cannot write {}", file.shown().display()))
}

/// Writes the page of a recording next to it, and returns its path: `app.iotx.html`.
pub(crate) fn write_page_of(recording: &Path, document: &Document) -> Result<PathBuf> {
    let mut name = recording.file_name().unwrap_or_default().to_owned();
    name.push(".html");
    let page = recording.with_file_name(name);
    replace(&page, &report::html(document)).with_context(|| {
        format!("cannot write {}; choose another directory with --out", page.display())
    })?;
    Ok(page)
}

/// Replaces a file without following links: a record may come from elsewhere, and its `report.html`
/// may be a link to an unrelated file.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("html.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let written = fs::File::create_new(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // The partial file is useless, and the first error is the cause.
        let _ = fs::remove_file(&new);
    }
    written
}

// The key of a file with pseudonyms: it maps them back, for the owner only.

/// Only the owner may read it.
const MODE: u32 = 0o600;

/// The path of the key of `handed_on`: next to it, never in it.
pub(crate) fn beside(handed_on: &Path) -> PathBuf {
    let mut name = handed_on.file_name().unwrap_or_default().to_owned();
    name.push(".key.json");
    handed_on.with_file_name(name)
}

/// Writes the key; never overwrites an existing file.
///
/// # Errors
/// If the file exists or cannot be written.
pub(crate) fn write(file: &Location, redactor: &Redactor) -> Result<()> {
    let mut text = serde_json::to_string_pretty(&redactor.key()).map_err(bug)?;
    text.push('\n');
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(MODE);
    match options.open(file.at()).and_then(|mut key| key.write_all(text.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let file = file.shown().display();
            Err(usage(format!("{file} already exists; choose another file")))
        }
        written => {
            written.with_context(|| format!("cannot write the key file {}", file.shown().display()))
        }
    }
}
