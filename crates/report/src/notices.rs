//! What puts figures in doubt, beside what the self-checks found.

use iotax_experiment::Spec;
pub(crate) use iotax_wording::doubt::{Notice, notices};

/// That test files are smaller than the workload would have them, if they are.
pub(crate) fn of_files(spec: &Spec) -> Option<Notice> {
    let message = spec.told_fit()?;
    let advice = "Smaller files leave more to caches: compare with runs of the same size, or make \
                  room for more.";
    let (title, advice) = ("size of the test files".to_owned(), advice.to_owned());
    Some(Notice { title, messages: vec![message], advice, is_severe: false })
}
