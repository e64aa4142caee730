//! Operations on trees of files, pooled by arm.

use iotax_record::{LatencyHistogram, OperationRecord};

use crate::support::Bed;

fn operation(name: &str, latency_ns: u64, count: u64, errors: u64) -> OperationRecord {
    let mut latency = LatencyHistogram::new();
    latency.record_many(latency_ns, count);
    OperationRecord { name: name.to_owned(), latency, errors, ..OperationRecord::default() }
}

#[test]
fn operations_are_pooled_by_arm_and_name() {
    let mut bed = Bed::compare(&["base", "slow"]);
    let mut trials = bed.blocks(3, &[1000.0, 800.0], 0.01);
    for trial in &mut trials {
        let job = &mut trial.load.as_mut().unwrap().jobs[0];
        let stat_ns = if trial.arm == "slow" { 20_000 } else { 10_000 };
        job.operations = vec![operation("stat", stat_ns, 90, 0)];
        // Files run out now and then.
        if trial.block > 0 {
            job.operations.push(operation("create", 1_000_000 * u64::from(trial.block), 5, 1));
        }
    }
    let analysis = bed.analyze(&trials);
    let rows = analysis.arms.iter().flat_map(|arm| {
        arm.operations.iter().map(|o| {
            let us = |ns: f64| format!("{:.0}", ns / 1e3);
            let (mean, p99, max) = (us(o.mean_ns), us(o.p99_ns as f64), us(o.max_ns as f64));
            format!(
                "{} {}: {} and {} failed, us {mean} {p99} {max}",
                arm.name, o.name, o.count, o.errors
            )
        })
    });
    insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @r"
    base stat: 270 and 0 failed, us 10 10 10
    base create: 10 and 2 failed, us 1500 2001 2001
    slow stat: 270 and 0 failed, us 20 20 20
    slow create: 10 and 2 failed, us 1500 2001 2001
    ");
}
