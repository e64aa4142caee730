//! What is refused, in words.

use std::ops::Range;

use iotax_experiment::Error;

use super::tool::Tool;
use super::word::Word;
use super::wrappers::Way;

/// Characters of a command that are shown.
const SHOWN: usize = 40;

pub(super) fn on_failure(text: &str, span: Range<usize>) -> Error {
    let advice = "leave it out, or join the commands by `;`";
    Error::syntax("this runs only if the command before it fails", advice).at(text, span)
}

pub(super) fn in_pipe(text: &str, span: Range<usize>, tool: Tool) -> Error {
    let problem = format!("this {} reads what another one prints", tool.name());
    Error::syntax(problem, "join the commands by `;` or `&`").at(text, span)
}

pub(super) fn too_deep(text: &str, span: Range<usize>) -> Error {
    Error::syntax("too many shells within shells", "paste the innermost command alone")
        .at(text, span)
}

/// The program in front of a tool does something to it.
pub(super) fn wrapper(
    text: &str,
    first: &Word,
    does: &str,
    way: Way,
    tool: Tool,
    word: Option<&Word>,
) -> Error {
    let name = first.program();
    let is_plain = !matches!(way, Way::Often | Way::Without);
    let begin = match word.filter(|_| is_plain) {
        Some(word) => format!("begin at `{}`", begins(text, word)),
        None => format!("paste the {} command alone", tool.name()),
    };
    let advice = match way {
        Way::Under => format!(
            "to have that, start iotax itself under it, as in `{name} ... iotax run ...`; to do \
             without, {begin}"
        ),
        Way::There => format!("start iotax inside it, or {begin} to run it here"),
        Way::Agent => format!(
            "start iotax on that machine, or have an agent there measure (--agent 'ssh HOST iotax \
             agent'); or {begin} to run it here"
        ),
        Way::Pod => {
            format!("`iotax kube run` runs a workload in pods; or {begin} to run it here")
        }
        Way::Often => {
            format!("{begin}; iotax repeats trials itself (-n), and varies options with --matrix")
        }
        Way::Without => begin,
    };
    let problem = format!("`{name}` {}", does.replace('%', tool.name()));
    Error::syntax(problem, advice).at(text, first.span.clone())
}

/// Nobody knows what a program does to the tool behind it.
pub(super) fn unknown_wrapper(text: &str, first: &Word, tool: &Word) -> Error {
    let problem = format!(
        "`{}` stands in front of {}, and iotax does not know what it does",
        first.text,
        tool.program()
    );
    let advice = format!("begin at `{}`", begins(text, tool));
    Error::syntax(problem, advice).at(text, first.span.clone())
}

/// A command beside the tool's that iotax does not run.
pub(super) fn beside(text: &str, first: &Word, does: &str) -> Error {
    let problem = format!("`{}` {does}, and iotax does not run it", first.text);
    let advice = "leave it out; run it yourself before, if the test needs it";
    Error::syntax(problem, advice).at(text, first.span.clone())
}

/// A program that nobody knows.
pub(super) fn unknown(text: &str, first: &Word, tool: Tool) -> Error {
    let name = tool.name();
    let (problem, advice) = if first.text.starts_with('-') {
        (format!("`{}` is not a {name} command", first.text), format!("begin with {name}"))
    } else {
        (
            format!("iotax does not run `{}`", first.text),
            format!(
                "leave it out; iotax reads {name}, sleep and wait, and passes over what prints"
            ),
        )
    };
    Error::syntax(problem, advice).at(text, first.span.clone())
}

/// A script in a file of its own.
pub(super) fn script(text: &str, first: &Word, file: Option<&Word>) -> Error {
    let name = file.map_or("SCRIPT", |word| word.text.as_str());
    let problem = format!("`{}` runs a script, which is not here", first.program());
    Error::syntax(problem, format!("give the script itself: iotax run {name} TARGET"))
        .at(text, first.span.clone())
}

/// A command within quotes that has quotes itself.
pub(super) fn quotes(text: &str, word: &Word) -> Error {
    Error::syntax("a command in quotes with more quotes in it", "paste the inner command alone")
        .at(text, word.span.clone())
}

/// A variable that changes what a tool does.
pub(super) fn preload(text: &str, word: &Word, tool: &Word) -> Error {
    let name = word.text.split('=').next().unwrap_or_default();
    let problem = format!("{name} loads code into the tool, and iotax does not");
    Error::syntax(problem, format!("begin at `{}`", begins(text, tool))).at(text, word.span.clone())
}

/// `fio -`: a job file that is not in the text.
pub(super) fn from_input(text: &str, word: &Word) -> Error {
    let problem = "`-` reads a job file from elsewhere";
    Error::syntax(problem, "save it as job.fio, and give that: iotax run job.fio TARGET")
        .at(text, word.span.clone())
}

/// Two tools in one text.
pub(super) fn other_tool(text: &str, word: &Word, tool: Tool) -> Error {
    let problem = format!("`{}` beside {}", word.text, tool.name());
    Error::syntax(problem, "give each tool a run of its own").at(text, word.span.clone())
}

fn begins(text: &str, tool: &Word) -> String {
    let line = text[tool.span.start..].lines().next().unwrap_or_default();
    let shown: String = line.chars().take(SHOWN).collect();
    if shown.len() < line.len() { format!("{}...", shown.trim_end()) } else { shown }
}
