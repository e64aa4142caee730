//! One command: that of the tool, with its wrappers, or another one next to it.

use std::ops::Range;

use iotax_experiment::Error;

use super::lexer::{Note, Simple, Word, span};
use super::wrappers::{
    Beside, Fate, OWN_WAY, SHELL, Way, Wrapper, beside_named, of_kernel, wrapper_named,
};
use super::{Style, Tool, is_assignment};

/// Longest plausible `sleep` between two commands: a day.
const LONGEST_SLEEP_S: f64 = 86_400.0;

const UNREAD: &str = "ignored; the command does not read standard input";

/// Kind of a command.
pub(super) enum Found {
    Run {
        words: Vec<Word>,
        span: Range<usize>,
        at_once: bool,
    },
    /// More commands, inside quotes.
    Inside(Range<usize>),
    Sleep(u64),
    Wait,
    Nothing,
}

/// The tool that a word runs, if any.
pub(super) fn tool_of(word: &Word) -> Option<Tool> {
    Tool::of_program(name(word).as_str())
}

/// In lower case, without cmd's `@` or the `\` that disables an alias.
fn name(word: &Word) -> String {
    word.program().trim_start_matches('@').to_owned()
}

pub(super) struct Stage<'a> {
    pub text: &'a str,
    pub tool: Tool,
    pub style: Style,
}

