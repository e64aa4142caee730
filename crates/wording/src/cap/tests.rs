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
    across block sizes, throughput follows a limiter's curve (IOPS cap, then bandwidth cap) to within 1.2 %, and a device's curve to within 20 %
    across block sizes, throughput follows a device's curve (time per I/O plus time per byte) to within 1.2 %, and a limiter's curve to within 20 %
    across block sizes, throughput follows neither a limiter's curve (off by 5 %) nor a device's curve (off by 6 %)
    I/Os per second do not depend on the block size (slope 0.01); larger I/Os seem to count as several
    bytes per second do not depend on the block size (slope −0.99) from 4 KiB to 1 MiB; at other sizes, this machine's CPUs were busy
    no plateau: throughput still changes with depth (slope 0.31), so this is the rate reached, not a cap
    two measurements differ by 5 %, but a limiter's rate is constant
    the rate equals the cgroup limit of /box
    the rate equals the documented disk limit of P10
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
    across block sizes, throughput follows a limiter's curve (IOPS cap, then bandwidth cap) to within 1 %, and a device's curve to within 20 %; however, a limiter's rate is constant, and this cap's interval spans 12 %
    the load's thread used 90 % of a CPU: use fewer, larger I/Os or more CPUs to see the next limit; throughput still changes with depth (slope 0.40)
    the rate is always the same, more flows do not raise it, and CPUs are idle: the cause is a limiter or the link's capacity; all CPUs were busy with other work for 100 % of the time: measure again when that work is finished
    burst credits refill during pauses, at the capped rate, as in a token bucket; however, the other measurements in this search scatter around this rate
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
    the load's thread and the kernel threads that work for it used 104 % of one CPU: use fewer, larger I/Os or more CPUs to see the next limit
    all CPUs on this machine were busy for 95 % of the time, and this load used 47 % of that time: use fewer, larger I/Os or more CPUs to see the next limit
    this load used 98 % of the 0.5 CPUs that it is allowed to use: use fewer, larger I/Os or more CPUs to see the next limit
    the peer's thread used 97 % of a CPU
    the load's threads waited for a CPU for 40 % of the time
    all CPUs were busy for 100 % of the time
    ");
}

#[test]
fn what_is_in_the_way_of_a_cap_is_told_with_the_size() {
    let all = [(BlockEnd::Smallest, 512), (BlockEnd::Small, 4096), (BlockEnd::Largest, 1 << 20)];
    let all = all.map(|(end, size)| obstacle(&Obstacle::OtherCap(end), size));
    insta::assert_snapshot!(all.join("\n"), @"
    at the smallest block size (512 B), the bandwidth cap applies first
    with 4 KiB blocks, the bandwidth cap applies first
    at the largest block size (1 MiB), the IOPS cap applies first
    ");
}
