//! Waits for the pods of a run, and removes the objects of the run, and nothing else.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Event, PersistentVolumeClaim, Pod, Service};
use kube::api::ListParams;

use crate::connect::{Cluster, Namespaced};
use crate::error::Error;
use crate::objects::{Member, Run};
use crate::pending::{Pending, is_running, pending, unexplained};
use crate::session::Note;

/// How long a cluster may take until deleted objects are gone.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(200);

/// Deletes the pods, Services, claims and lease of a run, waits until they are gone, and returns
/// what existed. The lease is last, so that an interrupted removal can be continued.
pub(crate) fn remove(cluster: &Cluster, run: &Run) -> Result<Vec<String>, Error> {
    let started = Instant::now();
    let mut removed: Vec<String> = Vec::new();
    let all: [&dyn Fn() -> Result<Vec<String>, Error>; 4] = [
        &|| delete::<Pod>(cluster, run),
        &|| delete::<Service>(cluster, run),
        &|| delete::<PersistentVolumeClaim>(cluster, run),
        &|| delete::<Lease>(cluster, run),
    ];
    for delete in all {
        until_gone(cluster.namespace(), &run.id, started, || {
            let there = delete()?;
            let new = there.iter().filter(|what| !removed.contains(what)).cloned();
            removed.extend(new.collect::<Vec<String>>());
            Ok(there)
        })?;
    }
    Ok(removed)
}

/// Polls for remaining objects until there are none.
pub(crate) fn until_gone(
    namespace: &str,
    run: &str,
    started: Instant,
    mut still_there: impl FnMut() -> Result<Vec<String>, Error>,
) -> Result<(), Error> {
    loop {
        let (what, may_pass) = match still_there() {
            Ok(there) if there.is_empty() => return Ok(()),
            Ok(there) => (format!("{} is still being deleted", there.join(", ")), true),
            Err(error) => (error.to_string(), error.may_pass()),
        };
        if !may_pass || started.elapsed() > PATIENCE {
            return Err(Error::Left { namespace: namespace.to_owned(), run: run.to_owned(), what });
        }
        thread::sleep(LOOK);
    }
}

/// Deletes a pod, and waits until it is gone.
pub(crate) fn remove_pod(cluster: &Cluster, run: &Run, member: &Member) -> Result<(), Error> {
    let pod = run.member(member.number);
    let started = Instant::now();
    while cluster.delete::<Pod>(&pod)? {
        if started.elapsed() > PATIENCE {
            return Err(Error::StillDeleted { whose: member.told_as.clone(), pod });
        }
        thread::sleep(LOOK);
    }
    Ok(())
}

/// Deletes objects of one kind that are not being deleted yet, and returns those that still exist.
fn delete<K: Namespaced>(cluster: &Cluster, run: &Run) -> Result<Vec<String>, Error> {
    let mut there = Vec::new();
    for object in cluster.list::<K>(&ListParams::default().labels(&run.selector()))? {
        let Some(name) = object.meta().name.as_deref() else { continue };
        there.push(format!("{} {name}", K::KIND));
        if object.meta().deletion_timestamp.is_none() {
            cluster.delete::<K>(name)?;
        }
    }
    Ok(there)
}

// Waits for pods, and tells the user why.

/// Time between two checks.
const POLL: Duration = Duration::from_millis(400);
/// A pod that starts within this time needs no explanation.
const SILENT: Duration = Duration::from_secs(2);

/// Waits until all pods run, and returns them in the order of `members`.
///
/// # Errors
/// If one cannot start, if its reason did not change within `patience`, or if the user stopped it.
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
        thread::sleep(POLL);
    }
}

/// Whether a pod runs and is not being deleted.
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

/// Reports a reason if it has changed.
fn tell(whose: &str, found: &Pending, told: &mut String, note: &Note) {
    let text = found.to_string();
    if *told != text {
        note(&format!("{whose} is waiting: {text}"));
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

/// Events of objects of these names, as far as they are visible.
fn events(cluster: &Cluster, names: &[String]) -> Vec<Event> {
    let of = |name: &String| {
        let which = ListParams::default().fields(&format!("involvedObject.name={name}"));
        cluster.list(&which).unwrap_or_default()
    };
    names.iter().flat_map(of).collect()
}
