//! Several hosts that pass for one: each has some of the arms.

use std::thread;

use iotax_load::Progress;
use iotax_record::Site;
use iotax_spec::{Driver, Workload};

use crate::error::Error;
use crate::host::{Arms, Files, Host, Load, Measured, Runner, SideBySide, TrialRequest};

/// Hosts, and which of them has which arm.
pub struct Hosts {
    hosts: Vec<Box<dyn Host + Send>>,
    /// Of each arm: its host, and which of the arms there it is.
    arms: Vec<(usize, usize)>,
}

impl Hosts {
    /// `hosts`: each with its arms, indices in the spec.
    pub fn new(hosts: Vec<(Box<dyn Host + Send>, Vec<usize>)>) -> Self {
        let (hosts, theirs): (Vec<_>, Vec<_>) = hosts.into_iter().unzip();
        let count = theirs.iter().flatten().max().map_or(0, |last| last + 1);
        let mut arms = vec![(0, 0); count];
        for (host, theirs) in theirs.iter().enumerate() {
            for (there, arm) in theirs.iter().enumerate() {
                arms[*arm] = (host, there);
            }
        }
        Self { hosts, arms }
    }

    /// The place of the host that has an arm.
    pub fn place(&self, arm: usize) -> usize {
        self.arms[arm].0
    }

    fn of(&mut self, arm: usize) -> (&mut dyn Host, usize) {
        let (host, there) = self.arms[arm];
        (&mut *self.hosts[host], there)
    }
}

impl Arms for Hosts {
    fn up(&mut self, arm: usize) -> Result<Files, Error> {
        let (host, arm) = self.of(arm);
        host.up(arm)
    }

    fn site(&self, arm: usize) -> &Site {
        let (host, there) = self.arms[arm];
        self.hosts[host].site(there)
    }

    fn is_made_anew(&self, arm: usize) -> bool {
        let (host, there) = self.arms[arm];
        self.hosts[host].is_made_anew(there)
    }

    fn down(self: Box<Self>) -> Result<(), Error> {
        // All of them, whatever fails on the way.
        self.hosts.into_iter().map(Arms::down).fold(Ok(()), Result::and)
    }
}

impl Runner for Hosts {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &Progress<'_>,
    ) -> Result<(), Error> {
        let (host, arm) = self.of(arm);
        host.prepare(arm, driver, workloads, progress)
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let (host, arm) = self.of(request.arm);
        host.trial(&TrialRequest { arm, ..request.clone() })
    }
}

impl SideBySide for Hosts {
    /// Each on a host of its own: an agent performs one trial after the other.
    fn together(&mut self, requests: &[TrialRequest]) -> Result<Vec<Load>, Error> {
        let mut asked: Vec<Option<TrialRequest>> = vec![None; self.hosts.len()];
        for request in requests {
            let (host, arm) = self.arms[request.arm];
            let earlier = asked[host].replace(TrialRequest { arm, ..request.clone() });
            assert!(earlier.is_none(), "one host, one trial at a time");
        }
        let trials = self.hosts.iter_mut().zip(asked);
        let mut measured: Vec<Option<Result<Measured, Error>>> = thread::scope(|scope| {
            let mut started = Vec::new();
            for (host, request) in trials {
                let trial = |request| scope.spawn(move || host.trial(&request));
                started.push(request.map(trial));
            }
            let ended = started.into_iter().map(|thread| {
                thread.map(|thread| match thread.join() {
                    Ok(measured) => measured,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
            });
            ended.collect()
        });
        let of = |request: &TrialRequest| {
            let ended = measured[self.arms[request.arm].0].take();
            ended.expect("it was asked").map(|measured| measured.load)
        };
        requests.iter().map(of).collect()
    }
}
