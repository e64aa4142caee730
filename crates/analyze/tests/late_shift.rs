//! The regime monitor on runs that end at any time: a shift may come at any block, the last ones
//! included, and a verdict about equal arms must not become likelier by it.

use iotax_analyze::stats::design::Design;
use iotax_analyze::stats::regime::{Slot, common_shift};
use iotax_analyze::stats::sequential::{Decision, Sequential};
use iotax_analyze::stats::stopping::Mode;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(rng)
}

/// What a run sees: what is common to both arms in each of its trials, and how many blocks it has.
struct Course {
    blocks: usize,
    common: Vec<f64>,
    /// Whether it ends with the first verdict.
    may_stop: bool,
}

struct Ended {
    decision: Option<Decision>,
    kept: usize,
    dropped: usize,
}

/// Blocks as the analysis takes them: those after a shift, concluded at looks that the others have
/// not used. It ends with a verdict or with the course, in which both arms are equal.
fn run(procedure: &Sequential, course: &Course, sd: f64, rng: &mut Xoshiro256PlusPlus) -> Ended {
    let (mut slots, mut d) = (Vec::new(), Vec::new());
    let mut ended = Ended { decision: None, kept: 0, dropped: 0 };
    for block in 0..course.blocks {
        let mut log = [0.0; 2];
        for arm in if rng.random_bool(0.5) { [0, 1] } else { [1, 0] } {
            log[arm] = course.common[slots.len()] + sd / 2.0_f64.sqrt() * normal(rng);
            slots.push(Slot { block, arm, log_throughput: log[arm] });
        }
        d.push(log[1] - log[0]);
        let dropped = common_shift(&slots).map_or(0, |s| s.first_kept_block).min(d.len());
        let spent = procedure.design().look_at_or_before(dropped).unwrap_or(0);
        let decision = procedure.conclude(&d[dropped..]);
        let is_spent = decision.blocks <= spent;
        let stops = decision.stop.is_some() && !is_spent;
        let decision = (!is_spent).then_some(decision);
        ended = Ended { decision, kept: d.len() - dropped, dropped };
        if stops && course.may_stop {
            break;
        }
    }
    ended
}

/// Share of `runs` runs on equal arms that end with a sign, and with a sign that rests on what a
/// shift left over.
fn signed(course: impl Fn(usize) -> Course, sd: f64) -> (f64, f64) {
    let procedure = Sequential::new(Design::default(), 0.05, 0.05, Mode::Quick);
    let runs = 1_000;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let (mut signed, mut after_a_shift) = (0, 0);
    for at in 0..runs {
        let ended = run(&procedure, &course(at), sd, &mut rng);
        let Some(decision) = ended.decision.filter(|d| d.verdict.is_signed()) else { continue };
        assert!(decision.blocks >= 3 && ended.kept >= decision.blocks, "{decision:?}");
        signed += 1;
        after_a_shift += usize::from(ended.dropped > 0);
    }
    (f64::from(signed) / runs as f64, after_a_shift as f64 / runs as f64)
}

#[test]
fn a_shift_at_any_time_makes_no_verdict_about_equal_arms_likelier() {
    // Three standard errors of 5 % in 1,000 runs.
    let room = 3.0 * (0.05 * 0.95 / 1_000.0_f64).sqrt();
    for sd in [0.04, 0.14, 0.28] {
        for blocks in [6, 12, 25] {
            let course = |common: &dyn Fn(usize) -> f64| Course {
                blocks,
                common: (0..2 * blocks).map(common).collect(),
                may_stop: true,
            };
            let (without, _) = signed(|_| course(&|_| 0.0), sd);
            for after in [0, 1, 2, 3, 5] {
                // A burst that ends so many blocks before the run does, within a block or between
                // two of them.
                let end = |run: usize| 2 * (blocks - after) - run % 2;
                let burst = |run: usize| course(&|slot| if slot < end(run) { 0.7 } else { 0.0 });
                let (share, rests_on_it) = signed(burst, sd);
                let what = format!("sd {sd}, {blocks} blocks, {after} after: {share} {without}");
                assert!(share <= 0.05 + room && share <= without + room, "{what}");
                assert!(rests_on_it <= 0.01, "{what}: {rests_on_it}");
            }
            let hiccup = |_| course(&|slot| if slot + 2 >= 2 * blocks { -0.5 } else { 0.0 });
            let (share, rests_on_it) = signed(hiccup, sd);
            assert!(share <= without + room && rests_on_it <= 0.01, "{sd} {blocks}: {share}");
        }
    }
}

/// Nothing rests on the few blocks after a late shift: it takes as many as were judged before.
#[test]
fn nothing_is_concluded_from_what_a_late_shift_left() {
    let procedure = Sequential::new(Design::default(), 0.05, 0.05, Mode::Tight);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(6);
    for after in [1, 2, 3] {
        let blocks = 12;
        let level = |slot| if slot < 2 * (blocks - after) { 0.7 } else { 0.0 };
        let common = (0..2 * blocks).map(level).collect();
        let course = Course { blocks, common, may_stop: false };
        let ended = run(&procedure, &course, 0.02, &mut rng);
        assert!(ended.dropped > 0 && ended.kept <= after, "{after}: {} kept", ended.kept);
        let is_decided = ended.decision.is_some_and(|decision| decision.verdict.is_decided());
        assert!(!is_decided, "{after} blocks after the shift");
    }
}