impl Stage<'_> {
    /// The kind of a command, and the parts of it that are left out.
    pub(super) fn read_command(&self, command: &Simple) -> Result<(Found, Vec<Note>), Error> {
        let mut notes = Vec::new();
        let mut at_once = false;
        let mut rest = command.words.as_slice();
        if let Some(fault) = typeset(rest) {
            return Err(fault);
        }
        while let [first, behind @ ..] = rest {
            if tool_of(first).is_some() || self.is_flag(first) {
                let found = self.run(command, rest, at_once, &mut notes)?;
                return Ok((found, notes));
            }
            let wrapper = self.wrapper(first);
            let is_beside = wrapper.is_none() && beside_named(&name(first)).is_some();
            let tool = behind.iter().find(|word| tool_of(word).is_some());
            let Some(tool) = tool.filter(|_| !is_beside) else { break };
            if !first.quoted && is_assignment(&first.text) {
                self.assigned(first, tool, &mut notes)?;
                rest = behind;
                continue;
            }
            let Some(wrapper) = wrapper else {
                let unknown = || self.refuse_unknown_wrapper(first, tool);
                return Err(first.fault.as_deref().cloned().unwrap_or_else(unknown));
            };
            rest = match wrapper.fate {
                Fate::Dropped(why) => {
                    let behind = behind_options(wrapper, rest);
                    let end = rest.len() - behind.len();
                    notes.push(Note { span: span(&rest[..end]), why });
                    behind
                }
                Fate::Refused(does, way) => {
                    return Err(self.refuse_wrapper(first, does, way, Some(tool)));
                }
                Fate::Shell(options) => {
                    let at = self.command_of(options, rest)?;
                    if at + 1 == rest.len() {
                        break;
                    }
                    &rest[at..]
                }
                Fate::Start => {
                    let (behind, waits) = started(wrapper, behind);
                    at_once = !waits;
                    behind
                }
            };
        }
        self.other(command, rest, notes)
    }

    /// Whether the word begins a line of `DiskSpd` flags without the program.
    fn is_flag(&self, word: &Word) -> bool {
        self.tool == Tool::DiskSpd && word.text.starts_with('-')
    }

    /// On Windows `timeout` waits, and runs nothing.
    fn wrapper(&self, word: &Word) -> Option<&'static Wrapper> {
        let name = name(word);
        wrapper_named(&name).filter(|_| !(self.style.windows && name == "timeout"))
    }

    fn run(
        &self,
        command: &Simple,
        words: &[Word],
        at_once: bool,
        notes: &mut Vec<Note>,
    ) -> Result<Found, Error> {
        let [program, behind @ ..] = words else { return Ok(Found::Nothing) };
        let arguments = match tool_of(program) {
            Some(tool) if tool != self.tool => {
                let problem =
                    format!("`{}` is used together with {}", program.text, self.tool.name());
                return Err(self.refuse(program, problem, "run each tool separately"));
            }
            Some(_) => behind,
            None => words,
        };
        // An unknown directory may precede the name of the program.
        if let Some(fault) = arguments.iter().find_map(|word| word.fault.as_deref()) {
            return Err(fault.clone());
        }
        let input = arguments.iter().find(|word| self.tool == Tool::Fio && word.text == "-");
        if let Some(word) = input {
            let advice = "save it as job.fio, then run: iotax run job.fio TARGET";
            return Err(self.refuse(word, "`-` reads a job file from standard input", advice));
        }
        for redirect in &command.redirects {
            let why = if redirect.reads { UNREAD } else { OWN_WAY };
            notes.push(Note { span: redirect.span.clone(), why });
        }
        Ok(Found::Run { words: arguments.to_vec(), span: span(words), at_once })
    }

    fn assigned(&self, word: &Word, tool: &Word, notes: &mut Vec<Note>) -> Result<(), Error> {
        if word.text.starts_with("LD_PRELOAD=") {
            let name = word.text.split('=').next().unwrap_or_default();
            let problem = format!("{name} loads code into the tool, which iotax does not do");
            return Err(self.refuse(word, problem, format!("start at `{}`", self.begins(tool))));
        }
        notes.push(Note { span: word.span.clone(), why: "not set for iotax" });
        Ok(())
    }

    /// Index of the word with which the command of a shell begins.
    fn command_of(&self, options: &[&str], words: &[Word]) -> Result<usize, Error> {
        match words.iter().position(|word| is_command(options, &word.text)) {
            Some(at) if at + 1 < words.len() => Ok(at + 1),
            _ => {
                let name = words.get(1).map_or("SCRIPT", |word| word.text.as_str());
                let problem =
                    format!("`{}` runs a script that is not part of this text", words[0].program());
                let advice = format!("pass the script itself: iotax run {name} TARGET");
                Err(self.refuse(&words[0], problem, advice))
            }
        }
    }

    /// A command that runs no tool, judging by its words.
    fn other(
        &self,
        command: &Simple,
        words: &[Word],
        mut notes: Vec<Note>,
    ) -> Result<(Found, Vec<Note>), Error> {
        let Some(first) = words.first() else { return Ok((Found::Nothing, notes)) };
        let whole = span(words).start..command.span().end;
        let mut drop = |why: &'static str| notes.push(Note { span: whole.clone(), why });
        if !first.quoted && words.iter().all(|word| is_assignment(&word.text)) {
            drop(SHELL);
            return Ok((Found::Nothing, notes));
        }
        if let Some(fault) = &first.fault {
            return Err((**fault).clone());
        }
        let name = name(first);
        let fate = match (to_kernel(command, words), self.wrapper(first)) {
            (Some(fate), _) => Some(fate),
            (None, None) => beside_named(&name),
            (None, Some(wrapper)) => match wrapper.fate {
                Fate::Dropped(why) => {
                    let behind = behind_options(wrapper, words);
                    if behind.is_empty() {
                        None
                    } else {
                        let end = words.len() - behind.len();
                        notes.push(Note { span: span(&words[..end]), why });
                        return self.other(command, behind, notes);
                    }
                }
                Fate::Shell(options) => {
                    let at = self.command_of(options, words)?;
                    let part = self.inside(command, &words[at])?;
                    return Ok((Found::Inside(part), notes));
                }
                Fate::Refused(does, way) => {
                    let is_keyword = matches!(way, Way::Often | Way::Without);
                    let has_tool = words.iter().any(|word| super::tool(&word.text).is_some());
                    if is_keyword || has_tool {
                        return Err(self.refuse_wrapper(first, does, way, None));
                    }
                    None
                }
                Fate::Start => None,
            },
        };
        let found = match fate {
            Some(Beside::Dropped(why)) => {
                drop(why);
                Found::Nothing
            }
            Some(Beside::Sleep) => Found::Sleep(sleep(self.text, first, &words[1..])?),
            Some(Beside::Wait) => Found::Wait,
            Some(Beside::Refused(does)) => {
                let problem = format!("`{}` {does}, so iotax does not run it", first.text);
                let advice =
                    "leave out this command, or run it yourself first if the test needs it";
                return Err(self.refuse(first, problem, advice));
            }
            None => return Err(self.refuse_unknown(first)),
        };
        Ok((found, notes))
    }

    /// The bytes of the command that is quoted in a word.
    fn inside(&self, command: &Simple, word: &Word) -> Result<Range<usize>, Error> {
        let Range { start, end } = word.span;
        let raw = &self.text[start..end];
        // cmd removes the first and the last quote.
        let to_end = start..command.span().end;
        if raw.starts_with("\"\"") && self.text[to_end.clone()].ends_with('"') {
            return Ok(start + 1..to_end.end - 1);
        }
        let quotes = usize::from(raw.starts_with(['\'', '"']));
        let part = start + quotes..end.saturating_sub(quotes).max(start + quotes);
        if self.text.get(part.clone()) == Some(word.text.as_str()) {
            return Ok(part);
        }
        if let Some(fault) = &word.fault {
            return Err((**fault).clone());
        }
        let problem = "this quoted command contains further quotes";
        Err(self.refuse(word, problem, "paste only the inner command"))
    }

    fn refuse(&self, word: &Word, problem: impl Into<String>, advice: impl Into<String>) -> Error {
        Error::syntax(problem, advice).at(self.text, word.span.clone())
    }

    /// Refuses a program before a tool that affects the tool.
    fn refuse_wrapper(&self, first: &Word, does: &str, way: Way, tool: Option<&Word>) -> Error {
        let name = first.program();
        let is_plain = !matches!(way, Way::Often | Way::Without);
        let begin = match tool.filter(|_| is_plain) {
            Some(word) => format!("start at `{}`", self.begins(word)),
            None => format!("paste only the {} command", self.tool.name()),
        };
        let advice = match way {
            Way::Under => format!(
                "to keep the effect of this command, start iotax under it, as in `{name} ... \
                 iotax run ...`; otherwise {begin}"
            ),
            Way::There => {
                format!("start iotax inside the container, or {begin} to run the test here")
            }
            Way::Agent => format!(
                "start iotax on that machine, measure through an agent there (--agent 'ssh HOST \
                 iotax agent'), or {begin} to run the test here"
            ),
            Way::Pod => {
                format!(
                    "use `iotax kube run` to run a workload in pods, or {begin} to run the \
                     test here"
                )
            }
            Way::Often => format!(
                "{begin}; iotax repeats trials itself (-n) and varies options with --matrix"
            ),
            Way::Without => begin,
        };
        self.refuse(first, format!("`{name}` {}", does.replace('%', self.tool.name())), advice)
    }

    /// Refuses an unknown program before a tool, because its effect is unknown.
    fn refuse_unknown_wrapper(&self, first: &Word, tool: &Word) -> Error {
        let problem = format!(
            "iotax does not know what the command `{}` before {} does",
            first.text,
            tool.program()
        );
        self.refuse(first, problem, format!("start at `{}`", self.begins(tool)))
    }

    /// Refuses an unknown program.
    fn refuse_unknown(&self, first: &Word) -> Error {
        let (name, text) = (self.tool.name(), &first.text);
        if text.starts_with('-') {
            let problem = format!("`{text}` is not a {name} command");
            return self.refuse(first, problem, format!("start with {name}"));
        }
        let advice = format!(
            "leave out this command; iotax supports {name}, sleep and wait, and ignores commands \
             that only print"
        );
        self.refuse(first, format!("iotax does not run `{text}`"), advice)
    }

    /// The start of a tool's command, for messages.
    fn begins(&self, tool: &Word) -> String {
        const SHOWN: usize = 40;
        let line = self.text[tool.span.start..].lines().next().unwrap_or_default();
        let shown: String = line.chars().take(SHOWN).collect();
        if shown.len() < line.len() { format!("{}...", shown.trim_end()) } else { shown }
    }
}

