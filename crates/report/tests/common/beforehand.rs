//! What was done with the arms `base` and `luks` before anything was measured.

use iotax_analyze::{ArmDrain, ArmPrecondition, Metric, Regime, Steadiness};

/// Both spent their burst credits.
pub(super) fn drained() -> Vec<ArmDrain> {
    let drain = |name: &str| ArmDrain {
        arm: name.to_owned(),
        seconds: 25.0,
        burst_iops: Some(12_000.0),
        rate_iops: Some(4_000.0),
        spent_ios: Some(80_000.0),
        regime: Some(Regime::Sustained),
    };
    vec![drain("base"), drain("luks")]
}

/// One was steady in the end.
pub(super) fn preconditioned() -> Vec<ArmPrecondition> {
    let arm = |name: &str, [range, slope]: [f64; 2], steady| ArmPrecondition {
        arm: name.to_owned(),
        passes: 2,
        written_bytes: 2 << 30,
        fill_seconds: 12.5,
        metric: Some(Metric::Throughput),
        rounds: [vec![9_000.0; 20], vec![5_000.0, 4_100.0, 4_000.0, 4_050.0, 4_000.0]].concat(),
        window: Some(Steadiness { range, slope }),
        steady: Some(steady),
        short: None,
    };
    vec![arm("base", [0.024, -0.009], true), arm("luks", [0.236, -0.19], false)]
}
