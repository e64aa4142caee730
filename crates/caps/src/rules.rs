//! Rules that were set beforehand: which caps break them.

use iotax_experiment::Rule;
use iotax_experiment::documented::DocumentedLimit;
use iotax_experiment::rule::{Condition, Figure, RuleOutcome, Side};

use crate::found::{Cap, CapJudgment, CapKind, Caps, PathQuantity, TargetCaps, Undecided};

/// What breaks a rule: this side of so much per second.
#[derive(Clone, Copy)]
struct Bound {
    side: Side,
    per_s: f64,
}

impl Bound {
    /// The cap that breaks the rule wherever in an interval as wide as that of `cap` it is: the
    /// whole interval is on the side that breaks it, even if the estimate is at its other end.
    fn detectable(self, cap: &Cap) -> f64 {
        match self.side {
            Side::Below => self.per_s * cap.lo / cap.hi,
            Side::Above => self.per_s * cap.hi / cap.lo,
        }
    }

    /// What becomes of a rule about more than this, and about less.
    const fn outcomes(self) -> (RuleOutcome, RuleOutcome) {
        match self.side {
            Side::Below => (RuleOutcome::Pass, RuleOutcome::Fail),
            Side::Above => (RuleOutcome::Fail, RuleOutcome::Pass),
        }
    }
}

/// The two caps of a target, by the names that they have everywhere.
const QUANTITIES: [&str; 2] = ["iops", "bw_bytes"];

/// Holds rules against what was found: every rule, about every target that it is about.
pub fn judge(rules: &[Rule], caps: &Caps) -> Vec<CapJudgment> {
    let about = |rule: &Rule| {
        let targets = caps.targets.iter().filter(|target| rule.is_about(&target.name));
        targets.flat_map(|target| of_target(rule, target, caps)).collect::<Vec<_>>()
    };
    rules.iter().flat_map(about).collect()
}

fn of_target(rule: &Rule, target: &TargetCaps, caps: &Caps) -> Vec<CapJudgment> {
    match &rule.condition {
        Condition::Figure { figure: Figure::Iops, side, limit, .. } => {
            vec![of_cap(rule, target, "iops", Bound { side: *side, per_s: *limit })]
        }
        Condition::Figure { figure: Figure::Bandwidth, side, limit, .. } => {
            let bound = Bound { side: *side, per_s: *limit };
            let both = of_bandwidth(target);
            both.into_iter().map(|quantity| of_cap(rule, target, quantity, bound)).collect()
        }
        Condition::BelowDocumented(share) => {
            let paths = of_bandwidth(target).into_iter().filter(|_| !target.path.is_empty());
            let judged: Vec<_> = QUANTITIES
                .into_iter()
                .chain(paths)
                .filter_map(|quantity| {
                    let limit = documented(caps, &target.name, quantity)?;
                    let bound = Bound { side: Side::Below, per_s: limit.per_s * (1.0 - share) };
                    let judgment = of_cap(rule, target, quantity, bound);
                    Some(CapJudgment { limit: Some(limit.clone()), ..judgment })
                })
                .collect();
            if judged.is_empty() { vec![undocumented(rule, target)] } else { judged }
        }
        // No rules of a search.
        Condition::SlowerBy(_) | Condition::Figure { .. } => Vec::new(),
    }
}

/// Names of caps on bytes: of storage one, of a path one each way, whether there is a cap to be
/// stated or not.
fn of_bandwidth(target: &TargetCaps) -> Vec<&'static str> {
    let is_named = |name: &str| {
        target.path.iter().any(|path| path.name() == name)
            || target.unreached.iter().any(|cap| cap.quantity == name)
            || target.unsteady.iter().any(|rate| rate.quantity == name)
    };
    let ways = [PathQuantity::BytesTo, PathQuantity::BytesFrom].map(|way| way.name(false));
    let paths: Vec<_> = ways.into_iter().filter(|name| is_named(name)).collect();
    if paths.is_empty() { vec!["bw_bytes"] } else { paths }
}

/// The least limit that somebody documented: what this machine sets is not what was paid for.
fn documented<'a>(caps: &'a Caps, target: &str, quantity: &str) -> Option<&'a DocumentedLimit> {
    let rows = caps.documented.iter();
    let row = rows.filter(|row| row.is_of(target) && row.quantity == quantity);
    let limits = row.flat_map(|row| &row.limits).filter(|limit| limit.source.is_some());
    limits.min_by(|a, b| a.per_s.total_cmp(&b.per_s))
}

