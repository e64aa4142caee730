//! Rules that were set beforehand: broken, kept, undecided.

use iotax_analyze::{Judgment, RuleOpen, Verdict};
use iotax_experiment::rule::RuleOutcome;
use iotax_experiment::{Requirement, Rule, Subject};
use iotax_record::{DirectionRecord, End, EndReason, JobRecord, LatencyHistogram, Outcome, Trial};

use iotax_wording::rule;

use crate::support::{Bed, SECOND_NS, SECONDS, end, job};

fn ruled(mut bed: Bed, rules: &[&str]) -> Bed {
    let rules = rules.iter().map(|rule| Rule::parse(rule).expect("a rule")).collect();
    bed.edit(|spec| spec.fail_if = rules);
    bed
}

fn judged(bed: &Bed, trials: &[Trial]) -> Vec<Judgment> {
    bed.analyze(trials).analysis.rules
}

#[test]
fn a_difference_is_held_against_the_share_of_each_rule() {
    let rules = ["slower by 5%", "slower by 30%", "slower by 20%"];
    let mut bed = ruled(Bed::compare(&["old", "new"]), &rules).seed(9);
    let trials = bed.blocks(10, &[400.0, 320.0], 0.02);
    let judged = judged(&bed, &trials);
    let outcomes: Vec<RuleOutcome> = judged.iter().map(|judgment| judgment.outcome).collect();
    assert_eq!(outcomes, [RuleOutcome::Fail, RuleOutcome::Pass, RuleOutcome::Undecided]);
    let found = judged[0].found.unwrap();
    assert!(found.lo < 0.2 && 0.2 < found.hi && found.hi - found.lo < 0.06, "{found:?}");
    assert_eq!((rule::of(&judged[0]), judged[0].trials), ("new".to_owned(), 10));
    // The truth lies on the limit: hardly anything would do.
    assert!(judged[2].needed.is_none_or(|needed| needed > 40), "{:?}", judged[2]);
}

#[test]
fn a_figure_is_held_against_a_limit_in_every_arm_or_the_one_that_is_named() {
    let rules = ["iops < 380", "new: iops < 200", "mean > 3ms"];
    let mut bed = ruled(Bed::compare(&["old", "new"]), &rules);
    let trials = bed.blocks(10, &[400.0, 320.0], 0.02);
    let judged = judged(&bed, &trials);
    let of = |at: usize| (judged[at].of.as_ref().unwrap().arm().unwrap(), judged[at].outcome);
    assert_eq!(of(0), ("old", RuleOutcome::Pass));
    assert_eq!(of(1), ("new", RuleOutcome::Fail));
    assert_eq!(of(2), ("new", RuleOutcome::Pass));
    // 2.5 ms and 3.1 ms.
    assert_eq!(of(3), ("old", RuleOutcome::Pass));
    assert_eq!(
        (rule::of(&judged[4]), judged[4].found.unwrap().lo > 2.9e6),
        ("new".to_owned(), true)
    );
}

#[test]
fn a_percentile_below_its_limit_needs_operations_beyond_it() {
    let mut bed = ruled(Bed::compare(&["old"]), &["p99 > 100ms", "p99 > 1ms"]);
    bed.edit(|spec| spec.design = iotax_experiment::Design::Single);
    let trials = bed.blocks(6, &[100.0], 0.02);
    let judged = judged(&bed, &trials);
    assert_eq!(judged[0].outcome, RuleOutcome::Undecided);
    let why = rule::why(&judged[0]).unwrap();
    assert!(why.contains("use trials with 10,000 operations (--time "), "{why}");
    assert_eq!(judged[1].outcome, RuleOutcome::Fail, "too low is above the limit even so");
}

/// The outcome of `p99 > 10ms` on trials of 900 reads, of which these take 50 ms in each.
fn few_operations(late: &[u64], change: impl Fn(usize, &mut JobRecord)) -> RuleOutcome {
    let mut bed = ruled(Bed::compare(&["old"]), &["p99 > 10ms"]);
    bed.edit(|spec| spec.design = iotax_experiment::Design::Single);
    let trial = |(block, late): (u32, &u64)| {
        let mut trial = bed.trial(block, 0, 180.0);
        let mut latency = LatencyHistogram::new();
        latency.record_many(50_000_000, *late);
        latency.record_many(500_000 + u64::from(block), 900 - late);
        let job = job(&mut trial);
        job.read.service = latency;
        change(block as usize, job);
        trial
    };
    let trials: Vec<Trial> = (0..).zip(late).map(trial).collect();
    judged(&bed, &trials)[0].outcome
}

