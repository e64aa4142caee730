//! Time that passes above the disk: between two devices of the stack, or above all of them.

use iotax_record::machine::{Crypt, Device, Mapping};

use crate::diagnosis::case::{Case, served};
use crate::diagnosis::suspect::{Confidence, Suspect};
use crate::words::percent;

/// Less of an I/O's time is no cause.
const SHARE: f64 = 0.25;
/// So much is.
const MOST: f64 = 0.5;

/// One device of the stack keeps I/Os for much longer than the one it lies on.
pub(super) fn time_between_devices(case: &Case<'_>) -> Option<Suspect> {
    let seen = case.devices_seen();
    let crypts: Vec<&Crypt> = seen
        .iter()
        .filter_map(|device| device.mapping.as_ref())
        .flat_map(Mapping::crypts)
        .collect();
    let pairs = case.devices().windows(2).filter_map(|pair| {
        let [upper, lower] = pair else { return None };
        let (above, rate) = served(&upper.figures);
        let (below, _) = served(&lower.figures);
        let device = *seen.iter().find(|device| device.name == upper.name)?;
        let share = (above - below) / case.latency_ms().max(above);
        (rate > 0.0 && share > SHARE).then_some(())?;
        let to_blame = blamed(case, device, &crypts)?;
        Some((to_blame, device, share, above, below, &lower.name))
    });
    let (to_blame, device, share, above, below, lower) =
        pairs.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let confidence = if share > MOST { Confidence::Sure } else { Confidence::Likely };
    let evidence = format!(
        "an I/O took {above:.3} ms at {} and {below:.3} ms at {lower} below it: {} of its time \
         passed in between",
        device.name,
        percent(share)
    );
    let twice = (crypts.len() > 1).then(|| format!("{} layers encrypt", crypts.len()));
    Some(Suspect::new(to_blame, confidence, evidence).explaining(share).and(twice))
}

/// What a device that keeps I/Os does with them.
fn blamed(case: &Case<'_>, device: &Device, crypts: &[&Crypt]) -> Option<&'static str> {
    let mapping = device.mapping.as_ref();
    if mapping.is_some_and(Mapping::is_crypt) {
        let own: Vec<&Crypt> = mapping.iter().flat_map(|mapping| mapping.crypts()).collect();
        let queues = |crypt: &&Crypt| {
            let reads = case.job.reads() && !crypt.has("no_read_workqueue");
            reads || case.job.writes() && !crypt.has("no_write_workqueue")
        };
        let is_queued = own.iter().any(queues);
        return Some(match () {
            () if crypts.len() > 1 => "encrypted-twice",
            () if is_queued => "dm-crypt-workqueues",
            () if own.iter().any(|crypt| crypt.sector_bytes < 4096) => "dm-crypt-small-sectors",
            () => "encryption-in-path",
        });
    }
    if device.loop_file.as_ref().is_some_and(|file| file.is_direct == Some(false)) {
        return Some("loop-double-caching");
    }
    None
}

/// File systems that encrypt, in a program of their own or in the kernel.
const ENCRYPTING: [&str; 4] = ["fuse.gocryptfs", "fuse.encfs", "fuse.cryfs", "ecryptfs"];

/// File systems under the path that encrypt what passes them.
pub(super) fn encrypting_mounts(case: &Case<'_>) -> Option<Suspect> {
    let mounts = case.mounts_seen();
    let encrypt: Vec<_> = mounts
        .iter()
        .filter(|mount| ENCRYPTING.contains(&mount.file_system.as_str()))
        .map(|mount| format!("{} on {}", mount.file_system, mount.mount_point))
        .collect();
    let mapped = case
        .devices_seen()
        .iter()
        .filter(|d| d.mapping.as_ref().is_some_and(Mapping::is_crypt))
        .count();
    let to_blame = match encrypt.len() + mapped {
        _ if encrypt.is_empty() => return None,
        1 => "encryption-in-path",
        _ => "encrypted-twice",
    };
    // What the disk took of the time is not theirs.
    let at_disk = case.share_at_disk().unwrap_or(0.0);
    let share = 1.0 - at_disk;
    let evidence = format!("what passes {} is encrypted there", encrypt.join(" and "));
    let disk = case.bottom().map(|disk| {
        format!("{} of the time of I/Os passed at {} below it", percent(at_disk), disk.name)
    });
    let suspect = Suspect::new(to_blame, Confidence::Likely, evidence).explaining(share);
    Some(suspect.and(disk))
}
