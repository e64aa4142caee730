//! What made-up measurements point to.

mod apart;
mod causes;
mod causes_absent;
mod causes_beside;
mod causes_remote;
mod limited;
mod slow_few;
#[path = "../../../analyze/tests/analysis/support.rs"]
#[expect(dead_code, reason = "the analysis has more questions")]
mod support;

use iotax_diagnose::Evidence;
use iotax_wording::cause::{confidence, evidence};

/// Evidence in words, a line each.
fn texts(all: &[Evidence]) -> String {
    all.iter().map(evidence).collect::<Vec<_>>().join("\n")
}
