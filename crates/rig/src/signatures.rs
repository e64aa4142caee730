//! Signatures on block devices: how to tell a file system or an encrypted volume from blank space,
//! and iotax's own signatures from the user's.
//!
//! Every header that an arm writes has a predetermined identity (UUID). Its first half is the arm's
//! [`Mark`], which is in the journal before anything is made. A signature that is found on a device
//! later is wiped exactly if it has the mark, even if the device has a new name.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_inspect::DeviceNumber;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::programs::Program;
use crate::undone::Undone;

/// How long other programs (such as udev's prober) may block the exclusive opening of a device.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes at the start of a device that contain the superblock of a file system. That of btrfs ends
/// last, at 68 KiB. No more is zeroed, because some storage reads zeros at no cost.
const SUPER_BYTES: u64 = 128 << 10;
/// The same for LUKS with its key slots: LUKS2's take 16 MiB.
const LUKS_BYTES: u64 = 16 << 20;

/// The further places of btrfs's superblock, and the offsets of its magic and identity: see
/// "On-disk Format" in its documentation.
const BTRFS_MIRRORS: [u64; 2] = [64 << 20, 256 << 30];
const BTRFS_SUPER_BYTES: usize = 4096;
const BTRFS_MAGIC: (usize, &[u8; 8]) = (0x40, b"_BHRfS_M");
const BTRFS_FSID: usize = 0x20;

/// The first half of all identities that one arm writes: random, 60 bits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Result<Self, Error> {
        let bits = random()?;
        // The version of a random UUID (RFC 9562) takes four of the bits.
        let (low, mid, high) = (bits >> 32, bits >> 16 & 0xffff, bits & 0xfff);
        Ok(Self(format!("{low:08x}-{mid:04x}-4{high:03x}")))
    }

    /// A UUID with the mark.
    pub(crate) fn uuid(&self) -> Result<String, Error> {
        let bits = random()?;
        let (high, low) = (bits >> 48 & 0xfff, bits & 0xffff_ffff_ffff);
        Ok(format!("{}-8{high:03x}-{low:012x}", self.0))
    }

    fn is_on(&self, signature: &Signature) -> bool {
        let uuid = signature.uuid.as_deref().unwrap_or_default();
        uuid.strip_prefix(&self.0).is_some_and(|rest| rest.starts_with('-'))
    }

    /// As bytes in a header.
    fn bytes(&self) -> Vec<u8> {
        let digits: Vec<u8> = self.0.bytes().filter(|byte| *byte != b'-').collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        digits.chunks(2).filter_map(byte).collect()
    }
}

fn random() -> Result<u64, Error> {
    getrandom::u64().map_err(Error::cannot("generate an identity", Path::new("/dev/urandom")))
}

/// One signature on a device.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Signature {
    /// What is there: `ext4`, `crypto_LUKS`, `LVM2_member`, `gpt`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// `filesystem`, `partition-table`, `crypto`, `raid` (LVM too), `other`.
    pub(crate) usage: Option<String>,
    pub(crate) uuid: Option<String>,
    pub(crate) label: Option<String>,
}

/// Every signature on the device or file at `node` that libblkid knows. Only reads.
pub(crate) fn signatures(node: &Path) -> Result<Vec<Signature>, Error> {
    #[derive(Deserialize)]
    struct Listing {
        signatures: Vec<Signature>,
    }
    let wipefs =
        Program::new("wipefs").args(["--no-act", "--json", "--output", "TYPE,USAGE,UUID,LABEL"]);
    let said = wipefs.arg(node).run("", &AtomicBool::new(false))?;
    if said.is_empty() {
        return Ok(Vec::new());
    }
    let listing: Listing = serde_json::from_str(&said).map_err(|_| Error::Program {
        name: "wipefs".to_owned(),
        status: "unexpected output".to_owned(),
        said,
    })?;
    Ok(listing.signatures)
}

/// Where signatures with a mark may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spot {
    /// The device's node.
    pub(crate) path: PathBuf,
    /// Its number, `8:16`. Names and numbers are valid until the next boot.
    pub(crate) number: String,
    /// The boot for which they are valid.
    pub(crate) boot: String,
}

impl Spot {
    pub(crate) fn new(path: &Path, number: DeviceNumber) -> Self {
        Self { path: path.to_owned(), number: number.to_string(), boot: boot() }
    }

