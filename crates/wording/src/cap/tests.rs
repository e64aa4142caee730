use super::*;

fn said(all: &[CapReason]) -> String {
    all.iter().map(reason).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_cap_looks_like_is_told_with_its_figures() {
    let one_line = |is_bytes, only, are_larger_several| CapSign::OneLine {
        is_bytes,
        slope: if is_bytes { -0.99 } else { 0.01 },
        only,
        are_larger_several,
    };
    let all = [
        CapSign::Kink { off: 0.012, curve_off: 0.2 },
        CapSign::Curve { off: 0.012, kink_off: 0.2 },
        CapSign::Neither { kink_off: 0.05, curve_off: 0.06 },
        one_line(false, None, true),
        one_line(true, Some([4096, 1 << 20]), false),
        CapSign::NoPlateau { slope: 0.31 },
        CapSign::NotTwice { spread: 0.05 },
        CapSign::Limit { by: LimitBy::Cgroup, of: "/box".to_owned() },
        CapSign::Limit {
            by: LimitBy::Documented(iotax_catalog::Scope::Disk),
            of: "P10".to_owned(),
        },
    ];
    insta::assert_snapshot!(said(&all.map(CapReason::from)), @"");
}

#[test]
fn what_speaks_against_a_sign_follows_it() {
    let of = |sign, doubt| CapReason { sign, doubts: vec![doubt] };
    let thread = BusySign::Thread { share: 0.9 };
    let all = [
        of(CapSign::Kink { off: 0.01, curve_off: 0.2 }, CapDoubt::Spread(0.12)),
        of(CapSign::Busy(thread), CapDoubt::SlopeLeft(0.4)),
        of(CapSign::FlowsHeld, CapDoubt::Busy(BusySign::OtherWork { share: 1.0 })),
        of(CapSign::Refill, CapDoubt::Scatters),
    ];
    insta::assert_snapshot!(said(&all), @"");
}

#[test]
fn busy_cpus_are_told_with_whose_they_are() {
    let all = [
        BusySign::InTurn { share: 1.04 },
        BusySign::AllCpus { share: 0.95, ours: 0.47 },
        BusySign::Allowed { share: 0.98, cpus: 0.5 },
        BusySign::Peer { share: 0.97 },
        BusySign::Waited { share: 0.4 },
        BusySign::Taken { share: 1.0 },
    ];
    insta::assert_snapshot!(all.map(|sign| busy(&sign)).join("\n"), @"");
}

#[test]
fn what_is_in_the_way_of_a_cap_is_told_with_the_size() {
    let all = [(BlockEnd::Smallest, 512), (BlockEnd::Small, 4096), (BlockEnd::Largest, 1 << 20)];
    let all = all.map(|(end, size)| obstacle(&Obstacle::OtherCap(end), size));
    insta::assert_snapshot!(all.join("\n"), @"");
}
