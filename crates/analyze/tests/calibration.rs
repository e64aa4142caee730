//! Where the constants of `stats::design` come from: P(min over looks of the paired-t
//! p-value <= p*) = alpha under independent normal differences. The t path does not depend
//! on mean or spread, so p* is a constant of (alpha, looks) that Monte Carlo gives.

use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, StudentsT};

const LOOKS: [usize; 18] = [3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160];
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

/// Smallest p-value up to and including each look, for `runs` null experiments:
/// `result[look][run]`.
fn running_minimum_p(runs: usize, looks: &[usize], seed: u64) -> Vec<Vec<f64>> {
    let students: Vec<_> =
        looks.iter().map(|&n| StudentsT::new(0.0, 1.0, (n - 1) as f64).unwrap()).collect();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut minima = vec![Vec::with_capacity(runs); looks.len()];
    for _ in 0..runs {
        let (mut sum, mut squares, mut n, mut smallest) = (0.0, 0.0, 0, 1.0_f64);
        for (look, &upto) in looks.iter().enumerate() {
            while n < upto {
                let z: f64 = StandardNormal.sample(&mut rng);
                sum += z;
                squares += z * z;
                n += 1;
            }
            let count = n as f64;
            let mean = sum / count;
            let variance = (squares - count * mean * mean) / (count - 1.0);
            let t = mean.abs() / (variance / count).sqrt();
            smallest = smallest.min(2.0 * students[look].sf(t));
            minima[look].push(smallest);
        }
    }
    minima
}

/// Prints the tables of `stats::design`; takes minutes:
/// `cargo test --release -p iotax-analyze --test calibration -- --ignored --nocapture`.
#[test]
#[ignore = "regenerates the constants of stats::design; minutes of CPU"]
fn print_the_grids() {
    let mut minima = running_minimum_p(20_000_000, &LOOKS, 7);
    for max_blocks in [10, 20, 40, 80, 160] {
        let look = LOOKS.iter().position(|&n| n == max_blocks).unwrap();
        let sample = &mut minima[look];
        sample.sort_by(f64::total_cmp);
        println!("max {max_blocks}");
        for alpha in ALPHAS {
            println!("    ({alpha}, {:.7e}),", sample[(alpha * sample.len() as f64) as usize]);
        }
    }
}
