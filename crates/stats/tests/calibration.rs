//! Where the constants of `stats::calibration` come from: P(min over looks of the paired-t
//! p-value <= p*) = alpha under independent normal differences. The t path does not depend
//! on mean or spread, so p* is a constant of (alpha, looks) that Monte Carlo gives.

use iotax_stats::design::{Design, EXTENDED_LOOKS as LOOKS};
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

const MAXIMA: [usize; 10] = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120];

/// Smallest p-value of all looks up to each of [`MAXIMA`], for `runs` null experiments:
/// `result[maximum][run]`, each sorted.
fn smallest_p(runs: usize, seed: u64) -> Vec<Vec<f64>> {
    let student = |n: usize| StudentsT::new(0.0, 1.0, (n - 1) as f64).expect("two blocks or more");
    let students = LOOKS.map(student);
    let before = std::iter::once(0).chain(LOOKS);
    let spreads: Vec<Option<ChiSquared<f64>>> =
        LOOKS.into_iter().zip(before).map(|(n, k)| ChiSquared::new((n - k - 1) as f64).ok()).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut minima = vec![Vec::with_capacity(runs); MAXIMA.len()];
    for _ in 0..runs {
        let (mut sum, mut squares, mut n, mut smallest) = (0.0, 0.0, 0, 1.0_f64);
        for (at, (look, student)) in LOOKS.into_iter().zip(&students).enumerate() {
            // Mean and spread of the blocks since the last look, which are independent of each other.
            let more = (look - n) as f64;
            let z: f64 = StandardNormal.sample(&mut rng);
            let spread = spreads[at].as_ref().map_or(0.0, |spread| spread.sample(&mut rng));
            sum += z * more.sqrt();
            squares += z * z + spread;
            n = look;
            let count = n as f64;
            let mean = sum / count;
            let variance = (squares - count * mean * mean) / (count - 1.0);
            let t = mean.abs() / (variance / count).sqrt();
            smallest = smallest.min(2.0 * student.sf(t));
            if let Some(maximum) = MAXIMA.iter().position(|&max| max == look) {
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
    for (max_blocks, sample) in MAXIMA.into_iter().zip(smallest_p(runs, 3)) {
        let design = Design::with_max_blocks(max_blocks);
        for alpha in [0.01, 0.05, 0.2] {
            let p_star = design.nominal_level(alpha);
            let share = sample.partition_point(|&p| p <= p_star) as f64 / runs as f64;
            let standard_error = (alpha * (1.0 - alpha) / runs as f64).sqrt();
            let deviation = (share - alpha).abs();
            assert!(deviation < 3.5 * standard_error, "{max_blocks} blocks, {alpha}: {share}");
        }
    }
}

/// Prints the tables of `stats::calibration`; takes minutes:
/// `cargo test --release -p iotax-stats --test calibration -- --ignored --nocapture`.
#[test]
#[ignore = "regenerates the constants of stats::calibration; minutes of CPU, a gigabyte of memory"]
fn print_the_grids() {
    let runs = std::env::var("RUNS").map_or(20_000_000, |r| r.parse().unwrap());
    for (max_blocks, sample) in MAXIMA.into_iter().zip(smallest_p(runs, 7)) {
        println!("max {max_blocks}");
        for alpha in ALPHAS {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let index = (alpha * runs as f64) as usize;
            println!("    ({alpha}, {:.7e}),", sample[index]);
        }
    }
}
