//! The sequential procedure on simulated blocks: how often it calls a difference that is not
//! there, how often its interval at the stop covers the truth, and how often it finds what
//! is there. Seeded, thousands of runs through the same calls a real run makes.

use iotax_stats::design::Design;
use iotax_stats::sequential::{Decision, Sequential};
use iotax_stats::stopping::Mode;
use iotax_stats::verdict::{Sign, Verdict};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Standard deviations of a block difference: a quiet, an ordinary, a noisy and a very noisy
/// cloud volume.
const NOISE: [f64; 4] = [0.04, 0.14, 0.21, 0.28];

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(rng)
}

fn procedure(mode: Mode) -> Sequential {
    Sequential::new(Design::default(), 0.05, 0.05, mode)
}

/// Three standard errors of a share near 5 % (or 95 %) over `runs` runs.
fn monte_carlo_margin(runs: usize) -> f64 {
    3.0 * (0.05 * 0.95 / runs as f64).sqrt()
}

/// Adds blocks until the procedure says stop.
fn run(procedure: &Sequential, mut block: impl FnMut() -> f64) -> Decision {
    let mut d = Vec::new();
    loop {
        d.push(block());
        if let Some(decision) = procedure.decide(&d)
            && decision.stop.is_some()
        {
            return decision;
        }
    }
}

/// Shares over many runs with a true tax.
#[derive(Debug)]
struct Shares {
    signed: f64,
    wrong_sign: f64,
    equivalent: f64,
    covered: f64,
    blocks: f64,
}

fn simulate(mode: Mode, tax: f64, sd: f64, runs: usize) -> Shares {
    let procedure = procedure(mode);
    let mut rng = rng(20_260_101);
    let truth = (-tax).ln_1p();
    let decisions: Vec<Decision> =
        (0..runs).map(|_| run(&procedure, || truth + sd * normal(&mut rng))).collect();
    let share = |holds: &dyn Fn(&Decision) -> bool| {
        decisions.iter().filter(|d| holds(d)).count() as f64 / runs as f64
    };
    let wrong = if tax > 0.0 { Sign::Faster } else { Sign::Slower };
    Shares {
        signed: share(&|d| d.verdict.is_signed()),
        wrong_sign: share(&|d| d.verdict.is_signed() && d.sign == Some(wrong)),
        equivalent: share(&|d| d.verdict == Verdict::Equivalent),
        covered: share(&|d| d.log_ratio.is_some_and(|i| i.lo <= truth && truth <= i.hi)),
        blocks: decisions.iter().map(|d| d.blocks as f64).sum::<f64>() / runs as f64,
    }
}

#[test]
fn equal_arms_are_called_different_in_at_most_one_run_of_twenty() {
    let runs = 5_000;
    for mode in [Mode::Quick, Mode::Default] {
        for sd in NOISE {
            let shares = simulate(mode, 0.0, sd, runs);
            assert!(shares.signed <= 0.05 + monte_carlo_margin(runs), "{mode:?} {sd}: {shares:?}");
            assert!(shares.covered >= 0.95 - monte_carlo_margin(runs), "{mode:?} {sd}: {shares:?}");
        }
    }
}

#[test]
fn quiet_equal_arms_are_found_equivalent() {
    let shares = simulate(Mode::Quick, 0.0, 0.04, 2_000);
    assert!(shares.equivalent > 0.93, "{shares:?}");
    assert!(shares.blocks < 20.5, "{shares:?}");
}

/// Noise, tax, least share of `slower`, most blocks on average; each with some room. That a verdict
/// also holds for dependent blocks costs one block of ten where the tax is plain, and a fifth of
/// the power where it is not; without that, one quick run of nine on dependent blocks was wrong.
#[test]
fn real_taxes_are_found_in_few_blocks_and_their_intervals_cover() {
    let runs = 3_000;
    for (sd, tax, power, blocks) in [
        (0.04, 0.10, 0.99, 9.6),
        (0.04, 0.30, 0.99, 4.4),
        (0.14, 0.10, 0.78, 28.2),
        (0.14, 0.30, 0.99, 9.8),
        (0.21, 0.10, 0.34, 30.0),
        (0.21, 0.30, 0.99, 13.2),
        (0.28, 0.30, 0.98, 17.5),
        (0.28, 0.53, 0.99, 9.5),
    ] {
        let shares = simulate(Mode::Quick, tax, sd, runs);
        assert!(shares.signed >= power, "{sd} {tax}: {shares:?}");
        assert!(shares.blocks <= blocks, "{sd} {tax}: {shares:?}");
        assert!(shares.covered >= 0.95 - monte_carlo_margin(runs), "{sd} {tax}: {shares:?}");
        assert!(shares.wrong_sign <= 0.01, "{sd} {tax}: {shares:?}");
    }
}

#[test]
fn asking_for_precision_keeps_coverage() {
    let runs = 1_500;
    for mode in [Mode::Default, Mode::Tight] {
        for (sd, tax) in [(0.04, 0.10), (0.14, 0.30), (0.14, 0.53)] {
            let shares = simulate(mode, tax, sd, runs);
            let least = 0.95 - monte_carlo_margin(runs);
            assert!(shares.covered >= least, "{mode:?} {sd} {tax}: {shares:?}");
        }
    }
}

