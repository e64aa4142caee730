//! Where a sandbox forbids `io_uring`, as container runtimes do by default, `libaio` stands in for it.

use anyhow::Result;
use iotax_record::HostRecord;
use iotax_spec::{Job, Spec};

use crate::exit::Usage;

/// Says so if it does.
///
/// # Errors
/// If it would on some hosts only: arms would differ by their engines.
pub(crate) fn tell(spec: &Spec, hosts: &[HostRecord]) -> Result<()> {
    let all = spec.all_at_once();
    let jobs: Vec<&Job> = all.jobs.iter().filter(|job| job.may_be_stood_in_for()).collect();
    let is_forbidden = |host: &&HostRecord| host.io_uring == Some(false);
    let forbidding = hosts.iter().filter(is_forbidden).count();
    if jobs.is_empty() || forbidding == 0 {
        return Ok(());
    }
    if forbidding == hosts.len() {
        eprintln!(
            "note: a sandbox forbids io_uring here, as container runtimes do: libaio drives direct I/O \
             in its place"
        );
        return Ok(());
    }
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.dedup();
    let set: Vec<String> = names.iter().map(|name| format!("--set {name}.engine=libaio")).collect();
    Err(Usage(format!(
        "a sandbox forbids io_uring on {forbidding} of {} hosts, so arms would be driven by different \
         engines; have all driven by the same with {}",
        hosts.len(),
        set.join(" ")
    ))
    .into())
}

#[cfg(test)]
mod tests {
    use iotax_spec::{Arm, Stop, Target, Workload};

    use super::*;

    fn told(preset: &str, allowed: &[bool]) -> Result<()> {
        let arm = Arm::new("a", Target::parse("/mnt/a").unwrap());
        let workload = Workload::preset(preset).unwrap();
        let spec = Spec::single(workload, arm, Stop::default(), 1).unwrap();
        let host =
            |io_uring: &bool| HostRecord { io_uring: Some(*io_uring), ..HostRecord::default() };
        tell(&spec, &allowed.iter().map(host).collect::<Vec<_>>())
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