    /// The nodes of the devices that it may be now.
    fn nodes(&self) -> Vec<PathBuf> {
        if self.boot == boot() {
            let by_name = node_of(&Path::new("/sys/dev/block").join(&self.number));
            return if number_of(&self.path).is_some_and(|number| number.to_string() == self.number)
            {
                vec![self.path.clone()]
            } else {
                by_name.into_iter().collect()
            };
        }
        let all = fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
        let has_size = |device: &PathBuf| {
            fs::read_to_string(device.join("size")).is_ok_and(|size| size.trim() != "0")
        };
        all.map(|device| device.path()).filter(has_size).filter_map(|d| node_of(&d)).collect()
    }
}

fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// The number of the block device at a path, whatever link leads there.
pub(crate) fn number_of(path: &Path) -> Option<DeviceNumber> {
    let facts = fs::metadata(path).ok().filter(|facts| facts.file_type().is_block_device())?;
    let number = facts.rdev();
    Some(DeviceNumber { major: rustix::fs::major(number), minor: rustix::fs::minor(number) })
}

/// The node of the device with this directory in sysfs.
fn node_of(directory: &Path) -> Option<PathBuf> {
    let directory = fs::canonicalize(directory).ok()?;
    let node = Path::new("/dev").join(directory.file_name()?);
    node.exists().then_some(node)
}

/// Wipes what has the mark, wherever it is now, and nothing else.
pub(crate) fn undo(spot: &Spot, mark: &Mark, journal: &Path) -> Result<Undone, Error> {
    let nodes = spot.nodes();
    // After a reboot, a device of that name counts as the device if no other has the mark.
    let is_lost = if spot.boot == boot() { nodes.is_empty() } else { !spot.path.exists() };
    let ours: Vec<_> = nodes.into_iter().filter(|node| bears(node, mark)).collect();
    if ours.is_empty() && is_lost {
        let (path, journal) = (spot.path.clone(), journal.to_owned());
        return Err(Error::DeviceGone { path, journal });
    }
    for node in &ours {
        wipe(node, mark, journal)?;
    }
    Ok(if ours.is_empty() { Undone::Absent } else { Undone::Removed })
}

fn bears(node: &Path, mark: &Mark) -> bool {
    signatures(node).is_ok_and(|found| found.iter().any(|signature| mark.is_on(signature)))
}

fn wipe(node: &Path, mark: &Mark, journal: &Path) -> Result<(), Error> {
    let failed = |source: io::Error| Error::unremovable(node, source, journal);
    let device = open_exclusively(node, journal)?;
    // Checked again, now that nobody else can replace it.
    let found = signatures(node)?;
    if found.iter().any(|signature| !mark.is_on(signature)) {
        return Err(Error::not_ours(
            node,
            "it also has a signature that iotax did not write",
            journal,
        ));
    }
    let size_bytes = size_of(&device).map_err(failed)?;
    let is_luks = found.iter().any(|signature| signature.kind == "crypto_LUKS");
    let head_bytes = if is_luks { LUKS_BYTES } else { SUPER_BYTES };
    zero(&device, 0, head_bytes.min(size_bytes)).map_err(failed)?;
    for at in BTRFS_MIRRORS.into_iter().filter(|at| at + 4096 <= size_bytes) {
        let mut copy = [0; BTRFS_SUPER_BYTES];
        device.read_exact_at(&mut copy, at).map_err(failed)?;
        if copy[BTRFS_MAGIC.0..].starts_with(BTRFS_MAGIC.1)
            && copy[BTRFS_FSID..].starts_with(&mark.bytes())
        {
            zero(&device, at, BTRFS_SUPER_BYTES as u64).map_err(failed)?;
        }
    }
    device.sync_all().map_err(failed)?;
    if bears(node, mark) {
        return Err(failed(io::Error::other("its signature is still there after wiping")));
    }
    Ok(())
}

fn open_exclusively(node: &Path, journal: &Path) -> Result<File, Error> {
    let started = Instant::now();
    let flags = OFlags::EXCL.bits().cast_signed();
    loop {
        match OpenOptions::new().read(true).write(true).custom_flags(flags).open(node) {
            Ok(device) => return Ok(device),
            Err(error) if error.kind() != io::ErrorKind::ResourceBusy => {
                return Err(Error::unremovable(node, error, journal));
            }
            Err(_) if started.elapsed() < PATIENCE => sleep(Duration::from_millis(50)),
            Err(_) => return Err(Error::busy(node, journal)),
        }
    }
}

/// Size of a device, which its metadata do not contain.
pub(crate) fn size_of(mut device: &File) -> io::Result<u64> {
    io::Seek::seek(&mut device, io::SeekFrom::End(0))
}

