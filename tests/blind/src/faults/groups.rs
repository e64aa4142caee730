//! Control groups: I/O, CPU, memory.

use std::fs;

use anyhow::Result;

use crate::lab::Lab;
use crate::situation::{Complaint, Situation, here};

pub(super) const ALL: [Situation; 4] = [
    here("group limits reads", &["cgroup-io-max"], |lab, is_faulty| {
        let device = lab.slow_device(256, 150)?;
        let limit = if is_faulty { lab.number(150..=900) } else { 1_000_000 };
        let value = format!("{} {limit}", Lab::number_of(&device)?);
        lab.group("blkio", &[("blkio.throttle.read_iops_device", value)])?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=8", "--time", "6s"]))
    }),
    here("group limits writes", &["cgroup-io-max"], |lab, is_faulty| {
        let device = lab.slow_device(256, 150)?;
        let limit = if is_faulty { lab.number(150..=900) } else { 1_000_000 };
        let value = format!("{} {limit}", Lab::number_of(&device)?);
        lab.group("blkio", &[("blkio.throttle.write_iops_device", value)])?;
        let dir = lab.mounted(&device, "noatime")?;
        let more = ["--set", "depth=8", "--set", "size=128M", "--time", "6s"];
        Ok(Complaint::run("randwrite-4k", &dir, &more))
    }),
    here("CPU quota", &["cpu-quota"], |lab, is_faulty| {
        let device = lab.slow_device(256, 100)?;
        let percent = lab.number(8..=20);
        let quota = if is_faulty { 1000 * percent } else { 1_000_000 };
        let files =
            [("cpu.cfs_period_us", "100000".to_owned()), ("cpu.cfs_quota_us", quota.to_string())];
        lab.group("cpu", &files)?;
        Ok(Complaint::run("randread-4k", &device, &["--set", "depth=32", "--time", "6s"]))
    }),
    // A group whose memory holds a part of what is read again and again.
    here("group's memory", &["cgroup-memory"], |lab, is_faulty| {
        let device = lab.slow_device(320, 100)?;
        let dir = lab.mounted(&device, "noatime")?;
        let file = format!("{dir}/data");
        filled(&file, 200 << 20)?;
        // What is in memory already is not the group's.
        let evict = format!("of={file}");
        lab.run(&[
            "dd",
            &evict,
            "oflag=nocache",
            "conv=notrunc,fdatasync",
            "count=0",
            "status=none",
        ])?;
        let limit_mib = if is_faulty { lab.number(60..=110) } else { 4096 };
        lab.group("memory", &[("memory.limit_in_bytes", format!("{limit_mib}M"))])?;
        let job = "fio --name=again --ioengine=psync --rw=randread --bs=64k --size=200m \
                   --invalidate=0 --norandommap --time_based --runtime=8";
        Ok(Complaint::run(job, &file, &["--time", "8s"]))
    }),
];

/// A file without holes.
pub(super) fn filled(file: &str, bytes: usize) -> Result<()> {
    fs::write(file, vec![0xa5; bytes])?;
    fs::File::open(file)?.sync_all()?;
    Ok(())
}
