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
