//! The near end of paths as a host.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use iotax_experiment::{Driver, Workload};
use iotax_load::LayoutProgress;
use iotax_record::{Placed, Site};
use iotax_run::agent::Remote;
use iotax_run::{Arms, Error, Files, Measured, Runner, TrialRequest};

use super::far::FarEnd;
use super::path::Role;
use crate::session::Session;

/// What all paths of a run lie on.
const NETWORK: &str = "the network of one cluster";

/// The far ends of a run: those of arms whose turn it is not are kept, too.
pub(super) type FarEnds = Arc<Mutex<BTreeMap<Role, FarEnd>>>;

/// The agent at the near end of some paths. With the last one of a run, everything of the run is
/// removed.
pub struct NetHost {
    pub(super) remote: Remote,
    pub(super) sites: Vec<Site>,
    pub(super) placed: Placed,
    /// What the cluster knows of each arm, for people.
    pub(super) facts: Vec<Vec<String>>,
    /// The far end of each arm.
    pub(super) far_of: Vec<Role>,
    pub(super) far_ends: FarEnds,
    pub(super) session: Arc<Session>,
}

impl NetHost {
    /// Takes over what the agent knows of an arm.
    pub(super) fn look(&mut self, arm: usize) {
        let mut site = self.remote.site(arm).clone();
        site.notes.splice(0..0, self.facts[arm].iter().cloned());
        // What is compared is the ways through one network, whatever their ends are called.
        NETWORK.clone_into(&mut site.storage_id);
        site.placed = Some(self.placed.clone());
        self.sites[arm] = site;
    }
}

impl Arms for NetHost {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        for (role, far) in &mut *self.far_ends.lock().unwrap_or_else(PoisonError::into_inner) {
            if *role == self.far_of[arm] {
                far.keep()?;
            } else {
                // Whether it is there is asked when it is needed.
                far.lives();
            }
        }
        let files = self.remote.up(arm)?;
        self.look(arm);
        Ok(files)
    }

    fn site(&self, arm: usize) -> &Site {
        &self.sites[arm]
    }

    fn is_made_anew(&self, arm: usize) -> bool {
        self.remote.is_made_anew(arm)
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        let Self { remote, far_ends, session, .. } = *self;
        let down = Box::new(remote).down();
        drop(far_ends);
        down.and(Session::left(session).map_err(Error::from))
    }
}

impl Runner for NetHost {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        self.remote.prepare(arm, driver, workloads, progress)
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        self.remote.trial(request)
    }
}
