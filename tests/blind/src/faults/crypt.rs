//! dm-crypt, in a guest.

use anyhow::Result;

use crate::lab::Lab;
use crate::situation::{Complaint, Guest, MakeEither, Place, Plant, Situation};

const GUEST: Guest = Guest {
    set_up: "modprobe -a dm-crypt xts",
    programs: &["cryptsetup", "dmsetup", "mkfs.ext4"],
    // Less than what is read.
    memory_bytes: 256 << 20,
};

/// Past the work queues.
const INLINE: [&str; 2] = ["--perf-no_read_workqueue", "--perf-no_write_workqueue"];

/// A search engine in small.
const SEARCHER: [&str; 9] = [
    "download.threads=2",
    "mmap_read.threads=1",
    "mmap_read.size=160M",
    "mmap_read.block-size=4k",
    "mmap_read.start-delay=0s",
    "index.versions=4",
    "index.size=256k",
    "index.queries=20",
    "index.query-size=4k",
];

const fn in_guest(
    name: &'static str,
    causes: &'static [&'static str],
    plant: MakeEither,
) -> Situation {
    Situation {
        name,
        causes,
        of_both: &[],
        place: Place::Guest(GUEST),
        plant: Plant::Either(plant),
    }
}

pub(super) const ALL: [Situation; 4] = [
    // A search engine that reads while its next version is downloaded.
    in_guest("work queues of dm-crypt", &["dm-crypt-workqueues"], |lab, is_faulty| {
        let disk = Lab::guest_disk()?;
        let device =
            if is_faulty { encrypted(lab, &disk, &["--sector-size", "4096"])? } else { disk };
        let dir = lab.mounted(&device, "noatime")?;
        let download = format!("download.size={}M", lab.number(48..=80));
        let settings = SEARCHER.iter().copied().chain([download.as_str()]);
        let more: Vec<&str> =
            settings.flat_map(|setting| ["--set", setting]).chain(["--time", "6s"]).collect();
        Ok(Complaint::run("driver-searcher", &dir, &more))
    }),
    in_guest("dm-crypt in small sectors", &["dm-crypt-small-sectors"], |lab, is_faulty| {
        past_queues(lab, usize::from(is_faulty), "512")
    }),
    in_guest("one dm-crypt", &["encryption-in-path"], |lab, is_faulty| {
        past_queues(lab, usize::from(is_faulty), "4096")
    }),
    in_guest("dm-crypt on dm-crypt", &["encrypted-twice"], |lab, is_faulty| {
        past_queues(lab, 2 * usize::from(is_faulty), "4096")
    }),
];

/// Large reads of a disk under so many encryptions, none of which has work queues.
fn past_queues(lab: &mut Lab, layers: usize, sector_bytes: &str) -> Result<Complaint> {
    let block_size = format!("block-size={}k", 64 << lab.number(0..=4));
    let options = [&INLINE[..], &["--sector-size", sector_bytes]].concat();
    let mut device = Lab::guest_disk()?;
    for _ in 0..layers {
        device = encrypted(lab, &device, &options)?;
    }
    let more = ["--set", &block_size, "--set", "depth=4", "--time", "5s"];
    Ok(Complaint::run("seqread-1m", &device, &more))
}

/// A mapping that encrypts all of a device.
fn encrypted(lab: &mut Lab, device: &str, options: &[&str]) -> Result<String> {
    let name = format!("blind{}", lab.number(0..=u64::MAX));
    let key = lab.path("key");
    std::fs::write(&key, [0x5a; 64])?;
    let open = ["cryptsetup", "open", "--batch-mode", "--type", "plain"];
    let cipher = ["--cipher", "aes-xts-plain64", "--key-size", "512", "--key-file", &key];
    lab.run(&[&open[..], &cipher, options, &[device, &name]].concat())?;
    lab.close_later(&name);
    Ok(format!("/dev/mapper/{name}"))
}
