//! The disk, and what stands before its queue.

use iotax_experiment::Job;
use iotax_quantity::{bytes, list, percent};

use crate::measured::case::{Case, served};
use crate::suspect::{Confidence, Suspect};

/// A disk that has something to do for more of the time is never idle for long.
const BUSY_PERCENT: f64 = 95.0;
/// Share of time, or of bytes, that is most of it.
const MOST: f64 = 0.6;
/// Share of a disk's work that was not this program's.
const OTHERS: f64 = 0.25;
/// A rate that near to a limit is at it.
const AT_LIMIT: f64 = 0.05;
/// Requests up to that size are small: each costs as much as a larger one.
const SMALL_BYTES: f64 = 131_072.0;
/// So many requests for one I/O.
const PIECES: f64 = 2.0;

/// Other programs use the same disk.
pub(super) fn other_load(case: &Case<'_>) -> Option<Suspect> {
    let disk = case.bottom()?;
    // Buffered I/O moves more or fewer bytes than were asked for, by itself.
    (!case.is_buffered() && case.site?.has_device).then_some(())?;
    let read = case.work.read_bytes_per_s;
    let figures = &disk.figures;
    // A program that writes has the writes of its journal and metadata, too.
    let writes = case.experiment.spec.workload().jobs.iter().any(Job::writes);
    let written = if writes { 0.0 } else { figures.write.bytes_per_s() };
    let not_ours = (figures.read.bytes_per_s() - read).max(0.0) + written;
    let all = figures.read.bytes_per_s() + figures.write.bytes_per_s();
    let others = not_ours / all.max(1.0);
    (others > OTHERS).then_some(())?;
    let util = figures.util_percent;
    let evidence = format!(
        "{} moved {}/s, of which {} were not this program's",
        disk.name,
        bytes(all),
        percent(others)
    );
    let busy = format!("it was busy for {} of the time", percent(util / 100.0));
    // That they are there is sure, and what they cost is not: many disks serve many at a time.
    let suspect = Suspect::new("neighbour", Confidence::Likely, evidence).and([busy]);
    Some(suspect.of_time(case.share_at_disk().map(|share| share * others)))
}

/// A disk that has something to do all the time, most of it for other jobs of the same load: the
/// primary one waits behind them.
pub(super) fn busy_with_other_jobs(case: &Case<'_>) -> Option<Suspect> {
    let disk = case.bottom().filter(|disk| disk.figures.util_percent > BUSY_PERCENT)?;
    let share = case.share_at(&disk.figures).filter(|share| *share > MOST)?;
    let (own, others) = (case.work.bytes as f64, case.work.other_bytes as f64);
    let of_others = others / (own + others).max(1.0);
    (of_others > MOST).then_some(())?;
    let jobs = &case.experiment.spec.workload().jobs;
    let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| *name != case.job.name).collect();
    let evidence = format!(
        "{} was busy for {} of the time, and {} of the time of I/Os of {} passed there: {} of all \
         bytes were those of {}",
        disk.name,
        percent(disk.figures.util_percent / 100.0),
        percent(share),
        case.job.name,
        percent(of_others),
        list(&names)
    );
    let queue = format!("{:.1} requests were in its queue", disk.figures.queue_size);
    Some(
        Suspect::new("saturated-device", Confidence::Likely, evidence)
            .explaining(share)
            .and([queue]),
    )
}