#[test]
fn few_operations_in_each_of_many_trials_show_a_percentile_below_its_limit_together() {
    let closed = |late: &[u64]| few_operations(late, |_, _| ());
    assert_eq!(closed(&[0; 4]), RuleOutcome::Undecided);
    assert_eq!(closed(&[0; 8]), RuleOutcome::Pass);
    assert_eq!(closed(&[1, 0, 0, 1, 0, 0, 1, 0, 0, 0]), RuleOutcome::Pass);
    // 0.8 %: each trial's p99 is below the limit.
    assert_eq!(closed(&[7, 8, 7, 6, 8, 7, 7, 6]), RuleOutcome::Undecided);
    assert_eq!(closed(&[0, 0, 0, 40, 0, 0, 0, 0]), RuleOutcome::Undecided);
    assert_eq!(closed(&[20; 8]), RuleOutcome::Fail);
}

/// A run goes on as long as more trials may show it.
#[test]
fn a_run_with_few_operations_goes_on_until_all_together_decide() {
    let stops = |blocks: u32, reads: u64, most: u32| {
        let mut bed = ruled(Bed::compare(&["old"]), &["p99 > 10ms"]);
        bed.edit(|spec| {
            spec.design = iotax_experiment::Design::Single;
            (spec.stop.min_blocks, spec.stop.max_blocks) = (4, most);
        });
        let trial = |block| {
            let mut trial = bed.trial(block, 0, 180.0);
            let mut latency = LatencyHistogram::new();
            latency.record_many(500_000 + u64::from(block), reads);
            job(&mut trial).read.service = latency;
            trial
        };
        let trials: Vec<Trial> = (0..blocks).map(trial).collect();
        bed.decide(&trials).stop
    };
    assert_eq!(stops(4, 900, 40), [], "6 trials would do");
    assert_eq!(stops(8, 900, 40), [EndReason::RulesDecided]);
    // 4,800 operations are too far away.
    assert!(matches!(stops(10, 20, 40)[..], [EndReason::RulesOutOfReach { .. }]));
}

#[test]
fn few_operations_show_nothing_at_an_offered_rate_or_with_more_in_flight_in_some_trials() {
    // A stall delays all that are due meanwhile.
    let offered = |_: usize, job: &mut JobRecord| {
        job.offered_ios = Some(900);
        job.read.response = Some(job.read.service.clone());
    };
    assert_eq!(few_operations(&[0; 8], offered), RuleOutcome::Undecided);
    let deeper = |trial: usize, job: &mut JobRecord| {
        job.queue_depth = if trial == 5 { 8 } else { 1 };
    };
    assert_eq!(few_operations(&[0; 8], deeper), RuleOutcome::Undecided);
}

#[test]
fn trials_that_complete_nothing_break_any_rule_about_a_figure() {
    let mut bed = ruled(Bed::compare(&["old", "new"]), &["new: p99 > 1s", "slower by 50%"]);
    let mut trials = bed.blocks(8, &[400.0, 400.0], 0.02);
    for trial in trials.iter_mut().filter(|trial| trial.arm == "new") {
        let job = job(trial);
        job.read = DirectionRecord::default();
        (job.cpu_user_ns, job.in_flight_io_ns) = (1_000, SECONDS * SECOND_NS);
        trial.outcome = Outcome::Degraded { reasons: vec!["reader completed no I/O".into()] };
    }
    let judged = judged(&bed, &trials);
    assert_eq!((judged[0].outcome, judged[0].found), (RuleOutcome::Fail, None));
    assert_eq!(judged[1].outcome, RuleOutcome::Fail);
}

#[test]
fn of_a_peel_the_whole_stack_is_meant_unless_a_layer_is_named() {
    let mut bed = ruled(Bed::peel(&["a", "b"]), &["slower by 10%", "b: slower by 10%"]);
    let trials = bed.blocks(10, &[400.0, 300.0, 396.0, 297.0], 0.02);
    let judged = judged(&bed, &trials);
    let of: Vec<Subject> = judged.iter().filter_map(|judgment| judgment.of.clone()).collect();
    assert_eq!(of, [Subject::Total, Subject::Layer("b".to_owned())]);
    let outcomes: Vec<RuleOutcome> = judged.iter().map(|judgment| judgment.outcome).collect();
    assert_eq!(outcomes, [RuleOutcome::Fail, RuleOutcome::Pass]);
}

