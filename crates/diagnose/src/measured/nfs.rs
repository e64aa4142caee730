//! Time that calls to a file server spend in this machine: encryption, waiting for a slot, calls
//! that are sent again, reads that are smaller than they could be.

use super::{Rule, rule, timed};
use crate::measured::case::Case;
use crate::measured::suspect::{Confidence, Suspect};
use serde::Serialize;

pub(super) const RULES: &[Rule] = &[
    timed(&["nfs-kerberos"], kerberos),
    timed(&["nfs-slots"], slots),
    rule(&["nfs-gss-window", "nfs-retransmissions"], sent_again),
    rule(&["nfs-gss-window"], lost_contexts),
    timed(&["nfs-read-ahead"], read_ahead),
    timed(&["nfs-attribute-cache"], attribute_cache),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NfsEvidence {
    // CPU time for each byte, and what copies of it take at most.
    Kerberos { ns_per_byte: f64, copies_ns: f64, encrypts: bool },
    AfterReply { share: f64 },
    Slots { queue_ms: f64, share: f64, in_flight: f64, slots: f64, setting: String },
    SentAgain { share: f64 },
    Refused { credentials: f64 },
    SmallCalls { brought_bytes: f64, most_bytes: f64, window_bytes: u64, bdi: String },
    CallsInFlight { calls: f64 },
    // How often the server was asked for each operation, and the option that makes it so.
    Attributes { per_operation: f64, share: f64, off: String },
}

/// CPUs that are busy with a call's bytes from here on, as a share of one: one connection's bytes
/// pass one CPU.
const ONE_CPU: f64 = 0.7;
/// Nanoseconds that copies and checksums of the network take for a byte, generously.
const COPIED_NS: f64 = 2.0;
/// Share of a call's time.
const SHARE: f64 = 0.5;
/// Share of the slots that is in use on the average where they are too few.
const TAKEN: f64 = 0.3;
/// Calls sent again that are worth a word, as a share of all.
const SENT_AGAIN: f64 = 0.001;
/// Credentials refused in a trial: counters are read while calls are under way, and may be one off.
const REFUSED: f64 = 2.0;
/// So many questions about files for each operation are no accident.
const ASKED: f64 = 0.5;
/// Calls that bring less than this share of what they could.
const SMALL: f64 = 0.5;

/// CPU time that goes into checksums and encryption of calls.
fn kerberos(case: &Case<'_>) -> Option<Suspect> {
    let remote = case.remote()?;
    let (nfs, data) = (&remote.nfs, remote.data()?);
    let sec = nfs.option("sec").filter(|sec| ["krb5i", "krb5p"].contains(sec))?;
    let ns_per_byte = case.kernel_ns_per_byte()?;
    let cpus = case.cpu_busy()? * f64::from(case.host().environment.cpus.max(1));
    (cpus > ONE_CPU && ns_per_byte > COPIED_NS).then_some(())?;
    let encrypts = sec == "krb5p";
    let evidence = NfsEvidence::Kerberos { ns_per_byte, copies_ns: COPIED_NS, encrypts };
    let unwrapped = (data.execute_ms - data.queue_ms - data.rtt_ms) / data.execute_ms;
    let after = (case.job.reads() && unwrapped > 0.0)
        .then_some(NfsEvidence::AfterReply { share: unwrapped });
    Some(Suspect::new("nfs-kerberos", Confidence::Likely, evidence).and(after))
}

/// Calls that wait in this machine, because as many as it allows are in flight.
fn slots(case: &Case<'_>) -> Option<Suspect> {
    let remote = case.remote()?;
    let (nfs, data) = (&remote.nfs, remote.data()?);
    let share = data.queue_ms / data.execute_ms;
    (share > SHARE).then_some(())?;
    // A call keeps its slot until it is done with.
    let in_flight = data.per_s * (data.execute_ms - data.queue_ms) / 1e3;
    let (slots, setting) = case.machine()?.kernel.nfs_slots(nfs)?;
    let all_slots = slots as f64 * nfs.transports.len().max(1) as f64;
    (in_flight > TAKEN * all_slots).then_some(())?;
    let evidence = NfsEvidence::Slots {
        queue_ms: data.queue_ms,
        share,
        in_flight,
        slots: all_slots,
        setting: setting.to_owned(),
    };
    Some(Suspect::new("nfs-slots", Confidence::Likely, evidence).explaining(share))
}

/// Calls that were sent again while it was measured.
fn sent_again(case: &Case<'_>) -> Option<Suspect> {
    let remote = case.remote()?;
    let (nfs, data) = (&remote.nfs, remote.data()?);
    let share = data.retransmissions_per_s / data.per_s;
    (share > SENT_AGAIN).then_some(())?;
    let is_kerberos = nfs.option("sec").is_some_and(|sec| sec.starts_with("krb5"));
    let to_blame = if is_kerberos && nfs.transports.len() > 1 {
        "nfs-gss-window"
    } else {
        "nfs-retransmissions"
    };
    let evidence = NfsEvidence::SentAgain { share };
    Some(Suspect::new(to_blame, Confidence::Likely, evidence))
}

/// Contexts of Kerberos that the server had lost, or thrown away.
fn lost_contexts(case: &Case<'_>) -> Option<Suspect> {
    let nfs = case.remote()?.nfs;
    let refused = case.counters?.nfs_client?.credentials_again;
    (refused >= REFUSED && nfs.option("sec")?.starts_with("krb5")).then_some(())?;
    let confidence =
        if nfs.transports.len() > 1 { Confidence::Likely } else { Confidence::Possible };
    let evidence = NfsEvidence::Refused { credentials: refused };
    Some(Suspect::new("nfs-gss-window", confidence, evidence))
}

/// Buffered reads in calls as small as the read-ahead.
fn read_ahead(case: &Case<'_>) -> Option<Suspect> {
    (case.is_buffered() && case.job.reads() && case.is_sequential()).then_some(())?;
    let remote = case.remote()?;
    let (mount, nfs, data) = (&remote.mount, &remote.nfs, remote.data()?);
    let (window_bytes, number) = (mount.read_ahead_bytes?, mount.number.as_deref()?);
    let most_bytes: f64 = nfs.option("rsize")?.parse().ok()?;
    let brought_bytes = data.kib_per_s * 1024.0 / data.per_s;
    (brought_bytes < SMALL * most_bytes && (window_bytes as f64) < most_bytes).then_some(())?;
    let spent = data.per_s * data.execute_ms / 1e3;
    let bdi = number.to_owned();
    let evidence = NfsEvidence::SmallCalls { brought_bytes, most_bytes, window_bytes, bdi };
    let waiting = NfsEvidence::CallsInFlight { calls: spent };
    let suspect = Suspect::new("nfs-read-ahead", Confidence::Sure, evidence);
    Some(suspect.explaining(spent.min(1.0)).and([waiting]))
}

/// Files that are looked at through the server each time.
fn attribute_cache(case: &Case<'_>) -> Option<Suspect> {
    let remote = case.remote()?;
    let (off, asked) = (remote.nfs.without_cache()?, remote.revalidations()?);
    let per_operation = asked.per_s / case.summary.iops;
    (per_operation > ASKED).then_some(())?;
    let threads = f64::from(case.job.threads.max(1));
    let share = asked.per_s * asked.execute_ms / 1e3 / threads;
    let evidence =
        NfsEvidence::Attributes { per_operation, share: share.min(1.0), off: off.to_owned() };
    Some(Suspect::new("nfs-attribute-cache", Confidence::Sure, evidence).explaining(share))
}
