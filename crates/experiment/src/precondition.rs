//! Preconditioning: writes to the storage before the measurement.
//!
//! A fresh SSD, and a volume with unallocated blocks, write and read at rates that do not last.
//! SNIA's Solid State Storage Performance Test Specification first writes the whole span,
//! independent of the workload, and then runs the workload until it is steady.

use iotax_layers::Error;

use crate::engine::{Engine, PageCache};
use crate::spec::{Draft, Target};
use crate::workload::{BlockSizes, Bound, Files, Job, Workload};

/// Block size of the pass over the span.
const FILL_BLOCK_BYTES: u32 = 128 << 10;
/// I/Os in flight, if the engine supports several.
const FILL_DEPTH: u32 = 16;
/// A pass ends at the end of the span; this limit is for storage that hangs.
const LONGEST_FILL_NS: u64 = 86_400_000_000_000;

impl Job {
    /// Whether it works on bytes of files, a device or a disk, not on names or nothing.
    pub const fn has_span(&self) -> bool {
        self.engine.has_span()
    }
}

impl Workload {
    /// One pass over the span of all jobs: sequential writes of 128 KiB. The load driver determines
    /// the bytes. `None` if no job has a span.
    pub fn fill(&self) -> Option<Self> {
        let like = self.jobs.iter().find(|job| job.has_span())?;
        Some(Self {
            about: "writes once, sequentially, to all the space that the jobs use".to_owned(),
            time_ns: LONGEST_FILL_NS,
            ..Self::new(&self.name, vec![fill(like, self.span_bytes())])
        })
    }

    /// Bytes that the jobs use, if the target has space for them and no two share a file.
    pub fn span_bytes(&self) -> u64 {
        let mut shared: Vec<(&str, u64)> = Vec::new();
        let mut bytes: u64 = 0;
        for job in self.jobs.iter().filter(|job| job.has_span()) {
            match &job.files {
                Files::PerThread => {
                    let own = job.size_bytes.saturating_mul(job.threads.into());
                    bytes = bytes.saturating_add(own);
                }
                Files::Shared(name) => match shared.iter_mut().find(|(of, _)| of == name) {
                    Some((_, most)) => *most = (*most).max(job.size_bytes),
                    None => shared.push((name, job.size_bytes)),
                },
            }
        }
        shared.iter().fold(bytes, |all, (_, bytes)| all.saturating_add(*bytes))
    }
}

fn fill(like: &Job, size_bytes: u64) -> Job {
    let engine = match like.engine.info().cache {
        PageCache::Always => Engine::Psync,
        PageCache::Never | PageCache::UnlessDirect => like.engine,
    };
    Job {
        engine,
        queue_depth: if engine.is_async() { FILL_DEPTH } else { 1 },
        read_percent: 0,
        block_sizes: BlockSizes::Fixed(FILL_BLOCK_BYTES),
        size_bytes,
        bound: Bound::Span,
        end_fsync: true,
        direct: like.direct,
        advise: like.advise,
        cpus: like.cpus.clone(),
        content: like.content.clone(),
        priority: like.priority,
        priorities: like.priorities.clone(),
        numa: like.numa.clone(),
        ..Job::new("fill")
    }
}

impl Target {
    /// Whether its data is in memory, which needs no preconditioning.
    pub fn is_in_memory(&self) -> bool {
        let in_memory = |one: &&Self| one.stack()?.base().map(|base| base.is_in_memory());
        self.each().iter().all(|one| in_memory(one).unwrap_or(false))
    }
}

