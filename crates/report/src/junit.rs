//! Rules as test cases, for what shows the results of tests.

use iotax_analyze::{Judgment, RuleOutcome};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::experiment::Part;
use crate::rules;

/// `JUnit` XML: a suite for each phase, a case for each rule and arm. A rule that is undecided is a
/// case that was skipped, or one that failed if `undecided_fails`.
///
/// # Panics
/// Never: what is written to memory is written.
pub fn junit(name: &str, parts: &[Part], undecided_fails: bool) -> String {
    let mut report = Report::new(name);
    for (_, analysis) in parts {
        let mut suite = TestSuite::new(analysis.workload.clone());
        suite.add_test_cases(analysis.rules.iter().map(|judgment| {
            let name = format!("{}: not {}", judgment.of, judgment.rule);
            TestCase::new(name, status(judgment, undecided_fails))
        }));
        report.add_test_suite(suite);
    }
    report.to_string().expect("XML in memory")
}

fn status(judgment: &Judgment, undecided_fails: bool) -> TestCaseStatus {
    let mut status = match judgment.outcome {
        RuleOutcome::Pass => return TestCaseStatus::success(),
        RuleOutcome::Undecided if !undecided_fails => TestCaseStatus::skipped(),
        RuleOutcome::Fail | RuleOutcome::Undecided => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
    };
    status.set_message(rules::sentence(judgment));
    status
}
