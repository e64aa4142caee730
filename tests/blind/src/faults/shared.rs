//! What several use: CPUs that a syncing program wants, a disk with two jobs, limits of groups in
//! bytes, a mount that is limited beside one that is not.

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, here};

pub(super) const ALL: [Situation; 8] = [
    // The disk flushes in no time: the program waits for a CPU.
    here("no CPU left to sync", &["cpu-bound"], |lab, is_faulty| {
        let device = lab.plain_device(256)?;
        let dir = lab.mounted(&device, "noatime")?;
        if is_faulty {
            let many = usize::try_from(lab.number(4..=6))?;
            lab.burn_cpus(many)?;
        }
        // A healthy one syncs now and then.
        let every = u8::from(is_faulty);
        let rate = if is_faulty { "0" } else { "200k" };
        let job = format!(
            "fio --name=commit --ioengine=psync --rw=write --bs=8k --size=64m --fsync={every} --rate={rate} \
             --time_based --runtime=6"
        );
        Ok(Complaint::run(&job, &dir, &["--time", "6s"]))
    }),
    here("a writer beside a reader", &["saturated-device"], |lab, is_faulty| {
        let latency = lab.number(100..=250);
        let stack = format!("mem(size=512M) + flash(channels=2, latency={latency}us, bw=100M)");
        let file = lab.disk("disk", &stack)?;
        let device = lab.block_device(&file, true)?;
        let dir = lab.mounted(&device, "noatime")?;
        let writer = "--name=copy --ioengine=libaio --direct=1 --rw=write --bs=1m --iodepth=8 --size=128m \
                      --time_based --runtime=8";
        let reader = "--name=serve --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=4 --size=64m \
                      --time_based --runtime=8";
        let job =
            if is_faulty { format!("fio {reader} {writer}") } else { format!("fio {reader}") };
        Ok(Complaint::run(&job, &dir, &["--time", "8s"]))
    }),
    here("group limits bytes read", &["cgroup-io-max"], |lab, is_faulty| {
        let device = lab.slow_device(256, 150)?;
        let limit = if is_faulty { lab.number(3..=12) << 20 } else { 4 << 30 };
        let value = format!("{} {limit}", Lab::number_of(&device)?);
        lab.group("blkio", &[("blkio.throttle.read_bps_device", value)])?;
        let more = ["--set", "depth=8", "--set", "block-size=64k", "--time", "6s"];
        Ok(Complaint::run("seqread-1m", &device, &more))
    }),
    here("group limits bytes written", &["cgroup-io-max"], |lab, is_faulty| {
        let device = lab.slow_device(256, 150)?;
        let limit = if is_faulty { lab.number(3..=12) << 20 } else { 4 << 30 };
        let value = format!("{} {limit}", Lab::number_of(&device)?);
        lab.group("blkio", &[("blkio.throttle.write_bps_device", value)])?;
        let dir = lab.mounted(&device, "noatime")?;
        let more = ["--set", "depth=8", "--set", "size=128M", "--time", "6s"];
        Ok(Complaint::run("randwrite-4k", &dir, &more))
    }),
    // Two mounts under one load, of which one has a limit that nobody tells of.
    here("a mount with a limit on I/Os", &["throttle"], |lab, is_faulty| {
        let iops = lab.number(900..=2500);
        beside(lab, is_faulty.then(|| format!("throttle(iops={iops})")), "4k")
    }),
    here("a mount with a limit on bytes", &["throttle"], |lab, is_faulty| {
        let bytes = lab.number(20..=60);
        beside(lab, is_faulty.then(|| format!("throttle(bw={bytes}M)")), "16k")
    }),
    here("one write at a time", &["too-little-parallelism"], |lab, is_faulty| {
        let latency = lab.number(500..=1500);
        let device = lab.slow_device(256, latency)?;
        let dir = lab.mounted(&device, "noatime")?;
        let depth = if is_faulty { "depth=1" } else { "depth=32" };
        let more = ["--set", depth, "--set", "size=64M", "--time", "6s"];
        Ok(Complaint::run("randwrite-4k", &dir, &more))
    }),
    here("files read in small steps", &["read-ahead", "azuredisk-read-ahead"], |lab, is_faulty| {
        let latency = lab.number(200..=500);
        let device = lab.slow_device(512, latency)?;
        let dir = lab.mounted(&device, "noatime")?;
        let window = [4, 8, 16][usize::try_from(lab.number(0..=2))?];
        let kib = if is_faulty { window } else { 1024 };
        lab.set_queue(&device, "read_ahead_kb", &kib.to_string())?;
        let job = "fio --name=scan --ioengine=psync --rw=read --bs=4k --size=400m --time_based --runtime=6";
        Ok(Complaint::run(job, &dir, &["--time", "6s"]))
    }),
];

/// The same load on a disk and on another one, which may have a limit.
fn beside(lab: &mut Lab, limit: Option<String>, block_size: &str) -> anyhow::Result<Complaint> {
    let stack = "mem(size=256M) + delay(latency=150us)";
    let free = lab.disk("free", stack)?;
    let other = limit.map_or_else(|| stack.to_owned(), |limit| format!("{stack} + {limit}"));
    let other = lab.disk("other", &other)?;
    let arms = [format!("free={free}"), format!("other={other}")];
    let block_size = format!("block-size={block_size}");
    let more = [
        "--set", "depth=8", "--set", &block_size, "--time", "4s", "--ramp", "1s", "--max-blocks",
        "4",
    ];
    Ok(Complaint::compare("randread-4k", &[&arms[0], &arms[1]], &more))
}
