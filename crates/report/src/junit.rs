//! Rules as test cases, for viewers of test results.

use std::io;

use iotax_experiment::rule::{RuleOutcome, UndecidedAs};
use iotax_wording::rule::Ruling;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};

use crate::words::printable;

/// `JUnit` XML, without characters that control a terminal or reorder text. It has one suite per
/// phase and one case per rule and subject. An undecided rule is an error of its case, because
/// viewers do not show skipped cases first. It is skipped if it counts as kept, and failed if it
/// counts as broken.
///
/// # Panics
/// Never, because writing to memory does not fail.
pub fn junit(
    name: &str,
    suites: &[(String, Vec<Ruling>)],
    undecided: Option<UndecidedAs>,
) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    let written = report(&mut writer, name, suites, undecided);
    written.expect("memory takes it");
    let mut text = String::from_utf8(writer.into_inner()).expect("text was written");
    text.push('\n');
    text
}

fn report(
    writer: &mut Writer<Vec<u8>>,
    name: &str,
    suites: &[(String, Vec<Ruling>)],
    undecided: Option<UndecidedAs>,
) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let tag = |ruling: &Ruling| tag(ruling, undecided);
    let counted = |rulings: &mut dyn Iterator<Item = &Ruling>| {
        let mut counts = [0_usize; 4];
        for ruling in rulings {
            counts[0] += 1;
            counts[1] += usize::from(tag(ruling) == Some(SKIPPED));
            counts[2] += usize::from(tag(ruling) == Some(FAILURE));
            counts[3] += usize::from(tag(ruling) == Some(ERROR));
        }
        counts.map(|count| count.to_string())
    };
    let [tests, skipped, failures, errors] =
        counted(&mut suites.iter().flat_map(|(_, rulings)| rulings));
    let all = writer.create_element("testsuites").with_attributes([
        ("name", attribute(name).as_str()),
        ("tests", &tests),
        ("skipped", &skipped),
        ("failures", &failures),
        ("errors", &errors),
    ]);
    all.write_inner_content(|writer| {
        for (of, rulings) in suites {
            let [tests, skipped, failures, errors] = counted(&mut rulings.iter());
            let suite = writer.create_element("testsuite").with_attributes([
                ("name", attribute(of).as_str()),
                ("tests", &tests),
                ("skipped", &skipped),
                ("errors", &errors),
                ("failures", &failures),
            ]);
            suite.write_inner_content(|writer| {
                for ruling in rulings {
                    let name = attribute(&ruling.name);
                    let case = writer.create_element("testcase").with_attribute(("name", &*name));
                    let Some(tag) = tag(ruling) else {
                        case.write_empty()?;
                        continue;
                    };
                    case.write_inner_content(|writer| {
                        let message = attribute(&ruling.sentence);
                        let why = writer.create_element(tag);
                        why.with_attribute(("message", &*message)).write_empty().map(drop)
                    })?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

const SKIPPED: &str = "skipped";
const FAILURE: &str = "failure";
const ERROR: &str = "error";

/// Text without terminal control characters, and without the two characters that XML does not
/// allow.
fn attribute(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

/// What says in a test case that it did not succeed.
fn tag(ruling: &Ruling, undecided: Option<UndecidedAs>) -> Option<&'static str> {
    match ruling.outcome {
        RuleOutcome::Pass => None,
        RuleOutcome::Fail => Some(FAILURE),
        RuleOutcome::Undecided => Some(match undecided {
            None => ERROR,
            Some(UndecidedAs::Pass) => SKIPPED,
            Some(UndecidedAs::Fail) => FAILURE,
        }),
    }
}

// Rules as annotations of a workflow of GitHub.

/// A workflow command for each rule and what it was held against
/// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>). One that is
/// undecided is a warning, or an error if it counts as broken.
pub fn github<'a>(
    rulings: impl IntoIterator<Item = &'a Ruling>,
    undecided: Option<UndecidedAs>,
) -> String {
    rulings.into_iter().map(|ruling| annotation(ruling, undecided)).collect()
}

fn annotation(ruling: &Ruling, undecided: Option<UndecidedAs>) -> String {
    let level = match ruling.outcome {
        RuleOutcome::Pass => "notice",
        RuleOutcome::Undecided if undecided != Some(UndecidedAs::Fail) => "warning",
        RuleOutcome::Fail | RuleOutcome::Undecided => "error",
    };
    format!("::{level} title=iotax::{}\n", escaped(&ruling.sentence))
}

/// As the runner wants it: a line is one command, whatever it says.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::is_unprintable;

    #[test]
    fn what_turns_text_around_does_not_come_through() {
        let bad: String =
            "\u{ffff}\u{2028}\u{2029}\u{202e}\u{2066}\u{61c}\u{200f}\u{1b}\u{85}\u{9b}\0".into();
        let ruling = Ruling {
            name: format!("a{bad}"),
            outcome: RuleOutcome::Fail,
            sentence: format!("b{bad}]]><\"&"),
        };
        let xml = junit(&format!("c{bad}"), &[(format!("d{bad}"), vec![ruling])], None);
        let is_bad = |c| is_unprintable(c) || c == '\u{ffff}';
        let left: Vec<char> = xml.chars().filter(|c| *c != '\n' && is_bad(*c)).collect();
        assert!(left.is_empty(), "{left:?} in {xml}");
        for kept in ["name=\"a", "message=\"b", "name=\"c", "name=\"d", "&lt;&quot;&amp;"] {
            assert!(xml.contains(kept), "{kept} in {xml}");
        }
    }
}
