//! Read-ahead, dirty pages, caches in memory.

use crate::situation::{Complaint, Situation, here};

pub(super) const ALL: [Situation; 4] = [
    // A mapping read from its start, in windows of a few KiB.
    here("short read-ahead", &["read-ahead", "azuredisk-read-ahead"], |lab, is_faulty| {
        let latency = lab.number(200..=500);
        let device = lab.slow_device(384, latency)?;
        let window = [4, 8, 16][usize::try_from(lab.number(0..=2))?];
        let kib = if is_faulty { window } else { 1024 };
        lab.set_queue(&device, "read_ahead_kb", &kib.to_string())?;
        let job = "fio --name=map --ioengine=mmap --rw=read --bs=128k --size=256m --time_based \
                   --runtime=6";
        Ok(Complaint::run(job, &device, &["--time", "6s"]))
    }),
    // Random places of a file, each fetched with a window of MiB around it.
    here("long read-ahead", &["read-ahead-waste"], |lab, is_faulty| {
        let bytes = lab.number(40..=80);
        let file = lab.disk(
            "disk",
            &format!("mem(size=1G) + delay(latency=200us) + throttle(bw={bytes}M)"),
        )?;
        let device = lab.block_device(&file, true)?;
        let kib = if is_faulty { lab.number(1..=4) * 512 } else { 4 };
        lab.set_queue(&device, "read_ahead_kb", &kib.to_string())?;
        let job = "fio --name=places --ioengine=mmap --rw=randread --bs=4k --size=1000m \
                   --fadvise_hint=0 --time_based --runtime=6";
        Ok(Complaint::run(job, &device, &["--time", "6s"]))
    }),
    // Buffered writers that have to wait for a slow disk.
    here("dirty pages", &["dirty-throttling"], |lab, is_faulty| {
        let bytes = lab.number(20..=50);
        let file = lab.disk(
            "disk",
            &format!("mem(size=512M) + delay(latency=200us) + throttle(bw={bytes}M)"),
        )?;
        let device = lab.block_device(&file, true)?;
        let dir = lab.mounted(&device, "noatime")?;
        let limit_mib = lab.number(16..=40);
        if is_faulty {
            lab.set_dirty("dirty_background", (limit_mib << 20) / 2)?;
            lab.set_dirty("dirty", limit_mib << 20)?;
        }
        let job = "fio --name=log --ioengine=psync --rw=write --bs=256k --size=300m --time_based \
                   --runtime=8";
        // A healthy writer writes less than the disk takes.
        let rate = if is_faulty { "0" } else { "4m" };
        let job = format!("{job} --rate={rate}");
        Ok(Complaint::run(&job, &dir, &["--time", "8s"]))
    }),
    // A loop device that keeps its file in the page cache, too.
    here("loop device caches twice", &["loop-double-caching"], |lab, is_faulty| {
        let latency = lab.number(150..=400);
        let file = lab.disk("disk", &format!("mem(size=384M) + delay(latency={latency}us)"))?;
        let device = lab.block_device(&file, !is_faulty)?;
        let job = "fio --name=read --ioengine=psync --rw=randread --bs=16k --size=256m \
                   --time_based --runtime=6";
        Ok(Complaint::run(job, &device, &["--time", "6s"]))
    }),
];
