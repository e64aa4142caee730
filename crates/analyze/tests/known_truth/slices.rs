//! Trials that are slices, in noise of windows of 50 ms: recorded on disks and network paths, and made up.

use iotax_analyze::Verdict;
use iotax_experiment::StopMode::{self, Default as Usual, Quick, Tight};

use crate::noise::{Disturbance, Noise};
use crate::play::{Scenario, Tally, Times, most};
use crate::recordings::Recording;

#[test]
fn probe() {
    for rec in Recording::all().iter().chain(Recording::made()) {
        if !std::env::var("REC").unwrap().contains(rec.name) {
            continue;
        }
        for mode in [Quick, Usual] {
            for tax in [0.0, 0.1] {
                let t = std::time::Instant::now();
                let runs = 100;
                let tally = Scenario { tax, ..Scenario::recorded(mode, rec) }.tally(runs);
                println!(
                    "{:18} {} {mode:?} {tax}: signed {} any {} typ {} missed {} tmissed {} equiv {} slower {} und {} ni {} ch {} gaveup {} blocks {} median {:.1} s  ({:.1} s)",
                    rec.name,
                    rec.slice_windows(),
                    tally.count(|c| c.signed),
                    tally.count(|c| c.any_signed),
                    tally.count(|c| c.typical_signed),
                    tally.count(|c| c.missed),
                    tally.count(|c| c.typical_missed),
                    tally.called(Verdict::Equivalent),
                    tally.called(Verdict::Slower),
                    tally.called(Verdict::Undecided),
                    tally.called(Verdict::NotIndependent),
                    tally.called(Verdict::EffectChanged),
                    tally.count(|c| c.gave_up),
                    tally.median(|c| f64::from(c.blocks)),
                    tally.median(|c| c.seconds),
                    t.elapsed().as_secs_f64()
                );
            }
        }
    }
}