impl Draft {
    /// Refuses preconditioning if there is nothing to precondition.
    ///
    /// # Errors
    /// If no phase has a span, or all arms are in memory.
    pub fn validate_precondition(&self) -> Result<(), Error> {
        if !self.side_runs.precondition {
            return Ok(());
        }
        if !self.phases().any(|phase| phase.jobs.iter().any(Job::has_span)) {
            let problem = format!(
                "`{}` cannot be preconditioned: its jobs have no span to write (they use file \
                 trees or recordings, or no storage)",
                self.name()
            );
            return Err(Error::syntax(problem, "leave out `precondition`"));
        }
        if self.has_several_targets() {
            let problem =
                "preconditioning supports only one target per trial, but there are several";
            let advice = "precondition each target in a separate run, and leave `precondition` out \
                          of this one";
            return Err(Error::syntax(problem, advice));
        }
        if self.arms.iter().all(|arm| arm.target.is_in_memory()) {
            let which = if self.arms.len() == 1 { "the target is" } else { "all arms are" };
            let problem = format!("there is nothing to precondition: {which} in memory");
            return Err(Error::syntax(
                problem,
                "leave out `precondition`, or choose a target on storage",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Arm, Design};
    use crate::workload::Pattern;

    fn preset(name: &str) -> Workload {
        Workload::preset(name).unwrap()
    }

    fn refused(workload: &str, target: &str) -> Option<String> {
        let arm = Arm::new("target", Target::parse(target).unwrap());
        let mut spec = Draft::new(vec![preset(workload)], vec![arm], Design::Single);
        spec.side_runs.precondition = true;
        spec.validate_precondition().err().map(|error| error.to_string())
    }

    #[test]
    fn a_pass_writes_all_that_the_jobs_use_in_blocks_of_128_kib() {
        let mut workload = preset("randread-4k");
        (workload.jobs[0].threads, workload.jobs[0].size_bytes) = (4, 1 << 30);
        workload.jobs[0].files = Files::PerThread;
        let fill = workload.fill().unwrap();
        let [job] = fill.jobs.as_slice() else { panic!("{fill:?}") };
        assert_eq!(
            (job.read_percent, &job.pattern, job.bound),
            (0, &Pattern::Sequential, Bound::Span)
        );
        assert_eq!(
            (job.block_sizes.clone(), job.size_bytes),
            (BlockSizes::Fixed(131_072), 4 << 30)
        );
        workload.jobs[0].files = Files::Shared("one".to_owned());
        assert_eq!(workload.span_bytes(), 1 << 30);
        workload.jobs[0].engine = Engine::Null;
        assert_eq!(workload.fill(), None);
    }

    /// What keeps the jobs to parts of the span, or off their pace, would leave gaps in a pass.
    #[test]
    fn a_pass_has_nothing_of_how_the_jobs_go_over_the_span() {
        let mut workload = preset("randwrite-4k");
        workload.jobs[0].fresh = false;
        let changes = [
            "rw=randtrim",
            "stretches=64k/64k/192k",
            "offset-increment=1M",
            "flow=2",
            "latency-target=1ms/1s",
            "trim=only",
        ];
        for change in changes {
            workload.set(change).unwrap();
        }
        let job = &mut workload.jobs[0];
        (job.write_block_sizes, job.write_pattern) =
            (Some(BlockSizes::Fixed(512)), Some(Pattern::Random));
        (job.verify_every, job.verify_apart, job.verify_ends) = (Some(1), true, true);
        let fill = workload.fill().unwrap();
        assert_eq!(fill.validate(), Ok(()));
        let pass = &fill.jobs[0];
        assert_eq!((pass.trims, pass.stretches, pass.by_direction()), (None, None, None));
        assert_eq!((pass.latency_target, pass.flow, pass.offset_increment_bytes), (None, None, 0));
        assert!(pass.writes_data() && !pass.verify_ends);
    }

    #[test]
    fn what_has_no_span_or_cannot_age_is_refused() {
        assert_eq!(refused("randread-4k", "/mnt/a"), None);
        assert_eq!(refused("randread-4k", "file(size=1G) + aes"), None);
        for memory in ["mem(size=64M) + aes", "tmpfs(size=1G)", "vdisk(stack=\"mem(size=64M)\")"] {
            let said = refused("randread-4k", memory).unwrap_or_default();
            assert!(said.contains("the target is in memory"), "{memory}: {said}");
        }
    }
}