/// What a web page has changed in a command of the tool.
fn typeset(words: &[Word]) -> Option<Error> {
    words.iter().find(|word| tool_of(word).is_some())?;
    let odd = words.iter().find(|word| word.typeset)?;
    odd.fault.as_deref().cloned()
}

/// Handles a command that changes a setting of the kernel.
fn to_kernel(command: &Simple, words: &[Word]) -> Option<Beside> {
    let written = command.redirects.iter().filter(|redirect| !redirect.reads);
    let files = words.iter().skip(1).filter(|_| name(&words[0]) == "tee");
    let dropped = words.iter().any(|word| word.text.starts_with("vm.drop_caches"));
    let mut targets = written
        .map(|redirect| redirect.target.as_str())
        .chain(files.map(|word| word.text.as_str()))
        .chain(dropped.then_some("/proc/sys/vm/drop_caches"));
    targets.find_map(of_kernel)
}

/// Whether an option of a shell announces a command: `-c`, `-lc`, `/c`, `-Command`.
fn is_command(options: &[&str], word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let letters = word.strip_prefix('-').unwrap_or_default();
    let is_joined = options.contains(&"-c")
        && letters.ends_with('c')
        && letters.len() <= 4
        && letters.chars().all(|c| c.is_ascii_lowercase());
    options.contains(&lower.as_str()) || is_joined
}

