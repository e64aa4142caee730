//! Queues: too short, too shallow, cut into pieces, flushed too often.

use crate::situation::{Complaint, Place, Situation};

pub(super) const SPLIT: Situation = Situation {
    name: "I/Os cut into pieces",
    causes: &["io-split"],
    place: Place::Here,
    plant: |lab, is_faulty| {
        let device = lab.slow_device(256, 200)?;
        let kib = [4, 8, 16][usize::try_from(lab.number(0..=2))?];
        if is_faulty {
            lab.set_queue(&device, "max_sectors_kb", &kib.to_string())?;
        }
        Ok(Complaint::run("randread-4k", &device, &["--set", "bs=256k", "--time", "6s"]))
    },
};

pub(super) const SHORT: Situation = Situation {
    name: "queue too short",
    causes: &["queue-too-short"],
    place: Place::Here,
    plant: |lab, is_faulty| {
        let latency = lab.number(400..=900);
        let device = lab.slow_device(256, latency)?;
        if is_faulty {
            let requests = lab.number(4..=8);
            lab.set_queue(&device, "nr_requests", &requests.to_string())?;
        }
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=64", "--time", "6s"]))
    },
};

/// One I/O at a time on a disk that would serve many.
pub(super) const SHALLOW: Situation = Situation {
    name: "one I/O at a time",
    causes: &["too-little-parallelism"],
    place: Place::Here,
    plant: |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(256, latency)?;
        let depth = if is_faulty { "depth=1" } else { "depth=32" };
        Ok(Complaint::run("randread-4k", &device, &["--set", depth, "--time", "6s"]))
    },
};

/// A program that waits for each write to be safe.
pub(super) const FLUSHES: Situation = Situation {
    name: "a flush for each write",
    causes: &["flush-bound", "fsync-network-disk"],
    place: Place::Here,
    plant: |lab, is_faulty| {
        let latency = lab.number(1500..=3000);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, "noatime")?;
        let every = u8::from(is_faulty);
        let job = format!(
            "fio --name=commit --ioengine=psync --rw=write --bs=8k --size=64m --fsync={every} \
             --time_based --runtime=6"
        );
        Ok(Complaint::run(&job, &dir, &["--time", "6s"]))
    },
};

pub(super) const SYNC_MOUNT: Situation = Situation {
    name: "mounted with sync",
    causes: &["sync-mount"],
    place: Place::Here,
    plant: |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, if is_faulty { "noatime,sync" } else { "noatime" })?;
        let job = "fio --name=write --ioengine=psync --rw=randwrite --bs=8k --size=64m \
                   --time_based --runtime=6";
        Ok(Complaint::run(job, &dir, &["--time", "6s"]))
    },
};

/// Files are made and deleted, and each change of a directory waits for the disk.
pub(super) const SYNC_DIRECTORIES: Situation = Situation {
    name: "directories written at once",
    causes: &["sync-mount"],
    place: Place::Here,
    plant: |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, if is_faulty { "noatime,dirsync" } else { "noatime" })?;
        let files = format!("files={}", lab.number(500..=1500));
        Ok(Complaint::run("git-checkout", &dir, &["--set", &files, "--time", "6s"]))
    },
};
