//! Rules as test cases, for what shows the results of tests.

use iotax_spec::rule::RuleOutcome;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::rules::Ruling;

/// `JUnit` XML: a suite for each phase, a case for each rule and what it was held against. A rule that
/// is undecided is a case that was skipped, or one that failed if `undecided_fails`.
///
/// # Panics
/// Never: what is written to memory is written.
pub fn junit(name: &str, suites: &[(String, Vec<Ruling>)], undecided_fails: bool) -> String {
    let mut report = Report::new(name);
    for (of, rulings) in suites {
        let mut suite = TestSuite::new(of.clone());
        suite.add_test_cases(
            rulings
                .iter()
                .map(|ruling| TestCase::new(ruling.name.clone(), status(ruling, undecided_fails))),
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
    status.set_message(ruling.sentence.clone());
    status
}
