//! A few I/Os that take most of the time.

use anyhow::Result;

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, here};

pub(super) const ALL: [Situation; 4] = [
    here("few reads stall", &["slow-few"], |lab, is_faulty| {
        let depth = lab.number(3..=8);
        let (stalls, ms) = (lab.number(10..=30), lab.number(10..=30));
        let device = stalling(lab, is_faulty, stalls, ms)?;
        let depth = format!("depth={depth}");
        Ok(Complaint::run("randread-4k", &device, &["--set", &depth, "--time", "10s"]))
    }),
    // One in two hundred: the 99th percentile does not show them.
    here("one read in 200 stalls", &["slow-few"], |lab, is_faulty| {
        let (stalls, ms) = (5, lab.number(40..=80));
        let device = stalling(lab, is_faulty, stalls, ms)?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=4", "--time", "15s"]))
    }),
    here("few large reads stall", &["slow-few"], |lab, is_faulty| {
        let (stalls, ms) = (lab.number(20..=40), lab.number(40..=90));
        let device = stalling(lab, is_faulty, stalls, ms)?;
        let more = ["--set", "depth=4", "--set", "block-size=64k", "--time", "12s"];
        Ok(Complaint::run("seqread-1m", &device, &more))
    }),
    here("few writes stall", &["slow-few"], |lab, is_faulty| {
        let (stalls, ms) = (lab.number(15..=30), lab.number(15..=40));
        let device = stalling(lab, is_faulty, stalls, ms)?;
        let dir = lab.mounted(&device, "noatime")?;
        let more = ["--set", "depth=4", "--set", "size=64M", "--time", "10s"];
        Ok(Complaint::run("randwrite-4k", &dir, &more))
    }),
];

/// A block device of which so many I/Os in a thousand take so long.
fn stalling(lab: &mut Lab, is_faulty: bool, per_mille: u64, ms: u64) -> Result<String> {
    let latency = lab.number(120..=400);
    let share = per_mille as f64 / 1000.0;
    let fault = format!(" + fault(stall={share}, stall_time={ms}ms)");
    let stack = format!("mem(size=256M) + delay(latency={latency}us)");
    let stack = if is_faulty { stack + &fault } else { stack };
    let file = lab.disk("disk", &stack)?;
    lab.block_device(&file, true)
}
