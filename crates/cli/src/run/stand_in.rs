//! Where a sandbox forbids `io_uring`, as container runtimes do by default, `libaio` stands in for it.

use std::collections::BTreeSet;

use iotax_experiment::{Job, Spec};
use iotax_record::HostRecord;

use crate::exit::{Result, usage};

/// Says so if it does.
pub(crate) fn tell(spec: &Spec, hosts: &[HostRecord]) {
    if forbidding(hosts) > 0 && !jobs(spec).is_empty() {
        eprintln!(
            "note: a sandbox forbids io_uring here, as container runtimes do: libaio drives direct I/O \
             in its place"
        );
    }
}

/// Refuses a comparison that would have it on some hosts only: arms would differ by their engines.
pub(crate) fn refuse_on_some(spec: &Spec, hosts: &[HostRecord]) -> Result<()> {
    let (forbidding, jobs) = (forbidding(hosts), jobs(spec));
    if forbidding == 0 || forbidding == hosts.len() || jobs.is_empty() {
        return Ok(());
    }
    let set: Vec<String> = jobs.iter().map(|job| format!("--set {job}.engine=libaio")).collect();
    Err(usage(format!(
        "a sandbox forbids io_uring on {forbidding} of {} hosts, so arms would be driven by different \
         engines; have all driven by the same with {}",
        hosts.len(),
        set.join(" ")
    )))
}

fn forbidding(hosts: &[HostRecord]) -> usize {
    hosts.iter().filter(|host| host.io_uring == Some(false)).count()
}

/// The names of those that it may stand in for.
fn jobs(spec: &Spec) -> BTreeSet<String> {
    let jobs = spec.all_at_once().jobs.into_iter();
    jobs.filter(Job::may_be_stood_in_for).map(|job| job.name).collect()
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Stop, Target, Workload};

    use super::*;

    fn told(preset: &str, allowed: &[bool]) -> Result<()> {
        let arm = Arm::new("a", Target::parse("/mnt/a").unwrap());
        let workload = Workload::preset(preset).unwrap();
        let spec = Spec::single(workload, arm, Stop::default(), 1).unwrap();
        let host =
            |io_uring: &bool| HostRecord { io_uring: Some(*io_uring), ..HostRecord::default() };
        refuse_on_some(&spec, &allowed.iter().map(host).collect::<Vec<_>>())
    }

    #[test]
    fn what_would_differ_by_engine_is_refused_with_what_helps() {
        let error = told("randread-4k", &[true, false]).unwrap_err();
        insta::assert_snapshot!(error, @"a sandbox forbids io_uring on 1 of 2 hosts, so arms would be driven by different engines; have all driven by the same with --set io.engine=libaio");
        told("randread-4k", &[false, false]).unwrap();
        told("randread-4k", &[true, true]).unwrap();
        // Its engine is another.
        told("driver-searcher", &[true, false]).unwrap();
    }
}
