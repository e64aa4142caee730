//! Caps beside the limits that are known of their targets.

use iotax_catalog::Direction;
use iotax_experiment::documented::{
    Documented, DocumentedLimit, Named, QUANTITIES, Quantity, named,
};
use iotax_experiment::{KnownLimit, Opened, Search};

use crate::found::{Cap, CapKind, Caps, PathCap, TargetCaps};

/// So near to a limit, what could be anything is a throttle.
const IS_IT: f64 = 0.02;

/// Fills in [`Caps::documented`], and calls a throttle what sits on one of the limits.
pub(crate) fn compare(search: &Search, opened: &Opened, caps: &mut Caps) {
    // An unknown name is refused before anything is measured.
    let named = named(&opened.cloud, search.targets.len()).unwrap_or_default();
    let direction = if search.writes { Direction::Write } else { Direction::Read };
    for (at, (asked, found)) in search.targets.iter().zip(&mut caps.targets).enumerate() {
        let target = &asked.arm.target;
        let known = opened.targets.get(at).map_or(&[][..], |target| &target.known);
        if target.is_network() {
            let of_cap = |cap| of_path(&found.name, cap, (&named, known));
            caps.documented.extend(found.path.iter_mut().filter_map(of_cap));
            continue;
        }
        let documented = named.limits(at, target, direction);
        caps.notes.extend(named.note(at, target, &found.name));
        for quantity in QUANTITIES {
            let read_here = known.iter().filter_map(|limit| quantity.read_here(limit));
            let of_catalogue = documented.iter().filter_map(|limit| quantity.documented(limit));
            let limits = read_here.chain(of_catalogue).collect();
            caps.documented.extend(one(found, quantity, limits));
        }
    }
}

fn one(
    found: &mut TargetCaps,
    quantity: Quantity,
    limits: Vec<DocumentedLimit>,
) -> Option<Documented> {
    let cap = match quantity.name {
        "iops" => found.iops.as_mut(),
        _ => found.bw_bytes.as_mut(),
    };
    let unreached = found.unreached.iter().find(|cap| cap.quantity == quantity.name);
    let at_least = unreached.map(|unreached| unreached.at_least);
    let measured = cap.as_ref().map(|cap| cap.cap).or(at_least)?;
    let row = Documented::of(&found.name, quantity.name, measured, limits)?;
    if let Some(cap) = cap {
        is_it(cap, &row, measured);
    }
    Some(row)
}

/// A VM's limits count frames, or so it is taken: headers are theirs, too. Shapers do, and those on the
/// way hold all flows together.
fn of_path(
    target: &str,
    path: &mut PathCap,
    (named, known): (&Named, &[KnownLimit]),
) -> Option<Documented> {
    let wire = path.wire?;
    let direction = if path.traffic.is_back { Direction::Read } else { Direction::Write };
    let holds = |limit: &&KnownLimit| {
        !path.is_per_flow && limit.direction.is_none_or(|counted| counted.counts(direction))
    };
    let here = known.iter().filter(holds).filter_map(|limit| QUANTITIES[1].read_here(limit));
    let limits = here.chain(named.network(direction, path.is_per_flow)).collect();
    let row = Documented::of(target, path.name(), wire.per_s, limits)?;
    is_it(&mut path.cap, &row, wire.per_s);
    Some(row)
}

/// What is as much as a limit that binds, and could be anything, is that limit.
fn is_it(cap: &mut Cap, row: &Documented, measured: f64) {
    if cap.kind == CapKind::External
        && let Some(limit) = row.binds.map(|at| &row.limits[at])
        && (measured / limit.per_s - 1.0).abs() <= IS_IT
    {
        cap.kind = CapKind::Throttle;
        let documented = if limit.as_of.is_some() { "documented " } else { "" };
        cap.why = format!("it is the {documented}{} limit of {}", limit.scope, limit.of);
    }
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, CloudChoice, OpenedTarget, SearchTarget, Target};

    use super::*;

    fn search(vm: Option<&str>, disk: Option<&str>, known: Vec<KnownLimit>) -> (Search, Opened) {
        let target =
            SearchTarget { arm: Arm::new("a", Target::Path("/a".into())), span_bytes: 1 << 30 };
        let cloud = CloudChoice {
            vm: vm.map(str::to_owned),
            disks: disk.into_iter().map(str::to_owned).collect(),
            ..CloudChoice::default()
        };
        let search = Search {
            targets: vec![target],
            writes: false,
            quick: true,
            burst: None,
            cloud: cloud.clone(),
            fail_if: Vec::new(),
            seed: 1,
        };
        let found = OpenedTarget { smallest_io_bytes: None, known };
        (search, Opened { cloud, targets: vec![found] })
    }

    fn cgroup(of: &str, iops: f64) -> KnownLimit {
        let (scope, of) = ("cgroup".to_owned(), of.to_owned());
        KnownLimit { scope, of, direction: None, iops: Some(iops), bw_bytes: None }
    }

    /// What is concluded of a target that reaches `iops`, and what is said to set that.
    fn concluded(iops: f64, (search, opened): &(Search, Opened)) -> (String, CapKind, String) {
        let mut caps = Caps::of(search);
        caps.targets[0].iops = Some(Cap {
            cap: iops,
            lo: iops,
            hi: iops,
            measurements: 3,
            block_bytes: 4096,
            queue_depth: 64,
            kind: CapKind::External,
            why: String::new(),
            burst: None,
        });
        compare(search, opened, &mut caps);
        let said = caps.documented.iter().map(|row| row.says.clone()).collect::<Vec<_>>();
        let cap = caps.targets[0].iops.take().unwrap();
        (said.join("\n"), cap.kind, cap.why)
    }

    #[test]
    fn a_limit_of_this_machine_binds_like_a_documented_one() {
        let known = vec![cgroup("/box", 300.0), cgroup("/", 9_000.0)];
        let (says, kind, why) = concluded(299.0, &search(None, None, known.clone()));
        assert_eq!(says, "the cgroup limit of /box binds, to the point.");
        assert_eq!((kind, why.as_str()), (CapKind::Throttle, "it is the cgroup limit of /box"));
        let (says, kind, why) = concluded(499.0, &search(None, Some("P10"), known));
        assert_eq!(says, "the disk limit of P10 binds, to the point.");
        let documented = "it is the documented disk limit of P10";
        assert_eq!((kind, why.as_str()), (CapKind::Throttle, documented));
        let unlimited = concluded(300.0, &search(None, None, Vec::new()));
        assert_eq!(unlimited, (String::new(), CapKind::External, String::new()));
    }

    #[test]
    fn a_vm_without_named_disks_is_compared_by_its_own_limits() {
        let azure = concluded(3_198.0, &search(Some("Standard_DS1_v2"), None, Vec::new()));
        assert_eq!(azure.0, "the VM uncached limit of Standard_DS1_v2 binds, to the point.");
        let google = concluded(15_000.0, &search(Some("n2-standard-8"), None, Vec::new()));
        assert_eq!(
            google.0,
            "the instance limit of n2-standard-8 for pd-balanced binds, to the point."
        );
    }
}
