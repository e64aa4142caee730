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
    insta::assert_snapshot!(said(&all.map(CapReason::from)), @"
    over block size throughput has a kink, a cap on I/Os and one on bytes: off by 1.2 %, a device's curve by 20 %
    over block size throughput follows a time per I/O plus a time per byte: off by 1.2 %, a limiter's kink by 20 %
    a limiter's kink is off by 5 %, a device's curve by 6 %: neither is clearly right
    I/Os per second do not depend on the block size (slope 0.01); larger ones seem to be counted as several
    bytes per second do not depend on the block size (slope −0.99) from 4 KiB to 1 MiB; with others this machine's CPUs were busy
    no plateau: throughput still changes with depth (slope 0.31), so this is what was reached and no cap
    it was not the same twice (by 5 %), and a limiter holds its rate
    it is the cgroup limit of /box
    it is the documented disk limit of P10
    ");
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
    insta::assert_snapshot!(said(&all), @"
    over block size throughput has a kink, a cap on I/Os and one on bytes: off by 1 %, a device's curve by 20 %, but a limiter holds its rate, and the interval of this one spans 12 %
    the load's thread computed 90 % of the time: fewer, larger I/Os or more CPUs show what is behind; throughput still changes with depth (slope 0.40)
    more flows carry no more, each time the same, and CPUs are left: a limiter, or what the link itself carries; all CPUs were busy 100 % of the time with other work: measure again when it has ended
    what can be had above it comes back in pauses at the rate of the cap, as a token bucket's credits do, but the other measurements of this search scatter around it
    ");
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
    insta::assert_snapshot!(all.map(|sign| busy(&sign)).join("\n"), @"
    the load's thread and the kernel's threads that worked for it took 104 % of one CPU's time: fewer, larger I/Os or more CPUs show what is behind
    all CPUs of this machine were busy 95 % of the time, 47 % of that with this load: fewer, larger I/Os or more CPUs show what is behind
    this load computed for 98 % of the 0.5 CPUs that it may use: fewer, larger I/Os or more CPUs show what is behind
    the peer's thread computed 97 % of the time
    the load's threads waited 40 % of the time for a CPU
    all CPUs were busy 100 % of the time
    ");
}

#[test]
fn what_is_in_the_way_of_a_cap_is_told_with_the_size() {
    let all = [(BlockEnd::Smallest, 512), (BlockEnd::Small, 4096), (BlockEnd::Largest, 1 << 20)];
    let all = all.map(|(end, size)| obstacle(&Obstacle::OtherCap(end), size));
    insta::assert_snapshot!(all.join("\n"), @"
    at the smallest block of 512 B the bandwidth cap binds first
    with blocks of 4 KiB the bandwidth cap binds first
    at the largest block of 1 MiB the IOPS cap binds first
    ");
}
