//! Trims that cannot be.

use iotax_layers::Error;

use crate::workload::Job;
use crate::workload::Trims;

impl Job {
    pub(super) fn validate_trims(&self) -> Result<(), Error> {
        let Some(trims) = self.trims else { return Ok(()) };
        let refuse = |problem: &str, advice| Err(self.refuse("trim", problem, advice));
        if !self.engine.info().trims {
            let problem = format!("{} cannot trim", self.engine.name());
            return refuse(&problem, "use engine=io_uring, libaio, psync or mmap");
        }
        if self.reads() {
            return refuse("the job reads", "use rw=trim or rw=trimwrite, and another job to read");
        }
        if self.fresh {
            let problem = "space that was never written has nothing to trim";
            return refuse(problem, "leave out fresh");
        }
        // The place that a write went to would be another one than was trimmed.
        if trims == Trims::First && self.by_direction().is_some() {
            let problem = "it writes where it has trimmed, in blocks of the same size";
            return refuse(problem, "leave out write-block-size and write-pattern");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::validate::tests::error_of;
    use crate::workload::Workload;

    fn error(changes: &[&str]) -> String {
        error_of("randread-4k", changes)
    }

    #[test]
    fn impossible_trims_are_named() {
        assert_snapshot!(error(&["trim=only"]), @"
        job `io`: trim: the job reads
        use rw=trim or rw=trimwrite, and another job to read
        ");
        assert_snapshot!(error(&["rw=trim", "direct=false", "engine=vdisk", "depth=1"]), @"
        job `io`: trim: vdisk cannot trim
        use engine=io_uring, libaio, psync or mmap
        ");
        assert_snapshot!(error(&["rw=trim", "verify=true"]), @"
        job `io`: verify: the job writes no data
        leave it out, or write too
        ");
        assert_snapshot!(error(&["rw=randtrim", "fsync-every=1"]), @"
        job `io`: fsync-every: the job writes no data
        leave it out, or write too
        ");
        assert_snapshot!(error(&["rw=trim", "compress=50"]), @"
        job `io`: compress: the job writes nothing that has data
        leave it out, or write
        ");
    }

    #[test]
    fn impossible_checks_are_named() {
        assert_snapshot!(error(&["rw=write", "verify-every=16"]), @"
        job `io`: verify-every: nothing is verified
        add verify=true, or leave it out
        ");
        assert_snapshot!(error(&["rw=write", "verify=true", "verify-every=2000000"]), @"job `io`: verify-every: 2000000 writes; possible are 1 to 1048576");
        assert_snapshot!(error(&["verify-ends=true"]), @"
        job `io`: verify-ends: nothing is verified
        add verify=true, or leave it out
        ");
        assert_snapshot!(error(&["rw=rw", "verify-apart=true"]), @"
        job `io`: verify-apart: it is for a job that writes, or for one that reads
        use verify, or two jobs
        ");
        assert_snapshot!(error(&["rw=write", "verify=true", "verify-apart=true"]), @"
        job `io`: verify-apart: it is for a job that writes, or for one that reads
        use verify, or two jobs
        ");
        assert_snapshot!(error(&["engine=null", "verify-apart=true"]), @"
        job `io`: verify-apart: null has no data to verify
        leave it out
        ");
    }

    #[test]
    fn a_job_that_trims_writes() {
        let mut workload = Workload::preset("randread-4k").unwrap();
        for (rw, data) in [("trim", false), ("randtrimwrite", true)] {
            workload.set(&format!("rw={rw}")).unwrap();
            assert!(workload.writes() && !workload.jobs[0].reads(), "{rw}");
            assert_eq!(workload.jobs[0].writes_data(), data, "{rw}");
            workload.validate().unwrap();
        }
        workload.set("rw=read").unwrap();
        assert_eq!((workload.writes(), workload.jobs[0].trims), (false, None));
    }
}
