//! Several hosts that act as one: each has some of the arms.

use std::collections::BTreeMap;
use std::thread;

use iotax_experiment::{Driver, Workload};
use iotax_load::LayoutProgress;
use iotax_record::{OtherPrograms, Site};

use crate::error::Error;
use crate::host::{Arms, Files, Host, Load, Measured, Runner, TrialRequest};

/// Hosts, and which of them has which arm.
pub struct Hosts {
    hosts: Vec<Box<dyn Host + Send>>,
    /// For each arm: its host, and its index among the arms there.
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

    /// Makes all hosts carry out their requests at the same time; one result for each request. A
    /// request without its own result comes after a failed one of the same host.
    fn each<T: Send>(
        &mut self,
        requests: &[TrialRequest],
        perform: impl Fn(&mut (dyn Host + Send), &[TrialRequest]) -> Vec<Result<T, Error>> + Sync,
    ) -> Vec<Result<T, Error>> {
        let mut asked: Vec<Vec<TrialRequest>> = vec![Vec::new(); self.hosts.len()];
        for request in requests {
            let (host, arm) = self.arms[request.arm];
            asked[host].push(TrialRequest { arm, ..request.clone() });
        }
        let mut busy: Vec<_> = self.hosts.iter_mut().zip(&asked).enumerate().collect();
        busy.retain(|(_, (_, asked))| !asked.is_empty());
        let mut done: BTreeMap<usize, _> = if let [(at, (host, asked))] = busy.as_mut_slice() {
            BTreeMap::from([(*at, perform(&mut ***host, asked).into_iter())])
        } else {
            thread::scope(|scope| {
                let (perform, mut started) = (&perform, Vec::new());
                for (at, (host, asked)) in busy {
                    started.push((at, scope.spawn(move || perform(&mut **host, asked))));
                }
                let ended = started.into_iter().map(|(at, thread)| match thread.join() {
                    Ok(done) => (at, done.into_iter()),
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                ended.collect()
            })
        };
        requests
            .iter()
            .filter_map(|request| done.get_mut(&self.arms[request.arm].0)?.next())
            .collect()
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
        // Continues with the others after a failure.
        self.hosts.into_iter().map(Arms::down).fold(Ok(()), Result::and)
    }
}

impl Runner for Hosts {
    fn prepare(
        &mut self,
        arm: usize,
        driver: Driver,
        workloads: &[&Workload],
        progress: &LayoutProgress<'_>,
    ) -> Result<(), Error> {
        let (host, arm) = self.of(arm);
        host.prepare(arm, driver, workloads, progress)
    }

    fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
        let (host, arm) = self.of(request.arm);
        host.trial(&TrialRequest { arm, ..request.clone() })
    }

    fn watch_programs(&mut self) {
        self.hosts.iter_mut().for_each(|host| host.watch_programs());
    }

    /// Only for one machine: the sum of several is meaningless.
    fn other_programs(&mut self) -> Option<OtherPrograms> {
        match self.hosts.as_mut_slice() {
            [only] => only.other_programs(),
            _ => None,
        }
    }

    /// One host performs one trial after the other.
    fn trials(&mut self, requests: &[TrialRequest]) -> Vec<Result<Measured, Error>> {
        self.each(requests, |host, asked| host.trials(asked))
    }

    /// An agent performs one trial after the other.
    fn together(&mut self, requests: &[TrialRequest]) -> Result<Vec<Load>, Error> {
        for (at, TrialRequest { arm, .. }) in requests.iter().enumerate() {
            let is_there = |other: &&TrialRequest| self.place(other.arm) == self.place(*arm);
            if let Some(other) = requests[..at].iter().find(is_there)
                && !self.hosts[self.place(*arm)].drives_side_by_side()
            {
                let [first, second] = [other.arm, *arm].map(|arm| self.site(arm).target.clone());
                return Err(Error::SameHost { first, second });
            }
        }
        let driven = self.each(requests, |host, asked| match host.together(asked) {
            Ok(loads) => loads.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        driven.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use iotax_experiment::{Blame as _, Fault, IndexEnds};
    use iotax_record::LoadRecord;

    use super::*;
    use crate::host::Task;

    /// A host whose trials end when as many others are under way as the barrier takes.
    struct Meeting {
        barrier: Arc<Barrier>,
        site: Site,
    }

    impl Arms for Meeting {
        fn up(&mut self, _: usize) -> Result<Files, Error> {
            Ok(Files::AreThere)
        }

        fn site(&self, _: usize) -> &Site {
            &self.site
        }

        fn is_made_anew(&self, _: usize) -> bool {
            false
        }

        fn down(self: Box<Self>) -> Result<(), Error> {
            Ok(())
        }
    }

    impl Runner for Meeting {
        fn prepare(
            &mut self,
            _: usize,
            _: Driver,
            _: &[&Workload],
            _: &LayoutProgress<'_>,
        ) -> Result<(), Error> {
            Ok(())
        }

        fn trial(&mut self, request: &TrialRequest) -> Result<Measured, Error> {
            self.barrier.wait();
            let load = LoadRecord { window_ns: request.seed, ..LoadRecord::default() };
            Ok(Measured { drained_ns: 0, load: Ok(load), counters: None })
        }
    }

    fn host(arms: &[usize], barrier: &Arc<Barrier>) -> (Box<dyn Host + Send>, Vec<usize>) {
        let site = Site { target: format!("/disk-{}", arms[0]), ..Site::default() };
        (Box::new(Meeting { barrier: Arc::clone(barrier), site }), arms.to_vec())
    }

    fn request(arm: usize) -> TrialRequest {
        TrialRequest {
            arm,
            driver: Driver::Native,
            task: Task::Run(Workload::preset("randread-4k").unwrap()),
            index_ends: IndexEnds::Both,
            ramp_ns: 0,
            time_ns: 0,
            part: None,
            seed: 10 + arm as u64,
            sustained_iops: None,
        }
    }

    #[test]
    fn trials_on_hosts_of_their_own_are_under_way_at_the_same_time() {
        let barrier = Arc::new(Barrier::new(2));
        let mut hosts = Hosts::new([0, 1, 2].map(|arm| host(&[arm], &barrier)).into());
        // One after the other they would wait for each other for ever.
        let measured = hosts.trials(&[request(2), request(0)]);
        let of = |measured: Result<Measured, Error>| measured.unwrap().load.unwrap().window_ns;
        assert_eq!(measured.into_iter().map(of).collect::<Vec<_>>(), [12, 10]);
    }

    #[test]
    fn load_at_the_same_time_on_one_host_is_refused() {
        let barrier = Arc::new(Barrier::new(1));
        let mut hosts = Hosts::new(vec![host(&[0], &barrier), host(&[1, 2], &barrier)]);
        assert_eq!(hosts.together(&[request(2), request(0)]).unwrap().len(), 2);
        let error = hosts.together(&[request(2), request(1)]).unwrap_err();
        assert_eq!(error.fault(), Fault::Usage);
        insta::assert_snapshot!(error, @"/disk-1 and /disk-1 are on the same host, which can run only one trial at a time; put each on its own host (`--agent ARM=COMMAND`)");
    }
}