#[test]
fn tax_at_the_margin_is_rarely_called_equivalent() {
    let shares = simulate(Mode::Quick, 0.05, 0.04, 3_000);
    assert!(shares.equivalent < 0.025 + monte_carlo_margin(3_000), "{shares:?}");
}

/// Runs a family of arms that share one baseline, dropping each arm when it stops; returns
/// the decisions on the data each arm has in the end.
fn run_family(
    procedure: &Sequential,
    taxes: &[f64],
    sd: f64,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Decision> {
    let last_look = procedure.design().last_look();
    let mut d = vec![Vec::new(); taxes.len()];
    let mut open = vec![true; taxes.len()];
    for block in 1..=last_look {
        let base = normal(rng);
        for (k, tax) in taxes.iter().enumerate() {
            let arm = normal(rng);
            if open[k] {
                d[k].push((-tax).ln_1p() + sd * (arm - base) / 2.0_f64.sqrt());
            }
        }
        if procedure.design().is_look(block) {
            let so_far: Vec<&[f64]> = d.iter().map(Vec::as_slice).collect();
            for (k, decision) in procedure.conclude_family(&so_far).iter().enumerate() {
                open[k] &= decision.stop.is_none();
            }
        }
        if open.iter().all(|open| !open) {
            break;
        }
    }
    let arms: Vec<&[f64]> = d.iter().map(Vec::as_slice).collect();
    procedure.conclude_family(&arms)
}

#[test]
fn seven_equal_arms_yield_a_false_difference_in_at_most_one_family_of_twenty() {
    let procedure = procedure(Mode::Quick);
    let runs = 1_000;
    let mut rng = rng(7);
    let wrong = (0..runs)
        .filter(|_| {
            let family = run_family(&procedure, &[0.0; 7], 0.14, &mut rng);
            family.iter().any(|d| d.verdict.is_signed())
        })
        .count();
    assert!(wrong as f64 <= runs as f64 * (0.05 + monte_carlo_margin(runs)), "{wrong} of {runs}");
}

#[test]
fn mixed_family_finds_the_large_taxes_and_spares_the_equal_arms() {
    let procedure = procedure(Mode::Quick);
    let taxes = [0.0, 0.0, 0.03, 0.10, 0.30, 0.53];
    let runs = 500;
    let mut rng = rng(8);
    let (mut wrong, mut found) = (0, [0; 6]);
    for _ in 0..runs {
        let family = run_family(&procedure, &taxes, 0.14, &mut rng);
        wrong += usize::from(family[..2].iter().any(|d| d.verdict.is_signed()));
        for (count, decision) in found.iter_mut().zip(&family) {
            *count += usize::from(decision.verdict == Verdict::Slower);
        }
    }
    let share = |count: usize| count as f64 / f64::from(runs);
    assert!(share(wrong) <= 0.05 + monte_carlo_margin(500), "{wrong} of {runs}");
    assert!(share(found[3]) > 0.8, "10 %: {found:?}");
    assert!(share(found[4]) > 0.97 && share(found[5]) > 0.97, "30 and 53 %: {found:?}");
}

/// Without the check one run in seven ends with a sign here.
#[test]
fn dependent_blocks_are_reported_instead_of_signed() {
    let procedure = procedure(Mode::Default);
    let (runs, rho) = (2_000, 0.6_f64);
    let mut rng = rng(10);
    let (mut signed, mut reported) = (0, 0);
    for _ in 0..runs {
        let mut state = normal(&mut rng);
        let decision = run(&procedure, || {
            state = rho * state + (1.0 - rho * rho).sqrt() * normal(&mut rng);
            0.14 * state
        });
        signed += usize::from(decision.verdict.is_signed());
        reported += usize::from(decision.verdict == Verdict::NotIndependent);
    }
    assert!(signed < runs / 25, "{signed} of {runs}");
    assert!(reported > runs * 2 / 3, "{reported} of {runs}");
}

/// A quick run stops at its first verdict; of blocks that depend on each other few agree by chance.
#[test]
fn quick_runs_on_dependent_blocks_are_rarely_fooled() {
    let procedure = procedure(Mode::Quick);
    for (rho, most) in [(0.3_f64, 0.04), (0.6, 0.07)] {
        let (runs, mut rng) = (1_000, rng(12));
        let signed = (0..runs).filter(|_| {
            let mut state = normal(&mut rng);
            let decision = run(&procedure, || {
                state = rho * state + (1.0 - rho * rho).sqrt() * normal(&mut rng);
                0.14 * state
            });
            decision.verdict.is_signed()
        });
        let share = signed.count() as f64 / f64::from(runs);
        assert!(share <= most, "rho {rho}: {share}");
    }
}

#[test]
fn equal_slices_that_depend_on_each_other_are_rarely_called_different() {
    let runs = 3_000;
    for rho in [0.0, 0.3, 0.6] {
        let procedure = Sequential::new(Design::of_slices(2_560), 0.05, 0.05, Mode::Quick);
        let mut rng = rng(20_260_109);
        let signed = (0..runs).filter(|_| {
            let mut state = normal(&mut rng);
            let next = || {
                state = rho * state + (1.0_f64 - rho * rho).sqrt() * normal(&mut rng);
                0.2 * state
            };
            run(&procedure, next).verdict.is_signed()
        });
        let share = signed.count() as f64 / runs as f64;
        assert!(share <= 0.05 + monte_carlo_margin(runs), "lag-1 {rho}: {share}");
    }
}
