use crate::analysis::{Doubt, DoubtKind};
use crate::evidence::Evidence;

/// I/Os that failed or came back short, in usable trials.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let per_arm = (0..evidence.names.len()).filter_map(|arm| {
        let (mut errors, mut short, mut ios, mut trials) = (0, 0, 0, 0);
        let mut first = None;
        for trial in evidence.usable(arm) {
            let before = (errors, short);
            for job in &trial.jobs {
                errors += job.errors;
                short += job.short_ios;
                // Short ones are among `ios`, failed ones are not.
                ios += job.ios + job.errors;
            }
            let text = trial.first_error.as_deref();
            trials += u32::from(before != (errors, short) || text.is_some());
            first = first.or(text);
        }
        (trials > 0).then(|| {
            let kind = DoubtKind::IoErrors { errors, short, ios, first: first.map(str::to_owned) };
            Doubt::about(evidence.subject(arm), kind, trials)
        })
    });
    per_arm.collect()
}
