//! Others who use the same disk or the same CPUs.

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, here};
use anyhow::Result;

pub(super) const ALL: [Situation; 3] = [
    here("another program reads", &["neighbour"], |lab, is_faulty| {
        beside(lab, is_faulty.then_some(["--rw=read", "--bs=256k"]))
    }),
    here("another program writes", &["neighbour"], |lab, is_faulty| {
        beside(lab, is_faulty.then_some(["--rw=randwrite", "--bs=64k"]))
    }),
    // Other programs keep all CPUs busy.
    here("no CPU left", &["cpu-bound"], |lab, is_faulty| {
        let file = lab.path("data");
        super::groups::filled(&file, 128 << 20)?;
        if is_faulty {
            let cpus = std::thread::available_parallelism()?.get();
            for _ in 0..cpus * usize::try_from(lab.number(3..=5))? {
                lab.meanwhile(&["sh", "-c", "while :; do :; done"])?;
            }
        }
        let job = "fio --name=serve --ioengine=psync --rw=randread --bs=4k --size=128m \
                   --invalidate=0 --time_based --runtime=6";
        Ok(Complaint::run(job, &file, &["--time", "6s"]))
    }),
];

/// A program that reads small blocks, and perhaps another one on its disk.
fn beside(lab: &mut Lab, other: Option<[&str; 2]>) -> Result<Complaint> {
    let device = busy_device(lab)?;
    if let Some([order, block]) = other {
        let depth = format!("--iodepth={}", lab.number(4..=16));
        let time = ["--time_based", "--runtime=60"];
        let how = ["--ioengine=libaio", "--direct=1", "--thread"];
        let what = ["fio", "--name=other", "--filename", &device, order, block, &depth];
        lab.meanwhile(&[&what[..], &how, &time].concat())?;
    }
    Ok(Complaint::run("randread-4k", &device, &["--set", "depth=4", "--time", "6s"]))
}

/// A disk with few channels, so that others are felt.
fn busy_device(lab: &mut Lab) -> Result<String> {
    let latency = lab.number(100..=300);
    let stack = format!("mem(size=256M) + flash(channels=2, latency={latency}us, bw=120M)");
    let file = lab.disk("disk", &stack)?;
    lab.block_device(&file, true)
}
