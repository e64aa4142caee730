//! Where the constants of `stats::calibration` come from: P(min over looks of the paired-t
//! p-value <= p*) = alpha under independent normal differences. The t path does not depend
//! on mean or spread, so p* is a constant of (alpha, looks) that Monte Carlo gives.

use iotax_stats::design::{Design, EXTENDED_LOOKS, SLICE_LOOKS};
use rand::SeedableRng;
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, StudentsT};

const ALPHAS: [f64; 13] = [
    0.001,
    0.0025,
    0.005,
    0.05 / 8.0,
    0.05 / 6.0,
    0.01,
    0.0125,
    0.05 / 3.0,
    0.025,
    0.05,
    0.1,
    0.15,
    0.2,
];

/// Looks, and the last ones that a calibration is for.
struct Schedule {
    looks: &'static [usize],
    maxima: &'static [usize],
    up_to: fn(usize) -> Design,
}

const SCHEDULES: [Schedule; 2] = [
    Schedule {
        looks: &EXTENDED_LOOKS,
        maxima: &[10, 20, 40, 80, 160],
        up_to: Design::with_max_blocks,
    },
    Schedule {
        looks: &SLICE_LOOKS,
        maxima: &[20, 40, 80, 160, 320, 640, 1280, 2560, 5120],
        up_to: Design::of_slices,
    },
];

/// Smallest p-value of all looks up to each of the maxima, for `runs` null experiments:
/// `result[maximum][run]`, each sorted.
fn smallest_p(Schedule { looks, maxima, .. }: &Schedule, runs: usize, seed: u64) -> Vec<Vec<f64>> {
    let student = |n: &usize| StudentsT::new(0.0, 1.0, (n - 1) as f64).expect("two blocks or more");
    let students: Vec<StudentsT> = looks.iter().map(student).collect();
    let before = std::iter::once(&0).chain(looks.iter());
    // Of one block there is none.
    let spread = |(n, k): (&usize, &usize)| ChiSquared::new((n - k - 1) as f64).ok();
    let spreads: Vec<Option<ChiSquared<f64>>> = looks.iter().zip(before).map(spread).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut minima = vec![Vec::with_capacity(runs); maxima.len()];
    for _ in 0..runs {
        let (mut sum, mut squares, mut n, mut smallest) = (0.0, 0.0, 0, 1.0_f64);
        for (&look, (student, spread)) in looks.iter().zip(students.iter().zip(&spreads)) {
            // The sum and the squares of the blocks since the last look.
            let z: f64 = StandardNormal.sample(&mut rng);
            sum += z * ((look - n) as f64).sqrt();
            squares += z * z + spread.as_ref().map_or(0.0, |spread| spread.sample(&mut rng));
            n = look;
            let count = n as f64;
            let mean = sum / count;
            let variance = (squares - count * mean * mean) / (count - 1.0);
            let t = mean.abs() / (variance / count).sqrt();
            smallest = smallest.min(2.0 * student.sf(t));
            if let Some(maximum) = maxima.iter().position(|&max| max == look) {
                minima[maximum].push(smallest);
            }
        }
    }
    for sample in &mut minima {
        sample.sort_by(f64::total_cmp);
    }
    minima
}

#[test]
fn nominal_levels_keep_their_overall_level() {
    let runs = 12_000;
    for schedule in SCHEDULES {
        for (max_blocks, sample) in schedule.maxima.iter().zip(smallest_p(&schedule, runs, 3)) {
            let design = (schedule.up_to)(*max_blocks);
            for alpha in [0.01, 0.05, 0.2] {
                let p_star = design.nominal_level(alpha);
                let share = sample.partition_point(|&p| p <= p_star) as f64 / runs as f64;
                let standard_error = (alpha * (1.0 - alpha) / runs as f64).sqrt();
                let deviation = (share - alpha).abs();
                assert!(deviation < 3.5 * standard_error, "{max_blocks} blocks, {alpha}: {share}");
            }
        }
    }
}

/// Prints the tables of `stats::calibration`; takes minutes:
/// `cargo test --release -p iotax-stats --test calibration -- --ignored --nocapture`.
#[test]
#[ignore = "regenerates the constants of stats::calibration; minutes of CPU, gigabytes of memory"]
fn print_the_grids() {
    let runs = 20_000_000;
    for schedule in SCHEDULES {
        let samples = smallest_p(&schedule, runs, 7);
        let heads: Vec<String> = schedule.maxima.iter().map(usize::to_string).collect();
        println!("alpha,{}", heads.join(","));
        for alpha in ALPHAS {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let index = (alpha * runs as f64) as usize;
            let row: Vec<String> =
                samples.iter().map(|sample| format!("{:.5e}", sample[index])).collect();
            println!("{alpha},{}", row.join(","));
        }
    }
}
