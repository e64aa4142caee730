//! Caps of hidden disks beside busy loops: a limiter's rate is right to 2 %, or said to be out of
//! reach.
//!
//! `IOTAX_HIDDEN_DISKS` disks (20), beside `IOTAX_BUSY_LOOPS` loops (one for each CPU), drawn by
//! `IOTAX_HIDDEN_SEED` (1), `IOTAX_DISKS_AT_ONCE` (1) searched at the same time.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::support::Desk;

const MIB: f64 = 1_048_576.0;
const SMALLEST_BYTES: f64 = 512.0;
const OFF: f64 = 0.02;

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |number| number.parse().unwrap())
}

/// A program that does nothing but compute.
struct BusyLoop(Child);

impl BusyLoop {
    fn start() -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
        Self(shell.spawn().unwrap())
    }
}

impl Drop for BusyLoop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A disk whose caps the search is not told: I/Os and MiB per second.
#[derive(Debug, Clone, Copy)]
struct Hidden {
    iops: f64,
    mib: f64,
}

impl Hidden {
    /// From 500 to 30,000 IOPS; both caps meet at 300 bytes to 3 MiB, as far as memory can be read
    /// so fast.
    fn draw(seed: u64, case: u64) -> Self {
        let mut state = seed.wrapping_mul(1_000_003).wrapping_add(case);
        let mut draw = |lo: f64, hi: f64| {
            let share = split_mix(&mut state) as f64 / u64::MAX as f64;
            (lo.ln() + share * (hi / lo).ln()).exp()
        };
        let iops = draw(500.0, 30_000.0).round();
        let kink = draw(300.0, (3.0 * MIB).min(400.0 * MIB / iops));
        Self { iops, mib: (iops * kink / MIB).round().max(1.0) }
    }

    fn stack(self) -> String {
        format!("mem(size=256M) + throttle(iops={}, bw={}M)", self.iops, self.mib)
    }

    fn kink(self) -> f64 {
        self.mib * MIB / self.iops
    }
}

/// `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// What is said of a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Right,
    OutOfReach,
    NoCpu,
    Wrong,
}

fn told(target: &Value, quantity: &str, truth: f64, is_in_reach: bool) -> Told {
    let unreached = target["unreached"].as_array().into_iter().flatten();
    let unreached = unreached.into_iter().find(|cap| cap["quantity"] == quantity);
    let cap = &target[quantity];
    if let Some(found) = cap["cap"].as_f64() {
        let is_right = (found / truth - 1.0).abs() <= OFF && cap["kind"] == "throttle";
        return if is_right { Told::Right } else { Told::Wrong };
    }
    match unreached {
        Some(cap) if cap["at_least"].as_f64().unwrap() > truth * (1.0 + OFF) => Told::Wrong,
        Some(cap) if cap["obstacle"] == "this_machine" => Told::NoCpu,
        Some(_) if !is_in_reach => Told::OutOfReach,
        _ => Told::Wrong,
    }
}

fn search(hidden: Hidden) -> (String, [Told; 2]) {
    let desk = Desk::new();
    let said = desk.run(&["limits", &hidden.stack(), "--quick", "--format", "json"]);
    assert_eq!(said.code, 0, "{}: {}{}", hidden.stack(), said.err, said.out);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    let target = &found["targets"][0];
    // Where both caps bind with nearly the same I/Os, neither is told from the other.
    let verdicts = [
        told(target, "iops", hidden.iops, hidden.kink() > 1.1 * SMALLEST_BYTES),
        told(target, "bw_bytes", hidden.mib * MIB, 1.1 * hidden.kink() < MIB),
    ];
    let told = format!(
        "{}: {:?}: {} {} {} {}",
        hidden.stack(),
        verdicts,
        target["iops"],
        target["bw_bytes"],
        target["unreached"],
        target["unsteady"]
    );
    (told, verdicts)
}

#[test]
fn hidden_caps_beside_busy_loops_are_right_or_out_of_reach() {
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    let disks = number("IOTAX_HIDDEN_DISKS", 20);
    let (seed, loops) = (number("IOTAX_HIDDEN_SEED", 1), number("IOTAX_BUSY_LOOPS", cpus));
    let busy: Vec<BusyLoop> = (0..loops).map(|_| BusyLoop::start()).collect();
    let (next, all) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..number("IOTAX_DISKS_AT_ONCE", 1) {
            scope.spawn(|| {
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= disks {
                        break;
                    }
                    let (told, verdicts) = search(Hidden::draw(seed, case));
                    eprintln!("disk {case}: {told}");
                    all.lock().unwrap_or_else(PoisonError::into_inner).extend(verdicts);
                }
            });
        }
    });
    drop(busy);
    let all = all.into_inner().unwrap();
    let count = |told: Told| all.iter().filter(|one| **one == told).count();
    eprintln!(
        "| {disks} disks beside {loops} busy loops | {} caps within 2 %, {} out of reach, {} without CPU, {} wrong |",
        count(Told::Right),
        count(Told::OutOfReach),
        count(Told::NoCpu),
        count(Told::Wrong)
    );
    assert_eq!(count(Told::Wrong), 0);
}