fn zero(device: &File, from: u64, bytes: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 20];
    let mut at = from;
    while at < from + bytes {
        let part = (from + bytes - at).min(zeros.len() as u64);
        let part = usize::try_from(part).expect("at most a MiB");
        device.write_all_at(&zeros[..part], at)?;
        at += part as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(uuid: &str) -> Signature {
        Signature { kind: "ext4".into(), usage: None, uuid: Some(uuid.into()), label: None }
    }

    #[test]
    fn identities_are_random_uuids_that_bear_the_mark() {
        let (mark, other) = (Mark::new().unwrap(), Mark::new().unwrap());
        let uuid = mark.uuid().unwrap();
        assert_ne!(uuid, mark.uuid().unwrap());
        assert_eq!(uuid.len(), 36);
        assert_eq!((&uuid[14..15], &uuid[19..20]), ("4", "8"), "version and variant: {uuid}");
        assert!(mark.is_on(&signature(&uuid)) && !other.is_on(&signature(&uuid)));
        assert!(!mark.is_on(&signature(&uuid[1..])));
        assert!(!mark.is_on(&Signature { uuid: None, ..signature("") }));
        assert_eq!(mark.bytes().len(), 8);
        assert!(uuid.replace('-', "").starts_with(&format!("{:02x}", mark.bytes()[0])));
    }

    #[test]
    fn a_device_that_is_gone_keeps_its_entry() {
        let spot = Spot { path: "/dev/no-such".into(), number: "4095:1".into(), boot: boot() };
        let error = undo(&spot, &Mark::new().unwrap(), Path::new("/state/1.jsonl")).unwrap_err();
        insta::assert_snapshot!(error, @"/dev/no-such: the device is missing, and no other device has the data that iotax wrote to it. Attach the device and run iotax undo again, or delete /state/1.jsonl to make iotax forget the device");
    }

    /// The device with a file system on it; detached when dropped.
    struct Formatted {
        file: tempfile::NamedTempFile,
        node: PathBuf,
    }

    impl Formatted {
        /// `None`, said loudly, without root.
        fn new(uuid: &str) -> Option<Self> {
            let file = tempfile::NamedTempFile::new().unwrap();
            file.as_file().set_len(16 << 20).unwrap();
            let run = |program: Program| program.run("", &AtomicBool::new(false));
            run(Program::new("mkfs.ext4").args(["-q", "-F", "-U", uuid]).arg(file.path())).ok()?;
            let losetup = Program::new("losetup").args(["--find", "--show"]).arg(file.path());
            let Ok(node) = run(losetup) else {
                iotax_testing::skipped("loop devices need root");
                return None;
            };
            Some(Self { file, node: node.into() })
        }
    }

    impl Drop for Formatted {
        fn drop(&mut self) {
            let detach = Program::new("losetup").arg("--detach").arg(&self.node);
            let _ = detach.run("", &AtomicBool::new(false));
        }
    }

    #[test]
    fn after_a_restart_the_mark_is_found_whatever_the_device_is_called() {
        let (mark, journal) = (Mark::new().unwrap(), Path::new("/state/1.jsonl"));
        let Some(ours) = Formatted::new(&mark.uuid().unwrap()) else { return };
        let Some(theirs) = Formatted::new(&Mark::new().unwrap().uuid().unwrap()) else { return };
        let before = fs::read(theirs.file.path()).unwrap();
        // The name that ours had is another's now.
        let spot = Spot { path: theirs.node.clone(), number: "7:0".into(), boot: "before".into() };
        assert_eq!(undo(&spot, &mark, journal).unwrap(), Undone::Removed);
        assert_eq!(signatures(&ours.node).unwrap(), []);
        assert!(fs::read(theirs.file.path()).unwrap() == before);
        assert_eq!(undo(&spot, &mark, journal).unwrap(), Undone::Absent);
    }

    #[test]
    fn signatures_are_listed_with_kind_identity_and_label() {
        if !iotax_testing::needs_program("wipefs") {
            return;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        assert_eq!(signatures(file.path()).unwrap(), []);
        // A swap area of version 1: its magic ends the first page.
        let swap = [(1024, &b"\x01\0\0\0\xff\0\0\0"[..]), (1036, &[7; 16]), (4086, b"SWAPSPACE2")];
        for (at, bytes) in swap {
            file.as_file().write_all_at(bytes, at).unwrap();
        }
        let uuid = "07070707-0707-0707-0707-070707070707".to_owned();
        let (kind, usage) = ("swap".to_owned(), Some("other".to_owned()));
        let swap = Signature { kind, usage, uuid: Some(uuid), label: None };
        assert_eq!(signatures(file.path()).unwrap(), [swap]);
    }
}