/// A limit that a control group sets, reached.
pub(super) fn group_limit(case: &Case<'_>) -> Option<Suspect> {
    // What buffered I/O asks for is not what comes to the disk.
    let path = case.path().filter(|_| !case.is_buffered())?;
    let limits = case.machine()?.groups.io.iter().filter(|limits| limits.path == path.path);
    let (read, written) = (case.work.read_bytes_per_s, case.work.write_bytes_per_s);
    let ios = case.summary.iops;
    let reads = f64::from(case.job.read_percent) / 100.0;
    limits
        .flat_map(|limits| {
            [
                (limits.read_iops, ios * reads, "reads/s", limits),
                (limits.write_iops, ios * (1.0 - reads), "writes/s", limits),
                (limits.read_bw_bytes, read, "bytes read/s", limits),
                (limits.write_bw_bytes, written, "bytes written/s", limits),
            ]
        })
        .filter_map(|(limit, reached, what, limits)| {
            let limit = limit.filter(|limit| *limit > 0.0)?;
            ((reached / limit - 1.0).abs() < AT_LIMIT).then_some((limit, reached, what, limits))
        })
        .map(|(limit, reached, what, limits)| {
            let evidence = format!(
                "{reached:.0} {what} were reached, and the control group {} allows {limit:.0} \
                 ({})",
                limits.group, limits.file
            );
            // What is held back waits above the disk. A rate that is near the limit by chance does not.
            let at_disk = case.share_at_disk();
            let but = at_disk.filter(|share| *share > MOST).map(|share| {
                format!("{} of the time of I/Os passed at the disk itself", percent(share))
            });
            let suspect = Suspect::new("cgroup-io-max", Confidence::Sure, evidence);
            suspect.of_time(at_disk.map(|share| 1.0 - share)).but(but)
        })
        .next()
}

/// I/Os that are cut into several small requests.
pub(super) fn split(case: &Case<'_>) -> Option<Suspect> {
    let device = case.devices_seen().into_iter().find(|d| d.queue.max_io_bytes.is_some())?;
    let most = device.queue.max_io_bytes? as f64;
    // Drivers without a limit of their own say a huge one.
    let more = device.queue.max_hardware_io_bytes.is_none_or(|hardware| hardware as f64 > most);
    let asked = f64::from(case.job.block_sizes.max_bytes());
    let figures = case.devices().iter().find(|known| known.name == device.name)?.figures;
    let (_, requests) = served(&figures);
    let moved = figures.read.bytes_per_s() + figures.write.bytes_per_s();
    let (pieces, size) = (requests / case.summary.iops.max(f64::MIN_POSITIVE), moved / requests);
    let is_cut = asked >= PIECES * most && pieces >= PIECES && size > 0.7 * most;
    (!case.is_buffered() && is_cut && most < SMALL_BYTES && more).then_some(())?;
    let evidence = format!(
        "I/Os of {} came to {} as {pieces:.0} requests of {} each \
         (/sys/block/{}/queue/max_sectors_kb: {:.0})",
        bytes(asked),
        device.name,
        bytes(size),
        device.name,
        most / 1024.0,
    );
    // Nobody measured what one whole request takes.
    let share = case.share_at_disk().map(|share| share * (1.0 - 1.0 / pieces));
    Some(Suspect::new("io-split", Confidence::Likely, evidence).of_time(share))
}

/// More in flight than the queue holds.
pub(super) fn queue_too_short(case: &Case<'_>) -> Option<Suspect> {
    let device = case.devices_seen().into_iter().find_map(|device| {
        let most = [device.queue.requests, device.queue.depth].into_iter().flatten().min()?;
        Some((device, most as f64))
    });
    let (device, most) = device?;
    let in_flight = f64::from(case.job.in_flight());
    let figures = case.devices().iter().find(|known| known.name == device.name)?.figures;
    let (await_ms, _) = served(&figures);
    let waited = 1.0 - await_ms / case.latency_ms();
    let is_short = in_flight >= 2.0 * most && figures.queue_size >= 0.5 * most && waited > 0.3;
    (!case.is_buffered() && is_short).then_some(())?;
    let evidence = format!(
        "{in_flight:.0} I/Os were to be in flight, but the queue of {} holds {most:.0} \
         (/sys/block/{}/queue/nr_requests): {} of an I/O's time passed before it",
        device.name,
        device.name,
        percent(waited)
    );
    Some(Suspect::new("queue-too-short", Confidence::Sure, evidence).explaining(waited))
}
