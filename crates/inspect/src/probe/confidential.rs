//! Detects whether this machine's memory is hidden from its host, and reads the state of the bounce
//! buffers between it and its devices.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use iotax_record::CloudInstance;
use iotax_record::machine::{Confidential, Swiotlb, Unseen};
use rustix::fs::OFlags;

use crate::block::{names_in, number_in, text_in};
use crate::machine::{Cpuinfo, has_flag};

/// `IO_TLB_SIZE`, the size of a slot.
const SLOT_BYTES: u64 = 1 << 11;
/// The longest record of the kernel log, and more records than it can hold.
const RECORD_BYTES: usize = 8 << 10;
const MOST_RECORDS: usize = 100_000;
/// Largest number of log lines to keep.
const MOST_LINES: usize = 20;
/// Words in lines about bounce buffers, in lower case.
const WORDS: [&str; 4] = ["swiotlb", "memory encryption", "bounce buffer", "bounce-buffer"];

/// Reads the system with this root. The log and the pool's use matter only if memory is hidden.
pub(super) fn confidential(
    root: &Path,
    cloud: Option<&CloudInstance>,
    unseen: &mut Vec<Unseen>,
) -> Confidential {
    let swiotlb = swiotlb(&root.join("sys/kernel/debug/swiotlb"));
    let Some((kind, seen_in)) = kind(root).or_else(|| by_cloud(cloud?)) else {
        return Confidential { swiotlb, ..Confidential::default() };
    };
    if swiotlb.is_none() {
        unseen.push(Unseen::new(
            "peak use of the bounce buffer pool",
            "as root: cat /sys/kernel/debug/swiotlb/io_tlb_used_hiwater",
        ));
    }
    let log = log(&root.join("dev/kmsg"));
    if log.is_none() {
        unseen.push(Unseen::new(
            "kernel log messages about bounce buffers",
            "as root: dmesg | grep -i -e swiotlb -e bounce",
        ));
    }
    Confidential { kind: Some(kind), seen_in: Some(seen_in), swiotlb, log: log.unwrap_or_default() }
}

/// The type, and where it was found.
fn kind(root: &Path) -> Option<(String, String)> {
    let told = |kind: &str, path: &str| Some((kind.to_owned(), format!("/{path}")));
    for (path, kind) in
        [("dev/sev-guest", "SEV-SNP"), ("dev/tdx_guest", "TDX"), ("dev/tdx-guest", "TDX")]
    {
        if root.join(path).exists() {
            return told(kind, path);
        }
    }
    let reports = "sys/kernel/config/tsm/report";
    for name in names_in(&root.join(reports)) {
        let path = format!("{reports}/{name}/provider");
        match text_in(&root.join(&path)).as_deref() {
            Some("sev_guest") => return told("SEV-SNP", &path),
            Some("tdx_guest") => return told("TDX", &path),
            _ => {}
        }
    }
    let cpuinfo = "proc/cpuinfo";
    by_flags(&fs::read_to_string(root.join(cpuinfo)).unwrap_or_default())
        .and_then(|kind| told(kind, cpuinfo))
}

/// Hosts have the SEV flags, too: there they show what guests could have.
fn by_flags(cpuinfo: &str) -> Option<&'static str> {
    let flags = Cpuinfo::parse(cpuinfo).flags?;
    let kinds =
        [("tdx_guest", "TDX"), ("sev_snp", "SEV-SNP"), ("sev_es", "SEV-ES"), ("sev", "SEV")];
    let found = kinds.iter().find(|(flag, _)| has_flag(&flags, flag));
    found.filter(|_| has_flag(&flags, "hypervisor")).map(|(_, kind)| *kind)
}

/// If a paravisor hides it from the guest, the cloud still reports it.
fn by_cloud(cloud: &CloudInstance) -> Option<(String, String)> {
    let security = cloud.security_type.as_ref().filter(|kind| *kind == "ConfidentialVM")?;
    Some((security.clone(), format!("securityProfile.securityType in {}'s metadata", cloud.cloud)))
}

fn swiotlb(directory: &Path) -> Option<Swiotlb> {
    let bytes = |name: &str| number_in(&directory.join(name))?.checked_mul(SLOT_BYTES);
    Some(Swiotlb {
        size_bytes: bytes("io_tlb_nslabs")?,
        used_bytes: bytes("io_tlb_used")?,
        most_used_bytes: bytes("io_tlb_used_hiwater"),
    })
}

