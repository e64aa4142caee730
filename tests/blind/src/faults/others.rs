//! Others who use the same disk or the same CPUs.

use crate::lab::Lab;
use crate::situation::{Complaint, Situation};
use anyhow::Result;

pub const READER: Situation = Situation {
    name: "another program reads",
    causes: &["neighbour"],
    plant: |lab, is_faulty| {
        let device = busy_device(lab)?;
        if is_faulty {
            let depth = format!("--iodepth={}", lab.number(4..=16));
            lab.meanwhile(&[
                "fio",
                "--name=backup",
                "--filename",
                &device,
                "--rw=read",
                "--bs=256k",
                &depth,
                "--ioengine=libaio",
                "--direct=1",
                "--time_based",
                "--runtime=60",
                "--thread",
            ])?;
        }
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=4", "--time", "6s"]))
    },
};

pub const WRITER: Situation = Situation {
    name: "another program writes",
    causes: &["neighbour"],
    plant: |lab, is_faulty| {
        let device = busy_device(lab)?;
        if is_faulty {
            let depth = format!("--iodepth={}", lab.number(4..=16));
            lab.meanwhile(&[
                "fio",
                "--name=scrub",
                "--filename",
                &device,
                "--rw=randwrite",
                "--bs=64k",
                &depth,
                "--ioengine=libaio",
                "--direct=1",
                "--time_based",
                "--runtime=60",
                "--thread",
            ])?;
        }
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=4", "--time", "6s"]))
    },
};

/// A disk with few channels, so that others are felt.
fn busy_device(lab: &mut Lab) -> Result<String> {
    let latency = lab.number(100..=300);
    let stack = format!("mem(size=256M) + flash(channels=2, latency={latency}us, bw=120M)");
    let file = lab.disk("disk", &stack)?;
    lab.block_device(&file, true)
}

/// Other programs keep all CPUs busy.
pub const CPU: Situation = Situation {
    name: "no CPU left",
    causes: &["cpu-bound"],
    plant: |lab, is_faulty| {
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
    },
};
