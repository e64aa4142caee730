//! Rules as test cases, for what shows the results of tests.

use iotax_experiment::rule::RuleOutcome;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::rules::Ruling;
use crate::words::printable;

/// `JUnit` XML, without characters that drive a terminal or turn text around, which XML leaves as they are: a suite for each phase, a case for each rule and what it was held against. A rule that
/// is undecided is a case that was skipped, or one that failed if `undecided_fails`.
///
/// # Panics
/// Never: what is written to memory is written.
pub fn junit(name: &str, suites: &[(String, Vec<Ruling>)], undecided_fails: bool) -> String {
    let mut report = Report::new(printable(name));
    for (of, rulings) in suites {
        let mut suite = TestSuite::new(printable(of));
        suite.add_test_cases(
            rulings.iter().map(|ruling| {
                TestCase::new(printable(&ruling.name), status(ruling, undecided_fails))
            }),
        );
        report.add_test_suite(suite);
    }
    report.to_string().expect("XML in memory")
}

fn status(ruling: &Ruling, undecided_fails: bool) -> TestCaseStatus {
    let mut status = match ruling.outcome {
        RuleOutcome::Pass => return TestCaseStatus::success(),
        RuleOutcome::Undecided if !undecided_fails => TestCaseStatus::skipped(),
        RuleOutcome::Fail | RuleOutcome::Undecided => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
    };
    status.set_message(printable(&ruling.sentence));
    status
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::is_unprintable;

    #[test]
    fn what_turns_text_around_does_not_come_through() {
        let bad: String =
            "\u{2028}\u{2029}\u{202e}\u{2066}\u{61c}\u{200f}\u{1b}\u{85}\u{9b}\0".into();
        let ruling = Ruling {
            name: format!("a{bad}"),
            outcome: RuleOutcome::Fail,
            sentence: format!("b{bad}]]><\"&"),
        };
        let xml = junit(&format!("c{bad}"), &[(format!("d{bad}"), vec![ruling])], true);
        let left: Vec<char> = xml.chars().filter(|c| *c != '\n' && is_unprintable(*c)).collect();
        assert!(left.is_empty(), "{left:?} in {xml}");
        for kept in ["name=\"a", "message=\"b", "name=\"c", "name=\"d", "&lt;&quot;&amp;"] {
            assert!(xml.contains(kept), "{kept} in {xml}");
        }
    }
}