/// The words after a wrapper, its options and their values.
fn behind_options<'a>(wrapper: &Wrapper, words: &'a [Word]) -> &'a [Word] {
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        at += if wrapper.has_value(&word.text) { 2 } else { 1 };
        if word.text == "--" {
            break;
        }
    }
    let runs = |word: &Word| {
        tool_of(word).is_some() || wrapper_named(&name(word)).is_some() || is_assignment(&word.text)
    };
    if words.get(at).is_none_or(|word| !runs(word)) {
        at += wrapper.words;
    }
    let is_program = |word: &Word| runs(word) || beside_named(&name(word)).is_some();
    if words.get(at).is_none_or(|word| !is_program(word)) {
        // An option that is not known here.
        let tool = words.iter().skip(1).position(|word| tool_of(word).is_some());
        at = tool.map_or(at, |tool| tool + 1);
    }
    words.get(at..).unwrap_or_default()
}

/// The program that `start` of cmd starts, and whether it waits for it.
fn started<'a>(wrapper: &Wrapper, words: &'a [Word]) -> (&'a [Word], bool) {
    let (mut at, mut waits) = (0, false);
    while let Some(word) = words.get(at) {
        let option = word.text.to_ascii_lowercase();
        let is_title = at == 0 && word.quoted && tool_of(word).is_none();
        if !is_title && !option.starts_with('/') {
            break;
        }
        waits |= matches!(option.as_str(), "/wait" | "/w");
        at += if wrapper.has_value(&option) { 2 } else { 1 };
    }
    (words.get(at..).unwrap_or_default(), waits)
}

/// `sleep 1.5m`, `timeout /t 5 /nobreak`, `Start-Sleep -Seconds 5`: one time, in seconds if there
/// is no unit.
fn sleep(text: &str, first: &Word, arguments: &[Word]) -> Result<u64, Error> {
    let refuse = |word: &Word| {
        let error = Error::syntax(
            "sleep takes exactly one duration",
            "specify the duration in seconds, as in sleep 10",
        );
        Err(error.at(text, word.span.clone()))
    };
    let is_option = |word: &&Word| word.text.starts_with(['-', '/']);
    let is_fine = arguments
        .iter()
        .any(|word| matches!(&*word.text.to_ascii_lowercase(), "-m" | "-milliseconds"));
    let mut times = arguments.iter().filter(|word| !is_option(word));
    let Some(time) = times.next() else { return refuse(first) };
    if let Some(second) = times.next() {
        return refuse(second);
    }
    let (number, unit) = match time.text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => time.text.split_at(at),
        None if is_fine => (time.text.as_str(), "ms"),
        None => (time.text.as_str(), "s"),
    };
    let unit_s = match unit {
        "ms" if is_fine => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return refuse(time),
    };
    match number.parse::<f64>() {
        Ok(number) if (0.0..=LONGEST_SLEEP_S).contains(&(number * unit_s)) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let ns = (number * unit_s * 1e9).round() as u64;
            Ok(ns)
        }
        _ => refuse(time),
    }
}