fn undocumented(rule: &Rule, target: &TargetCaps) -> CapJudgment {
    CapJudgment {
        rule: rule.clone(),
        of: target.name.clone(),
        quantity: None,
        outcome: RuleOutcome::Undecided,
        found: None,
        limit: None,
        detectable: None,
        why: Some(Undecided::NothingDocumented),
    }
}

fn of_cap(rule: &Rule, target: &TargetCaps, quantity: &str, bound: Bound) -> CapJudgment {
    let path = target.path.iter().find(|path| path.name() == quantity);
    let (cap, is_plateau) = match (quantity, path) {
        (_, Some(path)) => (Some(&path.cap), path.is_plateau),
        ("iops", None) => (target.iops.as_ref(), target.plateau.is_plateau),
        (_, None) => (target.bw_bytes.as_ref(), target.plateau.is_plateau),
    };
    let (outcome, why) = match cap {
        None => without_cap(target, quantity, bound),
        Some(cap) => outcome(cap, is_plateau, bound),
    };
    let is_within = why == Some(Undecided::WithinInterval);
    let may_break = bound.side == Side::Above || cap.is_some_and(|cap| is_most(cap, is_plateau));
    let detectable = cap.filter(|_| is_within && may_break).map(|cap| bound.detectable(cap));
    CapJudgment {
        rule: rule.clone(),
        of: target.name.clone(),
        quantity: Some(quantity.to_owned()),
        outcome,
        found: cap.map(|cap| [cap.cap, cap.lo, cap.hi]),
        limit: None,
        detectable,
        why,
    }
}

/// What was reached is had at least. That no more can be had is only known of a cap that was seen,
/// and that is not this machine's.
fn outcome(cap: &Cap, is_plateau: bool, bound: Bound) -> (RuleOutcome, Option<Undecided>) {
    let (more, less) = bound.outcomes();
    if cap.lo > bound.per_s {
        (more, None)
    } else if cap.hi >= bound.per_s {
        (RuleOutcome::Undecided, Some(Undecided::WithinInterval))
    } else if is_most(cap, is_plateau) {
        (less, None)
    } else {
        (RuleOutcome::Undecided, Some(Undecided::MayGiveMore(cap.reason.clone())))
    }
}

/// Whether the cap is the most that the target can give.
fn is_most(cap: &Cap, is_plateau: bool) -> bool {
    is_plateau && cap.kind != CapKind::ThisMachine
}

