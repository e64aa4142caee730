//! Queues: too short, too shallow, cut into pieces, flushed too often.

use crate::situation::{Complaint, Situation, here};

pub(super) const ALL: [Situation; 6] = [
    here("I/Os cut into pieces", &["io-split"], |lab, is_faulty| {
        let device = lab.slow_device(256, 200)?;
        let kib = [4, 8, 16][usize::try_from(lab.number(0..=2))?];
        if is_faulty {
            lab.set_queue(&device, "max_sectors_kb", &kib.to_string())?;
        }
        // Several in flight: one at a time would be a cause by itself.
        let load = ["--set", "bs=256k", "--set", "depth=4", "--time", "6s"];
        Ok(Complaint::run("randread-4k", &device, &load))
    }),
    here("queue too short", &["queue-too-short"], |lab, is_faulty| {
        let latency = lab.number(400..=900);
        let device = lab.slow_device(256, latency)?;
        if is_faulty {
            let requests = lab.number(4..=8);
            lab.set_queue(&device, "nr_requests", &requests.to_string())?;
        }
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=64", "--time", "6s"]))
    }),
    // One I/O at a time on a disk that would serve many.
    here("one I/O at a time", &["too-little-parallelism"], |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(256, latency)?;
        let depth = if is_faulty { "depth=1" } else { "depth=32" };
        Ok(Complaint::run("randread-4k", &device, &["--set", depth, "--time", "6s"]))
    }),
    // A program that waits for each write to be safe.
    here("a flush for each write", &["flush-bound", "fsync-network-disk"], |lab, is_faulty| {
        let latency = lab.number(1500..=3000);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, "noatime")?;
        let every = u8::from(is_faulty);
        let job = format!(
            "fio --name=commit --ioengine=psync --rw=write --bs=8k --size=64m --fsync={every} \
             --time_based --runtime=6"
        );
        Ok(Complaint::run(&job, &dir, &["--time", "6s"]))
    }),
    here("mounted with sync", &["sync-mount"], |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, if is_faulty { "noatime,sync" } else { "noatime" })?;
        let job = "fio --name=write --ioengine=psync --rw=randwrite --bs=8k --size=64m \
                   --time_based --runtime=6";
        Ok(Complaint::run(job, &dir, &["--time", "6s"]))
    }),
    // Files are made and deleted, and each change of a directory waits for the disk.
    here("directories written at once", &["sync-mount"], |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, if is_faulty { "noatime,dirsync" } else { "noatime" })?;
        let files = format!("files={}", lab.number(500..=1500));
        Ok(Complaint::run("git-checkout", &dir, &["--set", &files, "--time", "6s"]))
    }),
];
