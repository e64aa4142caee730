//! Healthy setups with something about them that looks like a fault and costs nothing.

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, healthy};

pub(super) const ALL: [Situation; 12] = [
    healthy("reads from a mount with sync", |lab| {
        let device = lab.slow_device(256, 200)?;
        let dir = lab.mounted(&device, "noatime,sync")?;
        let more = ["--set", "depth=16", "--set", "size=64M", "--time", "6s"];
        Ok(Complaint::run("randread-4k", &dir, &more))
    }),
    healthy("a group's limit far above", |lab| {
        let device = lab.slow_device(256, 300)?;
        let limit = lab.number(200_000..=900_000);
        let value = format!("{} {limit}", Lab::number_of(&device)?);
        lab.group("blkio", &[("blkio.throttle.read_iops_device", value)])?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=16", "--time", "6s"]))
    }),
    healthy("another program reads now and then", |lab| {
        let latency = lab.number(100..=300);
        let file = lab.disk("disk", &format!("mem(size=256M) + delay(latency={latency}us)"))?;
        let device = lab.block_device(&file, true)?;
        let rate = format!("--rate_iops={}", lab.number(10..=40));
        let what =
            ["fio", "--name=other", "--filename", &device, "--rw=randread", "--bs=4k", &rate];
        let how = ["--ioengine=libaio", "--direct=1", "--thread", "--time_based", "--runtime=60"];
        lab.meanwhile(&[&what[..], &how].concat())?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=8", "--time", "6s"]))
    }),
    healthy("one CPU is busy elsewhere", |lab| {
        lab.burn_cpus(1)?;
        let device = lab.plain_device(256)?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=8", "--time", "6s"]))
    }),
    healthy("a short read-ahead under direct reads", |lab| {
        let latency = lab.number(200..=500);
        let device = lab.slow_device(256, latency)?;
        lab.set_queue(&device, "read_ahead_kb", "4")?;
        Ok(Complaint::run("seqread-1m", &device, &["--set", "depth=8", "--time", "6s"]))
    }),
    healthy("a slow disk with many in flight", |lab| {
        let latency = lab.number(2_000..=8_000);
        let device = lab.slow_device(256, latency)?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=64", "--time", "6s"]))
    }),
    healthy("a sync now and then", |lab| {
        let latency = lab.number(500..=1000);
        let device = lab.slow_device(384, latency)?;
        let dir = lab.mounted(&device, "noatime")?;
        let job = "fio --name=log --ioengine=psync --rw=write --bs=8k --size=64m --fsync=2000 --rate=2m \
                   --time_based --runtime=6";
        Ok(Complaint::run(job, &dir, &["--time", "6s"]))
    }),
    healthy("reads and writes of unlike speed", |lab| {
        let latency = lab.number(150..=400);
        let device = lab.slow_device(256, latency)?;
        let dir = lab.mounted(&device, "noatime")?;
        let job = "fio --name=mixed --ioengine=libaio --direct=1 --iodepth=8 --rw=randrw --rwmixread=70 --bs=4k \
                   --size=64m --time_based --runtime=6";
        Ok(Complaint::run(job, &dir, &["--time", "6s"]))
    }),
    healthy("two disks that are equal", |lab| {
        let latency = lab.number(150..=500);
        let stack = format!("mem(size=256M) + delay(latency={latency}us)");
        pair(lab, &stack, &stack, "depth=8")
    }),
    // The one is far away, and nothing limits it.
    healthy("a disk that is farther away", |lab| {
        let near = format!("mem(size=256M) + delay(latency={}us)", lab.number(150..=300));
        let far = format!("mem(size=256M) + delay(latency={}us)", lab.number(2_000..=4_000));
        pair(lab, &near, &far, "depth=16")
    }),
    healthy("an offered rate that is kept", |lab| {
        let latency = lab.number(150..=500);
        let device = lab.slow_device(256, latency)?;
        let rate = format!("rate={}", lab.number(500..=1500));
        let more = ["--set", "depth=16", "--set", &rate, "--time", "12s"];
        Ok(Complaint::run("randread-4k", &device, &more))
    }),
    healthy("a queue that is short and long enough", |lab| {
        let latency = lab.number(300..=700);
        let device = lab.slow_device(256, latency)?;
        lab.set_queue(&device, "nr_requests", "32")?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=16", "--time", "6s"]))
    }),
];

fn pair(lab: &mut Lab, one: &str, other: &str, depth: &str) -> anyhow::Result<Complaint> {
    let one = format!("one={}", lab.disk("one", one)?);
    let other = format!("other={}", lab.disk("other", other)?);
    let more = ["--set", depth, "--time", "4s", "--ramp", "1s", "--max-blocks", "4"];
    Ok(Complaint::compare("randread-4k", &[&one, &other], &more))
}
