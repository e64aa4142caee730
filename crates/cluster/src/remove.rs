//! Removes what belongs to a run, and nothing else.

use std::thread;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use kube::api::ListParams;

use crate::connect::{Cluster, Namespaced};
use crate::error::Error;
use crate::objects::{Member, Run};

/// So long may a cluster take until what was deleted is gone.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(200);

/// Deletes the pods, Services, claims and lease of a run, and waits until they are gone; the lease last, so
/// that whatever interrupts this can be taken up again. What was there is returned.
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

/// Asks again and again for what is still there, until it is nothing.
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

/// Deletes objects of one kind that are not being deleted yet; those that are still there.
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