/// The lines about bounce buffers; `None` if this user may not read the log.
fn log(path: &Path) -> Option<Vec<String>> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("open flags fit in an int");
    let mut log = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let mut lines = Vec::new();
    for _ in 0..MOST_RECORDS {
        match record(&mut log) {
            Ok(record) => lines.extend(message(&record).map(str::to_owned)),
            // Overwritten during the read; the next record is there.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            // No more records so far.
            Err(_) => break,
        }
        if lines.len() == MOST_LINES {
            break;
        }
    }
    Some(lines)
}

/// One record: each read returns one.
fn record(log: &mut File) -> std::io::Result<String> {
    let mut record = vec![0; RECORD_BYTES];
    let length = log.read(&mut record)?;
    if length == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&record[..length]).into_owned())
}

/// The text of `6,339,5140900,-;TEXT`, which has lines of keys below it, if it is about bounce
/// buffers.
fn message(record: &str) -> Option<&str> {
    let (_, text) = record.lines().next()?.split_once(';')?;
    let lower = text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn seen(files: &[(&str, &str)]) -> (Confidential, Vec<Unseen>) {
        let mut unseen = Vec::new();
        (confidential(root(files).path(), None, &mut unseen), unseen)
    }

    #[test]
    fn each_place_tells_the_kind() {
        let provider = "sys/kernel/config/tsm/report/a/provider";
        for (path, text, kind) in [
            ("dev/sev-guest", "", "SEV-SNP"),
            ("dev/tdx_guest", "", "TDX"),
            ("dev/tdx-guest", "", "TDX"),
            (provider, "tdx_guest\n", "TDX"),
            (provider, "sev_guest\n", "SEV-SNP"),
            ("proc/cpuinfo", "flags : hypervisor sev sev_es sev_snp\n", "SEV-SNP"),
            ("proc/cpuinfo", "flags : hypervisor tdx_guest\n", "TDX"),
        ] {
            let found = seen(&[(path, text)]).0;
            assert_eq!(found.kind.as_deref(), Some(kind), "{path}");
            assert_eq!(found.seen_in.unwrap(), format!("/{path}"));
        }
    }

    #[test]
    fn a_host_that_could_hide_guests_is_not_hidden_and_nothing_is_unseen_there() {
        let found = seen(&[("proc/cpuinfo", "flags : sev sev_es sev_snp\n")]);
        assert_eq!(found, (Confidential::default(), Vec::new()));
    }

    #[test]
    fn the_cloud_tells_what_a_paravisor_hides() {
        let cloud = CloudInstance {
            cloud: "Azure".to_owned(),
            security_type: Some("ConfidentialVM".to_owned()),
            ..CloudInstance::default()
        };
        let mut unseen = Vec::new();
        let found = confidential(Path::new("/no/such/root"), Some(&cloud), &mut unseen);
        assert_eq!(found.kind.as_deref(), Some("ConfidentialVM"));
        assert_eq!(unseen.len(), 2, "{unseen:?}");
    }

    #[test]
    fn the_pool_is_in_bytes_and_the_log_is_only_of_bounce_buffers() {
        let pool = "sys/kernel/debug/swiotlb";
        let (found, unseen) = seen(&[
            ("dev/sev-guest", ""),
            // A file gives all its text at once, so that it is one record.
            (
                "dev/kmsg",
                "6,1,2,-;software IO TLB: SWIOTLB bounce buffer size adjusted to 1024MB\n",
            ),
            (&format!("{pool}/io_tlb_nslabs"), "524288\n"),
            (&format!("{pool}/io_tlb_used"), "16\n"),
            (&format!("{pool}/io_tlb_used_hiwater"), "32\n"),
        ]);
        let expected =
            Swiotlb { size_bytes: 1 << 30, used_bytes: 32 << 10, most_used_bytes: Some(64 << 10) };
        assert_eq!(found.swiotlb, Some(expected));
        assert_eq!(found.log, ["software IO TLB: SWIOTLB bounce buffer size adjusted to 1024MB"]);
        assert_eq!(unseen, []);
    }

    #[test]
    fn other_records_are_no_messages_of_bounce_buffers() {
        let yes = "6,7,8,-;Memory Encryption Features active: AMD SEV\n SUBSYSTEM=x\n";
        assert_eq!(message(yes), Some("Memory Encryption Features active: AMD SEV"));
        assert_eq!(message("6,7,8,-;usb 1-1: swapped\n SUBSYSTEM=swiotlb\n"), None);
        assert_eq!(message("swiotlb"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*") {
            message(&text);
            message(&format!(";{text}swiotlb"));
            by_flags(&text);
            by_flags(&format!("flags: hypervisor {text}"));
        }
    }
}