/// What a rate says that has no cap: the least that was reached, or what it keeps between.
fn without_cap(
    target: &TargetCaps,
    quantity: &str,
    bound: Bound,
) -> (RuleOutcome, Option<Undecided>) {
    let (more, less) = bound.outcomes();
    if let Some(cap) = target.unreached.iter().find(|cap| cap.quantity == quantity) {
        let why = Undecided::NotReached(cap.obstacle.clone(), cap.block_bytes);
        let is_more = cap.at_least > bound.per_s;
        return if is_more { (more, None) } else { (RuleOutcome::Undecided, Some(why)) };
    }
    match target.unsteady.iter().find(|rate| rate.quantity == quantity) {
        Some(rate) if rate.lo > bound.per_s => (more, None),
        Some(rate) if rate.hi < bound.per_s => (less, None),
        Some(_) => (RuleOutcome::Undecided, Some(Undecided::Unsteady)),
        None => (RuleOutcome::Undecided, Some(Undecided::NoCap)),
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::documented::Documented;

    use super::*;
    use iotax_catalog::{Scope, Source};
    use iotax_experiment::documented::LimitBy;

    use crate::found::{LIMITS_ANALYSIS_FORMAT, Plateau};
    use crate::reason::{CapReason, CapSign};
    use crate::unstated::{BlockEnd, Obstacle, Unreached, Unsteady};

    fn cap(cap: f64, kind: CapKind) -> Cap {
        let (lo, hi) = (cap * 0.99, cap * 1.01);
        let reason = CapReason::from(CapSign::Refill);
        let (block_bytes, queue_depth) = (4096, 64);
        Cap { cap, lo, hi, measurements: 3, block_bytes, queue_depth, kind, reason, burst: None }
    }

    /// A target of 1000 I/Os per second and 100 MB/s, of which 1200 I/Os are documented, and 500
    /// set by this machine.
    fn found(kind: CapKind) -> Caps {
        let target = TargetCaps {
            name: "a".to_owned(),
            iops: Some(cap(1000.0, kind)),
            bw_bytes: Some(cap(1e8, kind)),
            plateau: Plateau { is_plateau: true, ..Plateau::default() },
            ..TargetCaps::default()
        };
        let limit = |per_s, as_of: Option<&str>| DocumentedLimit {
            by: LimitBy::Documented(Scope::Disk),
            of: "P10".to_owned(),
            per_s,
            burst_per_s: None,
            source: as_of.map(|as_of| Source { text: "a page".into(), as_of: as_of.into() }),
        };
        let limits =
            vec![limit(9000.0, Some("2026")), limit(1200.0, Some("2026")), limit(500.0, None)];
        let documented = Documented::of("a", "iops", 1000.0, limits).unwrap();
        Caps {
            format: LIMITS_ANALYSIS_FORMAT,
            targets: vec![target],
            sharing: Vec::new(),
            documented: vec![documented],
            rules: Vec::new(),
            levels: Vec::new(),
            ended: None,
            notes: Vec::new(),
        }
    }

    fn judged(rule: &str, kind: CapKind) -> RuleOutcome {
        let judged = judge(&[Rule::parse(rule).unwrap()], &found(kind));
        let [judgment] = judged.as_slice() else { panic!("{judged:?}") };
        judgment.outcome
    }

    #[test]
    fn a_cap_breaks_or_keeps_a_rule_by_the_end_of_its_interval_that_speaks_for_it() {
        use CapKind::Throttle;
        assert_eq!(judged("iops < 2000", Throttle), RuleOutcome::Fail);
        assert_eq!(judged("iops < 980", Throttle), RuleOutcome::Pass);
        assert_eq!(judged("iops < 1005", Throttle), RuleOutcome::Undecided);
        assert_eq!(judged("iops < 995", Throttle), RuleOutcome::Undecided);
        assert_eq!(judged("iops > 980", Throttle), RuleOutcome::Fail);
        assert_eq!(judged("a: iops > 1020", Throttle), RuleOutcome::Pass);
        assert_eq!(judged("bandwidth < 100M", Throttle), RuleOutcome::Fail);
        assert_eq!(judged("bandwidth < 94M", Throttle), RuleOutcome::Pass);
    }

    #[test]
    fn a_cap_as_low_as_is_detectable_breaks_the_rule_wherever_its_estimate_is() {
        let judged = |rule: &str, of: Cap| {
            let mut found = found(CapKind::Throttle);
            found.targets[0].iops = Some(of);
            judge(&[Rule::parse(rule).unwrap()], &found).remove(0)
        };
        for rule in ["iops < 1005", "iops > 995"] {
            let truth = judged(rule, cap(1000.0, CapKind::Throttle)).detectable.unwrap();
            for estimate in [0.9901 * truth, truth, 1.0099 * truth] {
                let judged = judged(rule, cap(estimate, CapKind::Throttle));
                assert_eq!(
                    (judged.outcome, judged.detectable),
                    (RuleOutcome::Fail, None),
                    "{rule}"
                );
            }
        }
    }

    #[test]
    fn what_was_not_reached_is_decided_by_what_was_and_what_is_unsteady_by_its_interval() {
        let judged = |rule: &str| {
            let mut found = found(CapKind::Throttle);
            let target = &mut found.targets[0];
            (target.iops, target.bw_bytes) = (None, None);
            target.unreached.push(Unreached {
                quantity: "iops".to_owned(),
                at_least: 1000.0,
                block_bytes: 512,
                obstacle: Obstacle::OtherCap(BlockEnd::Smallest),
            });
            target.unsteady.push(Unsteady::scattered("bw_bytes", &[1e8, 2e8, 3e8]));
            let judged = judge(&[Rule::parse(rule).unwrap()], &found);
            let [judgment] = judged.as_slice() else { panic!("{judged:?}") };
            judgment.outcome
        };
        assert_eq!(judged("iops < 900"), RuleOutcome::Pass);
        assert_eq!(judged("iops < 2000"), RuleOutcome::Undecided);
        assert_eq!(judged("iops > 900"), RuleOutcome::Fail);
        assert_eq!(judged("bandwidth < 90M"), RuleOutcome::Pass);
        assert_eq!(judged("bandwidth < 200M"), RuleOutcome::Undecided);
        assert_eq!(judged("bandwidth < 300M"), RuleOutcome::Fail);
    }

    #[test]
    fn what_this_machine_sets_is_the_least_and_not_the_most_that_can_be_had() {
        use CapKind::ThisMachine;
        assert_eq!(judged("iops < 980", ThisMachine), RuleOutcome::Pass);
        assert_eq!(judged("iops < 2000", ThisMachine), RuleOutcome::Undecided);
        assert_eq!(judged("iops > 980", ThisMachine), RuleOutcome::Fail);
        assert_eq!(judged("iops > 2000", ThisMachine), RuleOutcome::Undecided);
        let mut growing = found(CapKind::External);
        growing.targets[0].plateau.is_plateau = false;
        let judged = judge(&[Rule::parse("iops < 2000").unwrap()], &growing);
        assert_eq!(judged[0].outcome, RuleOutcome::Undecided);
        assert_eq!(judged[0].why, Some(Undecided::MayGiveMore(CapSign::Refill.into())));
    }

    #[test]
    fn the_least_that_is_documented_counts_and_not_what_this_machine_sets() {
        use CapKind::Throttle;
        assert_eq!(judged("below documented by 5%", Throttle), RuleOutcome::Fail);
        assert_eq!(judged("below documented by 20%", Throttle), RuleOutcome::Pass);
        let judged = judge(&[Rule::parse("below documented by 5%").unwrap()], &found(Throttle));
        assert_eq!(judged[0].limit.as_ref().map(|limit| limit.per_s), Some(1200.0));
        let mut nothing = found(Throttle);
        nothing.documented.clear();
        let judged = judge(&[Rule::parse("below documented by 5%").unwrap()], &nothing);
        assert_eq!((judged[0].outcome, judged.len()), (RuleOutcome::Undecided, 1));
    }

    #[test]
    fn each_way_of_a_path_is_judged_by_its_own_cap_and_limit() {
        let mut found = found(CapKind::Throttle);
        let target = &mut found.targets[0];
        (target.iops, target.bw_bytes) = (None, None);
        let traffic = iotax_experiment::Traffic {
            engine: iotax_experiment::Engine::TcpStream,
            is_back: false,
            flows: 4,
            block_bytes: 1 << 17,
        };
        let of = |quantity, per_s| crate::found::PathCap {
            quantity,
            is_per_flow: false,
            traffic,
            cap: cap(per_s, CapKind::Throttle),
            is_plateau: true,
            flows: Vec::new(),
            wire: None,
        };
        target.path = vec![of(PathQuantity::BytesTo, 1e8), of(PathQuantity::Requests, 1e4)];
        target.unsteady.push(Unsteady::scattered("bw_bytes_from", &[1e8, 2e8, 3e8]));
        let mut limits = found.documented.remove(0);
        limits.quantity = "bw_bytes_to".to_owned();
        limits.limits.iter_mut().for_each(|limit| limit.per_s = 1.05e8);
        found.documented.push(limits);
        let of = |rule: &str| {
            let judged = judge(&[Rule::parse(rule).unwrap()], &found);
            let told = |judged: CapJudgment| (judged.quantity.unwrap(), judged.outcome);
            judged.into_iter().map(told).collect::<Vec<_>>()
        };
        let (to, from) = ("bw_bytes_to".to_owned(), "bw_bytes_from".to_owned());
        let (pass, fail, open) = (RuleOutcome::Pass, RuleOutcome::Fail, RuleOutcome::Undecided);
        assert_eq!(of("bandwidth < 90M"), [(to.clone(), pass), (from.clone(), pass)]);
        assert_eq!(of("bandwidth < 120M"), [(to.clone(), fail), (from, open)]);
        assert_eq!(of("below documented by 1%"), [(to.clone(), fail)]);
        assert_eq!(of("below documented by 10%"), [(to, pass)]);
    }

    #[test]
    fn a_rule_is_about_the_target_it_names_alone() {
        let rules = [Rule::parse("b: iops < 1").unwrap()];
        assert_eq!(judge(&rules, &found(CapKind::Throttle)), []);
    }
}
