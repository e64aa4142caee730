use iotax_quantity::count;

use crate::analysis::{Check, Warning};
use crate::evidence::Evidence;

/// I/Os that failed or came back short, in usable trials.
pub(super) fn check(evidence: &Evidence<'_>) -> Vec<Warning> {
    let workload = evidence.experiment.spec.workload();
    let unit = workload.unit();
    let where_to_look = if workload.is_network() {
        "the peer, its host, packets dropped on the way"
    } else {
        "kernel log, device health, free space"
    };
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
        (trials > 0).then(|| Warning {
            check: Check::IoErrors,
            arm: Some(evidence.names[arm].clone()),
            message: message(unit, [errors, short, ios], first),
            advice: format!(
                "Failed {unit}s are not counted as done, but the time lost on them is in the \
                 figures: find out why they fail ({where_to_look}) before trusting the comparison."
            ),
            trials,
        })
    });
    per_arm.collect()
}

fn message(unit: &str, [errors, short, ios]: [u64; 3], first: Option<&str>) -> String {
    let first = first.map(|error| format!("; the first error: {error}")).unwrap_or_default();
    if errors + short == 0 {
        return format!("something beside the counted {unit}s failed{first}");
    }
    format!("{} failed and {short} came back short, of {ios}{first}", count(errors, unit))
}
