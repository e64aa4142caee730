//! Prints a trial second by second, in the format of `iostat -mxt` of sysstat 12.6. Time stamps are
//! in UTC, as with `S_TIME_FORMAT=ISO` and `TZ=UTC`.

use iotax_analyze::{CpuFigures, DeviceFigures, DirectionFigures, Interval, intervals};
use iotax_record::{ExperimentHead, Trial};
use jiff::{SignedDuration, Timestamp};

use crate::words;

const CPU_HEAD: &str = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n";
const DEVICE_HEAD: &str = "\
Device            r/s     rMB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wMB/s   wrqm/s  \
%wrqm w_await wareq-sz     d/s     dMB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  \
aqu-sz  %util\n";

/// The tables of one trial, one per second, after a line with the trial and its measured window.
/// The line also states if there are no samples.
pub fn iostat(experiment: &ExperimentHead, trial: &Trial) -> String {
    let arm = words::printable(&trial.arm);
    let (number, block) = (u64::from(trial.slot) + 1, u64::from(trial.block) + 1);
    let intervals = trial.counters.as_ref().map(intervals).unwrap_or_default();
    let started: Timestamp = experiment.started.parse().unwrap_or(Timestamp::UNIX_EPOCH);
    let at = |since_start_ns: u64| {
        let since = trial.started_ns.saturating_add(since_start_ns);
        let since = SignedDuration::from_nanos(i64::try_from(since).unwrap_or(i64::MAX));
        let instant = started.checked_add(since).unwrap_or(Timestamp::MAX);
        instant.strftime("%Y-%m-%dT%H:%M:%S+0000").to_string()
    };
    let mut out = format!("Trial {number}, block {block}, arm {arm}");
    if experiment.spec.phases().count() > 1 {
        let phase =
            experiment.spec.phases().nth(usize::try_from(trial.phase).unwrap_or(usize::MAX));
        let name = phase.map_or("?", |workload| workload.name.as_str());
        out.push_str(&format!(", {}", words::printable(name)));
    }
    let mut measured = intervals.iter().filter(|interval| interval.in_window);
    if let Some(first) = measured.next() {
        let last = measured.next_back().unwrap_or(first);
        let from = at(first.end_ns.saturating_sub(first.length_ns));
        out.push_str(&format!(", measured from {from} to {}", at(last.end_ns)));
    }
    if intervals.is_empty() {
        out.push_str(": no samples");
    }
    out.push_str("\n\n");
    for interval in &intervals {
        out.push_str(&format!("{}\n", at(interval.end_ns)));
        out.push_str(&table(interval));
    }
    out
}

/// One interval: the CPUs, the devices.
fn table(interval: &Interval) -> String {
    let mut out: String = interval.cpu.iter().map(cpu).collect();
    out.push_str(DEVICE_HEAD);
    for device in &interval.devices {
        out.push_str(&format!("{:<13}", words::printable(&device.name)));
        out.push_str(&figures(&device.figures));
    }
    out.push_str("\n\n");
    out
}

fn cpu(cpu: &CpuFigures) -> String {
    let CpuFigures {
        user_percent,
        nice_percent,
        system_percent,
        iowait_percent,
        steal_percent,
        idle_percent,
        interrupt_percent: _,
    } = cpu;
    format!(
        "{CPU_HEAD}        {user_percent:7.2} {nice_percent:7.2} {system_percent:7.2} \
         {iowait_percent:7.2} {steal_percent:7.2} {idle_percent:7.2}\n\n"
    )
}

fn figures(device: &DeviceFigures) -> String {
    let DeviceFigures {
        read,
        write,
        discard,
        flushes_per_s,
        flush_await_ms,
        queue_size,
        util_percent,
        await_ms: _,
    } = device;
    let [read, write, discard] = [read, write, discard].map(direction);
    format!(
        "{read}{write}{discard} {flushes_per_s:7.2} {flush_await_ms:7.2} {queue_size:7.2} \
         {util_percent:6.2}\n"
    )
}

fn direction(direction: &DirectionFigures) -> String {
    let DirectionFigures { per_s, mib_per_s, merged_per_s, merged_percent, await_ms, size_kib } =
        direction;
    format!(
        " {per_s:7.2} {mib_per_s:9.2} {merged_per_s:8.2} {merged_percent:6.2} {await_ms:7.2} \
         {size_kib:8.2}"
    )
}
