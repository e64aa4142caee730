//! Pasted texts and how they are read.

mod around;
mod refused;
mod typeset;
mod windows;

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// What a text runs and what is left out of it, or why it is refused.
fn read_as(text: &str, expected: Tool) -> String {
    assert_eq!(tool(text), Some(expected), "{text}");
    let pasted = match read_pasted(text, expected) {
        Ok(pasted) => pasted,
        Err(error) => return format!("refused: {error}"),
    };
    let mut told = String::new();
    for run in &pasted.runs {
        let words: Vec<&str> = run.words.iter().map(|word| word.text.as_str()).collect();
        let Start { phase, offset_ns, .. } = run.start;
        let _ = writeln!(told, "[{phase}+{}] {}", offset_ns / 1_000_000_000, words.join(" "));
    }
    for note in &pasted.notes {
        let _ = writeln!(told, "  {}: {}", shown(&text[note.span.clone()]), note.why);
    }
    told.trim_end().to_owned()
}

fn all(texts: &[&str], tool: Tool) -> String {
    let told = texts.iter().map(|text| format!("> {text}\n{}", read_as(text, tool)));
    told.collect::<Vec<_>>().join("\n")
}

/// Checks that all texts result in the same command, and that none is refused.
fn same(texts: &[&str], tool: Tool, words: &str) {
    for text in texts {
        let told = read_as(text, tool);
        assert_eq!(told.lines().next(), Some(format!("[0+0] {words}").as_str()), "{text}\n{told}");
    }
}

#[test]
fn names_and_paths_are_not_commands() {
    for text in [
        "fio", "diskspd", "fio ", "randread-4k", "job.fio", "/data/job.fio", "/data/fio/job.fio",
        "./fio", "my fio jobs.fio", "fiona --name=a", "# a comment", "a\nb", "diskspd.txt",
        "C:\\fio\\job.fio", "rem fio --name=a", "/usr/bin/fio", "sudo", "", "/mnt/sudo x/a.fio",
    ] {
        assert_eq!(tool(text), None, "{text}");
    }
}

proptest! {
    /// Any wrapper followed by a tool and an option is a command line, and reading it never panics.
    #[test]
    fn a_wrapper_with_a_tool_is_a_line(
        front in proptest::collection::vec(prop_oneof![
            "(sudo|time|nice|env|numactl|taskset|timeout|docker|ssh|bash|cmd|watch|LC_ALL=C)",
            "-[a-z]{1,4}", "[0-9]{1,3}", "/[a-z]{1,4}", "[a-z/.:]{1,9}",
        ], 0..6),
        first in "(sudo|time|nice|env|numactl|taskset|timeout|docker|ssh|bash|cmd|watch|LC_ALL=C)",
        own in "(fio|/usr/bin/fio|fio\\.exe|diskspd|C:\\\\a\\\\diskspd\\.exe)",
        behind in "( --?[a-z]{1,6}=?[a-z0-9/]{0,5}){1,4}( (>|2>&1|\\||;|&&) ?[a-z/.]{0,6}){0,2}",
    ) {
        let text = format!("{first} {} {own}{behind}", front.join(" "));
        let found = tool(&text);
        prop_assert!(found.is_some(), "{}", text);
        let _ = read_pasted(&text, found.unwrap());
    }

    #[test]
    fn no_text_panics(text in prop_oneof![
        ".*",
        "(fio|diskspd|sudo|bash -c|cmd /c|start|[ \"'\\\\`^$%&|;<>(){}#\n-]|\u{2013}|\u{201c}|\u{a0}|C:\\\\|[a-z]{1,3}|\\$\\(|2>&1)*",
    ]) {
        for tool in [Tool::Fio, Tool::DiskSpd] {
            if let Ok(pasted) = read_pasted(&text, tool) {
                for note in pasted.notes {
                    prop_assert!(text.get(note.span).is_some());
                }
                for run in pasted.runs {
                    prop_assert!(text.get(run.span).is_some());
                }
            }
        }
        let _ = tool(&text);
    }
}
