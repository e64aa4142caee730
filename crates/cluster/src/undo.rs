//! Removes what dead runs left.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, Service};
use kube::api::ListParams;

use crate::connect::{Cluster, Namespaced};
use crate::error::Error;
use crate::namespace::{self, Made};
use crate::objects::{LEASE, MANAGED, Run, run_of};
use crate::remove::remove;
use crate::session::RENEWAL;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Undone {
    pub removed: Vec<String>,
    /// Runs that are active, and were left alone.
    pub live: Vec<String>,
    /// What could not be removed, and why.
    pub problems: Vec<String>,
}

/// A namespace to check, and when each run there renewed its lease.
struct Watched {
    cluster: Cluster,
    /// If a run created it.
    made: Option<Made>,
    before: Renewals,
}

type Renewals = BTreeMap<String, Option<Timestamp>>;

/// Removes what dead runs left in the namespace, and the namespaces that they created. A run is
/// dead if its lease is gone or is not renewed during the watch, for which this calls `wait`. So
/// different clocks do not matter.
///
/// # Errors
/// If the objects cannot be listed.
pub fn undo(cluster: &Cluster, wait: &mut dyn FnMut(Duration)) -> Result<Undone, Error> {
    let made = namespace::all(cluster)?;
    let mut places = Vec::new();
    if made.iter().all(|made| made.name != cluster.namespace()) {
        let here = cluster.at(cluster.namespace());
        places.push(Watched { before: renewals(&here)?, cluster: here, made: None });
    }
    for made in made {
        let there = cluster.at(&made.name);
        match renewals(&there) {
            Ok(before) => places.push(Watched { before, cluster: there, made: Some(made) }),
            // A user without access did not create it.
            Err(Error::Forbidden { .. }) if made.name != cluster.namespace() => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(looked_on) = places.iter().flat_map(Watched::look_on).max() {
        wait(looked_on);
    }
    let mut undone = Undone::default();
    for place in &places {
        place.undo(&mut undone)?;
    }
    Ok(undone)
}

impl Watched {
    /// How long to watch each run. A run with a namespace but without a lease may be about to
    /// begin.
    fn look_on(&self) -> impl Iterator<Item = Duration> {
        let begins = self.made.as_ref().is_some_and(|made| !self.before.contains_key(&made.run));
        self.before.values().map(|renewed| look_on(*renewed)).chain(begins.then_some(LEASE))
    }

    fn undo(&self, undone: &mut Undone) -> Result<(), Error> {
        let Self { cluster, made, before } = self;
        // Before the leases: a run that begins in the meantime creates its lease first.
        let runs = runs(cluster)?;
        let after = renewals(cluster)?;
        let is_live = |run: &String| after.get(run).is_some_and(|now| before.get(run) != Some(now));
        let runs: BTreeSet<String> = runs.into_iter().chain(after.keys().cloned()).collect();
        let (live, dead): (Vec<String>, Vec<String>) = runs.into_iter().partition(is_live);
        let removed = dead.into_iter().map(|id| remove(cluster, &Run { id }));
        // Other runs in this namespace still need it.
        let gone = made.iter().filter(|_| live.is_empty());
        let gone = gone.map(|made| namespace::remove(cluster, made).map(|removed| vec![removed]));
        for removed in removed.chain(gone) {
            match removed {
                Ok(removed) => undone.removed.extend(removed),
                Err(error) => undone.problems.push(error.to_string()),
            }
        }
        undone.live.extend(live);
        Ok(())
    }
}

/// How long to watch a lease to see whether it is renewed: two renewals if it has expired by this
/// machine's clock, which may be wrong; otherwise until it expires.
fn look_on(renewed: Option<Timestamp>) -> Duration {
    let end = renewed.and_then(|renewed| renewed.checked_add(LEASE).ok());
    let left = end.map_or(SignedDuration::ZERO, |end| end.duration_since(Timestamp::now()));
    Duration::try_from(left).unwrap_or_default().clamp(2 * RENEWAL, LEASE)
}

/// The last renewal of each run's lease.
fn renewals(cluster: &Cluster) -> Result<Renewals, Error> {
    let of = |lease: Lease| {
        let renewed = lease.spec.and_then(|spec| Some(spec.renew_time?.0));
        Some((run_of(&lease.metadata)?, renewed))
    };
    Ok(cluster.list(&ListParams::default().labels(MANAGED))?.into_iter().filter_map(of).collect())
}

/// Runs that have pods, Services or claims.
fn runs(cluster: &Cluster) -> Result<Vec<String>, Error> {
    let mut runs = owners::<Pod>(cluster)?;
    runs.extend(owners::<Service>(cluster)?);
    runs.extend(owners::<PersistentVolumeClaim>(cluster)?);
    Ok(runs)
}

fn owners<K: Namespaced>(cluster: &Cluster) -> Result<Vec<String>, Error> {
    let listed = cluster.list::<K>(&ListParams::default().labels(MANAGED))?;
    Ok(listed.iter().filter_map(|object| run_of(object.meta())).collect())
}
