//! What a job asks for and an arm does not heed, in words: a stack of this process is driven
//! without the kernel, so that no engine of the kernel's is in the way.

use crate::engine::{Engine, PageCache};
use crate::spec::{Arm, Driver};
use crate::workload::{Job, Workload};

impl Arm {
    /// What of `workload` has no effect on this arm; empty where all has.
    pub fn unheeded(&self, workload: &Workload) -> Vec<String> {
        if !self.target.is_in_process() || self.driver != Driver::Native {
            return Vec::new();
        }
        let from_file = workload.origin.is_some();
        workload.jobs.iter().filter_map(|job| job.unheeded(from_file)).collect()
    }
}

impl Job {
    fn unheeded(&self, from_file: bool) -> Option<String> {
        // fio's own default is no choice.
        let is_chosen = self.engine_asked || from_file && self.engine != Engine::Psync;
        let is_of_system = self.engine.info().cache != PageCache::Never && is_chosen;
        let engine = is_of_system.then(|| format!("engine={}", self.engine.name()));
        let sqpoll = self.sqpoll.then(|| "sqpoll".to_owned());
        let asked: Vec<String> = engine.into_iter().chain(sqpoll).collect();
        (!asked.is_empty()).then(|| {
            format!(
                "job {}: {} has no effect: these layers are of iotax's own process, which drives \
                 them without the kernel; vdisk(stack=\"...\") mounts them, and then it has",
                self.name,
                asked.join(" and ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Target;

    fn told(set: &[&str], target: &str) -> String {
        let mut workload = Workload::preset("randread-4k").unwrap();
        for text in set {
            workload.set(text).unwrap();
        }
        Arm::new("a", Target::parse(target).unwrap()).unheeded(&workload).join("\n")
    }

    #[test]
    fn an_engine_that_is_asked_for_and_not_used_is_said() {
        insta::assert_snapshot!(told(&["engine=psync"], "mem(size=4M)"), @"job io: engine=psync has no effect: these layers are of iotax's own process, which drives them without the kernel; vdisk(stack=\"...\") mounts them, and then it has");
        insta::assert_snapshot!(told(&["sqpoll=1"], "mem(size=4M) + aes"), @"job io: sqpoll has no effect: these layers are of iotax's own process, which drives them without the kernel; vdisk(stack=\"...\") mounts them, and then it has");
        insta::assert_snapshot!(told(&["engine=io_uring", "sqpoll=1"], "mem(size=4M)"), @"job io: engine=io_uring and sqpoll has no effect: these layers are of iotax's own process, which drives them without the kernel; vdisk(stack=\"...\") mounts them, and then it has");
    }

    #[test]
    fn what_is_used_or_was_not_asked_for_is_not() {
        for (set, target) in [
            (&[][..], "mem(size=4M)"),
            (&["engine=vdisk"], "mem(size=4M)"),
            (&["engine=null"], "mem(size=4M)"),
            (&["engine=psync"], "/mnt"),
            (&["engine=psync"], "vdisk(stack=\"mem(size=4M)\")"),
        ] {
            assert_eq!(told(set, target), "", "{set:?} on {target}");
        }
    }
}
