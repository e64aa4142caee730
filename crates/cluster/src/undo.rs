//! Removes what dead runs left.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use kube::Resource;
use kube::api::ListParams;
use serde::de::DeserializeOwned;

use crate::connect::Cluster;
use crate::error::{Call, Error};
use crate::namespace;
use crate::objects::{LEASE, MANAGED, Run, run_of};
use crate::remove::remove;
use crate::session::RENEWAL;

/// What came of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// What was removed.
    pub removed: Vec<String>,
    /// Runs that are under way, and were left alone.
    pub live: Vec<String>,
    /// What could not be removed, and why.
    pub problems: Vec<String>,
}

/// Removes what runs that are dead left in the namespace. A run is dead if its lease is not renewed
/// while this looks on, for which it calls `wait`, or is gone; clocks that differ do not matter.
///
/// # Errors
/// If it cannot be seen what there is.
pub fn undo(cluster: &Cluster, wait: &mut dyn FnMut(Duration)) -> Result<Undone, Error> {
    let mut undone = Undone::default();
    let before = renewals(cluster)?;
    let maker = namespace::maker(cluster)?;
    // A run makes its namespace before its lease: it may be about to.
    let begins = maker.as_ref().is_some_and(|maker| !before.contains_key(maker));
    let looked_on = before.values().map(|renewed| look_on(*renewed));
    if let Some(looked_on) = looked_on.chain(begins.then_some(2 * RENEWAL)).max() {
        wait(looked_on);
    }
    // Before the leases: of a run that begins meanwhile, the lease is made first.
    let runs = runs(cluster)?;
    let after = renewals(cluster)?;
    let is_live = |run: &String| after.get(run).is_some_and(|now| before.get(run) != Some(now));
    let runs: BTreeSet<String> = runs.into_iter().chain(after.keys().cloned()).collect();
    for id in runs {
        if is_live(&id) {
            undone.live.push(id);
            continue;
        }
        match remove(cluster, &Run { id }) {
            Ok(removed) => undone.removed.extend(removed),
            Err(error) => undone.problems.push(error.to_string()),
        }
    }
    // Others may be in it, whose end it would be.
    if let Some(id) = maker
        && undone.live.is_empty()
    {
        match namespace::remove(cluster, &Run { id }) {
            Ok(removed) => undone.removed.push(removed),
            Err(error) => undone.problems.push(error.to_string()),
        }
    }
    Ok(undone)
}

/// How long a lease is to be looked on to know whether anybody renews it: two renewals if it is over
/// by this machine's clock, which may be wrong, otherwise until it is over.
fn look_on(renewed: Option<Timestamp>) -> Duration {
    let end = renewed.and_then(|renewed| renewed.checked_add(LEASE).ok());
    let left = end.map_or(SignedDuration::ZERO, |end| end.duration_since(Timestamp::now()));
    Duration::try_from(left).unwrap_or_default().clamp(2 * RENEWAL, LEASE)
}

/// When each run's lease was renewed.
fn renewals(cluster: &Cluster) -> Result<BTreeMap<String, Option<Timestamp>>, Error> {
    let leases = cluster.api::<Lease>();
    let which = ListParams::default().labels(MANAGED);
    let leases = cluster.ask(Call::new("list", "leases"), leases.list(&which))?;
    let of = |lease: Lease| {
        let renewed = lease.spec.and_then(|spec| Some(spec.renew_time?.0));
        Some((run_of(&lease.metadata)?, renewed))
    };
    Ok(leases.into_iter().filter_map(of).collect())
}

/// Runs that have pods, Services or claims.
fn runs(cluster: &Cluster) -> Result<Vec<String>, Error> {
    let mut runs = owners::<Pod>(cluster, "pods")?;
    runs.extend(owners::<Service>(cluster, "services")?);
    runs.extend(owners::<PersistentVolumeClaim>(cluster, "persistentvolumeclaims")?);
    Ok(runs)
}

fn owners<K>(cluster: &Cluster, resource: &'static str) -> Result<Vec<String>, Error>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>
        + Clone
        + DeserializeOwned
        + Debug,
{
    let objects = cluster.api::<K>();
    let which = ListParams::default().labels(MANAGED);
    let listed = cluster.ask(Call::new("list", resource), objects.list(&which))?;
    Ok(listed.into_iter().filter_map(|object| run_of(object.meta())).collect())
}
