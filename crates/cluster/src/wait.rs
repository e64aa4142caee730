//! Waits for pods, and says why while it does.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::ListParams;

use crate::connect::Cluster;
use crate::error::Error;
use crate::objects::{Member, Run};
use crate::pending::{Pending, is_running, pending, unexplained};
use crate::session::Note;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(400);
/// A pod that starts within this needs no reason.
const SILENT: Duration = Duration::from_secs(2);

/// Waits until all pods run; they are returned in the order of `members`.
///
/// # Errors
/// If one cannot start, or none of what keeps it has changed within `patience`; if the user stopped
/// it.
pub(crate) fn wait(
    cluster: &Cluster,
    run: &Run,
    members: &[Member],
    patience: Duration,
    stop: &AtomicBool,
    note: &Note,
) -> Result<Vec<Pod>, Error> {
    let started = Instant::now();
    let mut told = vec![String::new(); members.len()];
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut running = all_pods(cluster, run)?;
        let mut pods = Vec::new();
        for Member { number, told_as, .. } in members {
            let pod = run.member(*number);
            let at = running.iter().position(|other| other.metadata.name.as_ref() == Some(&pod));
            let Some(at) = at else {
                return Err(Error::Gone { whose: told_as.clone(), pod });
            };
            pods.push(running.swap_remove(at));
        }
        if pods.iter().all(is_running) {
            return Ok(pods);
        }
        let waited = started.elapsed();
        if waited > SILENT {
            for ((member, pod), told) in members.iter().zip(&pods).zip(&mut told) {
                if is_running(pod) {
                    continue;
                }
                let failed = |pending| Error::Pending {
                    whose: member.told_as.clone(),
                    pod: run.member(member.number),
                    pending: Box::new(pending),
                };
                let events = events(cluster, &run.told_of(member.number));
                let found = pending(pod, &events);
                if waited > patience {
                    return Err(failed(found.unwrap_or_else(|| unexplained(&events))));
                }
                match found {
                    Some(found) if found.is_final => return Err(failed(found)),
                    Some(found) => tell(&member.told_as, &found, told, note),
                    None => {}
                }
            }
        }
        thread::sleep(LOOK);
    }
}

/// Whether a pod runs, and is to go on.
pub(crate) fn is_up(cluster: &Cluster, run: &Run, member: &Member) -> Result<bool, Error> {
    let pod = pod(cluster, run, member)?;
    Ok(pod.is_some_and(|pod| is_running(&pod) && pod.metadata.deletion_timestamp.is_none()))
}

/// The address of a pod.
pub(crate) fn address(cluster: &Cluster, run: &Run, member: &Member) -> Result<IpAddr, Error> {
    let ip = pod(cluster, run, member)?.and_then(|pod| pod.status?.pod_ip?.parse().ok());
    let (whose, pod) = (&member.told_as, run.member(member.number));
    ip.ok_or_else(|| Error::Gone { whose: whose.clone(), pod })
}

/// Tells a reason that is another than before.
fn tell(whose: &str, found: &Pending, told: &mut String, note: &Note) {
    let text = found.to_string();
    if *told != text {
        note(&format!("{whose} waits: {text}"));
        *told = text;
    }
}

fn pod(cluster: &Cluster, run: &Run, member: &Member) -> Result<Option<Pod>, Error> {
    let name = run.member(member.number);
    let mut pods = all_pods(cluster, run)?.into_iter();
    Ok(pods.find(|pod| pod.metadata.name.as_ref() == Some(&name)))
}

fn all_pods(cluster: &Cluster, run: &Run) -> Result<Vec<Pod>, Error> {
    cluster.list(&ListParams::default().labels(&run.selector()))
}

/// Events of objects of these names, as far as they may be seen.
fn events(cluster: &Cluster, names: &[String]) -> Vec<Event> {
    let of = |name: &String| {
        let which = ListParams::default().fields(&format!("involvedObject.name={name}"));
        cluster.list(&which).unwrap_or_default()
    };
    names.iter().flat_map(of).collect()
}