#[test]
fn an_arm_or_a_layer_may_be_called_total() {
    // A layer of that name is meant before the whole stack.
    let mut bed = ruled(Bed::peel(&["a", "total"]), &["slower by 10%", "total: slower by 10%"]);
    let trials = bed.blocks(10, &[400.0, 300.0, 396.0, 297.0], 0.02);
    let analysis = bed.analyze(&trials);
    let outcomes: Vec<RuleOutcome> = analysis.rules.iter().map(|rule| rule.outcome).collect();
    assert_eq!(outcomes, [RuleOutcome::Fail, RuleOutcome::Pass]);
    let slower = |subject: &Subject| {
        let mut own = analysis.comparisons.iter().filter(|c| c.subject == *subject);
        own.next().expect("it is compared").verdict == Verdict::Slower
    };
    assert!(slower(&Subject::Total) && !slower(&Subject::Layer("total".to_owned())));
    // So is an arm, and one that is called like an interaction.
    let rules = ["total: slower by 10%", "a x b: slower by 10%"];
    let mut bed = ruled(Bed::compare(&["old", "total", "a x b"]), &rules).seed(9);
    let trials = bed.blocks(12, &[400.0, 300.0, 398.0], 0.02);
    let analysis = bed.analyze(&trials);
    let outcomes: Vec<RuleOutcome> = analysis.rules.iter().map(|rule| rule.outcome).collect();
    assert_eq!(outcomes, [RuleOutcome::Fail, RuleOutcome::Pass]);
    let arms: Vec<Option<&str>> =
        analysis.comparisons.iter().map(|comparison| comparison.subject.arm()).collect();
    assert_eq!(arms[0], Some("total"));
    let shown = serde_json::to_value(&analysis.comparisons[0]).unwrap();
    assert_eq!((&shown["subject"], &shown["arm"]), (&"arm".into(), &"total".into()));
}

/// `slower by 5%` on arms that are equal is broken in at most one of twenty runs.
#[test]
fn equal_arms_hardly_ever_break_a_rule() {
    let broken = (0..100).filter(|seed| {
        let mut bed = ruled(Bed::compare(&["old", "new"]), &["slower by 5%"]).seed(*seed);
        let trials = bed.blocks(10, &[100.0, 100.0], 0.05);
        judged(&bed, &trials)[0].outcome == RuleOutcome::Fail
    });
    let broken = broken.count();
    assert!(broken <= 5, "{broken} of 100");
}

/// A violation as large as an undecided run says it would have detected breaks the rule in another
/// run of as many blocks, at the same noise.
#[test]
fn what_is_detectable_is_detected() {
    for (rule, worst) in
        [("slower by 5%", 0.95), ("new: iops < 100", 1.0), ("new: mean > 10ms", 1.0)]
    {
        let (mut open, mut broken) = (0, 0);
        for seed in 0..30 {
            let new = |seed, iops| {
                let mut bed = ruled(Bed::compare(&["old", "new"]), &[rule]).seed(seed);
                let trials = bed.blocks(10, &[100.0, iops], 0.05);
                judged(&bed, &trials).remove(0)
            };
            let judgment = new(seed, 100.0 * worst);
            let Some(size) = judgment.detectable.filter(|_| judgment.is_undecided()) else {
                continue;
            };
            // One I/O in flight.
            let iops = match rule {
                "slower by 5%" => 100.0 * (1.0 - size),
                "new: iops < 100" => size,
                _ => 1e9 / size,
            };
            assert!(iops < 100.0 * worst && iops > 60.0, "{rule}: {size}");
            open += 1;
            broken += u32::from(new(1_000 + seed, iops).outcome == RuleOutcome::Fail);
        }
        assert!(open > 20 && broken * 100 >= open * 85, "{rule}: {broken} of {open}");
    }
}

#[test]
fn an_interrupted_run_keeps_no_rule_and_says_what_it_would_have_detected() {
    let mut bed = ruled(Bed::compare(&["old", "new"]), &["slower by 5%", "iops < 350"]);
    let trials = bed.blocks(10, &[400.0, 400.0], 0.005);
    let interrupted = End { interrupted: true, ..end() };
    let rules = bed.finish(&trials, Some(&interrupted)).analysis.rules;
    assert_eq!(rules.len(), 3);
    for rule in &rules {
        assert_eq!(
            (rule.outcome, rule.open),
            (RuleOutcome::Undecided, Some(RuleOpen::Interrupted))
        );
        assert!(rule.detectable.is_some(), "{rule:?}");
    }
    assert!(judged(&bed, &trials).iter().all(|rule| rule.outcome == RuleOutcome::Pass));
}

#[test]
fn a_rule_without_data_is_undecided_and_detects_nothing() {
    let bed = ruled(Bed::compare(&["old", "new"]), &["slower by 5%", "new: iops < 350"]);
    for rule in judged(&bed, &[]) {
        assert_eq!((rule.outcome, rule.detectable), (RuleOutcome::Undecided, None), "{rule:?}");
    }
}

#[test]
fn what_a_workload_requires_is_judged_apart_from_the_rules_and_ends_no_comparison() {
    let mut bed = ruled(Bed::compare(&["old", "new"]), &["iops < 380"]);
    let (rule, source) = (Rule::parse("iops < 350").expect("a rule"), "https://a.example".into());
    bed.edit(|spec| spec.phases[0].requires = Some(Requirement { rule, source }));
    let trials = bed.blocks(10, &[400.0, 320.0], 0.02);
    let analysis = bed.analyze(&trials);
    let outcomes = |all: &[Judgment]| all.iter().map(|one| one.outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(&analysis.rules), [RuleOutcome::Pass, RuleOutcome::Fail]);
    assert_eq!(outcomes(&analysis.requirements), [RuleOutcome::Pass, RuleOutcome::Fail]);
}
