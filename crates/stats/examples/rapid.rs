//! Rapid alternation on recorded noise. `cargo run --release -p iotax-stats --example rapid DIR [RUNS]`
#![allow(warnings)]
use iotax_stats::design::Design;
use iotax_stats::sequential::Series;
use iotax_stats::sequential::{Decision, Sequential};
use iotax_stats::stopping::Mode;
use iotax_stats::verdict::Verdict;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

type Rng = Xoshiro256PlusPlus;

fn first_of_block(block: usize, tosses: &mut Vec<bool>, rng: &mut Rng) -> bool {
    let pair = block / 2;
    while tosses.len() <= pair {
        let t = match tosses.len() {
            1..4 => !tosses[0],
            _ => rng.random::<bool>(),
        };
        tosses.push(t);
    }
    tosses[pair] ^ (block % 2 == 1)
}

fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let runs: usize = std::env::args().nth(2).map_or(300, |r| r.parse().unwrap());
    let first_look: usize = std::env::args().nth(3).map_or(4, |r| r.parse().unwrap());
    let mut noises: Vec<(String, Vec<f64>)> = Vec::new();
    for f in std::fs::read_dir(&dir).unwrap() {
        let p = f.unwrap().path();
        if p.extension().is_some_and(|e| e == "txt") {
            let v =
                std::fs::read_to_string(&p).unwrap().lines().map(|l| l.parse().unwrap()).collect();
            noises.push((p.file_stem().unwrap().to_string_lossy().into(), v));
        }
    }
    noises.sort_by(|a, b| a.0.cmp(&b.0));
    for rho in [0.0_f64, 0.6] {
        let mut rng = Rng::seed_from_u64(5);
        let mut s: f64 = 0.0;
        let v = (0..200_000)
            .map(|_| {
                let z: f64 = StandardNormal.sample(&mut rng);
                s = rho * s + (1.0 - rho * rho).sqrt() * z;
                (10_000f64.ln() + 0.14 * s).exp()
            })
            .collect();
        noises.push((format!("ar1 {rho} windows"), v));
    }
    if std::env::var_os("SHORT").is_some() {
        noises.retain(|n| n.0.starts_with("busy_read") || n.0.starts_with("quiet"));
    }
    for rho in [0.0_f64, 0.3, 0.6] {
        for sd in [0.05, 0.2] {
            for mode in [Mode::Quick, Mode::Default] {
                let mut rng = Rng::seed_from_u64(9);
                let procedure = Sequential::new(Design::of_slices(5120), 0.05, 0.05, mode);
                let mut signed = 0;
                let mut n = 0.0;
                for _ in 0..runs {
                    let mut d = Vec::new();
                    let mut s: f64 = StandardNormal.sample(&mut rng);
                    loop {
                        d.push(sd * s);
                        let z: f64 = StandardNormal.sample(&mut rng);
                        s = rho * s + (1.0 - rho * rho).sqrt() * z;
                        if d.len() < first_look || !procedure.design().is_look(d.len()) {
                            continue;
                        }
                        let last = procedure.conclude(Series { d: &d, first_look, least_sd: 0.0 });
                        if last.stop.is_some() {
                            signed += usize::from(last.verdict.is_signed());
                            n += d.len() as f64;
                            break;
                        }
                    }
                }
                println!(
                    "differences ar1 {rho} sd {sd} {mode:?}: A/A {:.1} %, {:.0} blocks",
                    100.0 * signed as f64 / runs as f64,
                    n / runs as f64
                );
            }
        }
    }
    println!(
        "noise | slice+ramp | mode | A/A diff | equiv | median s | 10%: found | median s | covered | wrong"
    );
    for (name, noise) in &noises {
        for (slice, ramp) in [(2, 1), (4, 1), (10, 2)] {
            for mode in [Mode::Quick, Mode::Default] {
                let run = |tax: f64, seed: u64| -> Vec<(Decision, f64)> {
                    let mut rng = Rng::seed_from_u64(seed);
                    let procedure = Sequential::new(Design::of_slices(5120), 0.05, 0.05, mode);
                    (0..runs)
                        .map(|_| one(&procedure, noise, slice, ramp, tax, first_look, &mut rng))
                        .collect()
                };
                let median = |mut v: Vec<f64>| {
                    v.sort_by(f64::total_cmp);
                    v.get(v.len() / 2).copied().unwrap_or(f64::NAN)
                };
                let aa = run(0.0, 7);
                let ta = run(0.1, 8);
                let share = |of: &[(Decision, f64)], f: &dyn Fn(&Decision) -> bool| {
                    100.0 * of.iter().filter(|d| f(&d.0)).count() as f64 / of.len() as f64
                };
                let covered = |truth: f64| {
                    move |d: &Decision| d.log_ratio.is_some_and(|i| i.lo <= truth && truth <= i.hi)
                };
                println!(
                    "{name:18} | {:4}+{:3} | {mode:?} | {:4.1} ({:4.1} ni) | {:4.1} | {:5.1} | {:5.1} | {:5.1} | {:5.1} {:5.1}| {:4.1}",
                    slice * 50,
                    ramp * 50,
                    share(&aa, &|d| d.verdict.is_signed()),
                    share(&aa, &|d| d.verdict == Verdict::NotIndependent),
                    share(&aa, &|d| d.verdict == Verdict::Equivalent),
                    median(aa.iter().map(|d| d.1).collect()),
                    share(&ta, &|d| d.verdict == Verdict::Slower),
                    median(ta.iter().map(|d| d.1).collect()),
                    share(&ta, &covered((0.9f64).ln())),
                    share(&aa, &covered(0.0)),
                    share(&ta, &|d| d.verdict == Verdict::Faster)
                );
            }
        }
    }
}

fn one(
    procedure: &Sequential,
    noise: &[f64],
    slice: usize,
    ramp: usize,
    tax: f64,
    first_look: usize,
    rng: &mut Rng,
) -> (Decision, f64) {
    let mut at = rng.random_range(0..noise.len());
    let start = at;
    let mut take = || {
        at += ramp;
        let sum: f64 = (0..slice).map(|i| noise[(at + i) % noise.len()]).sum();
        at += slice;
        (sum / slice as f64, at)
    };
    let mut tosses = Vec::new();
    let mut d = Vec::new();
    let mut last;
    loop {
        let a_first = first_of_block(d.len(), &mut tosses, rng);
        let (x, _) = take();
        let (y, end) = take();
        let (a, b) = if a_first { (x, y) } else { (y, x) };
        d.push((b.max(1.0) * (1.0 - tax) / a.max(1.0)).ln());
        let spent = (end - start) as f64 * 0.05;
        if procedure.design().is_look(d.len()) {
            last = procedure.conclude(Series { d: &d, first_look, least_sd: 0.0 });
            if last.stop.is_some() && d.len() >= first_look {
                return (last, spent);
            }
        }
        if spent > 560.0 {
            return (procedure.conclude(Series { d: &d, first_look, least_sd: 0.0 }), spent);
        }
    }
}
