//! Is there room for all that will be made, on each file system and in memory?

use std::collections::BTreeMap;
use std::path::PathBuf;

use iotax_inspect::{DeviceNumber, Facts};
use iotax_spec::{Files, Tree, Workload};

use crate::error::{Obstacle, Refusal};

/// What will be taken from file systems and memory, by all arms together.
#[derive(Debug, Default)]
pub(crate) struct Room {
    volumes: BTreeMap<DeviceNumber, Demand>,
    memory: Demand,
}

#[derive(Debug, Default)]
struct Demand {
    arms: Vec<String>,
    /// The first place on the file system that needs room.
    path: Option<PathBuf>,
    needed_bytes: u64,
    free_bytes: Option<u64>,
}

impl Room {
    /// `arms` will have `bytes` written to `place` or into it.
    pub(crate) fn on_disk(&mut self, arms: &[&str], place: &Facts, bytes: u64) {
        let demand = self.volumes.entry(place.device_number).or_default();
        demand.path.get_or_insert_with(|| place.path.clone());
        demand.free_bytes = place.free_bytes;
        demand.add(arms, bytes);
    }

    /// An arm will take `bytes` of memory.
    pub(crate) fn in_memory(&mut self, arm: &str, bytes: u64) {
        self.memory.add(&[arm], bytes);
    }

    /// Everything that does not fit.
    pub(crate) fn refusals(self, available_memory_bytes: Option<u64>) -> Vec<Refusal> {
        let disks = self.volumes.into_values().filter_map(|demand| {
            let free_bytes = demand.free_bytes?;
            let needed_bytes = demand.needed_bytes;
            demand.refuse_above(free_bytes, Obstacle::NoSpace { needed_bytes, free_bytes })
        });
        let memory = available_memory_bytes.and_then(|available_bytes| {
            let needed_bytes = self.memory.needed_bytes;
            let obstacle = Obstacle::NoMemory { needed_bytes, available_bytes };
            self.memory.refuse_above(available_bytes, obstacle)
        });
        disks.chain(memory).collect()
    }
}

impl Demand {
    fn add(&mut self, arms: &[&str], bytes: u64) {
        self.needed_bytes = self.needed_bytes.saturating_add(bytes);
        for arm in arms {
            if !self.arms.iter().any(|known| known == arm) {
                self.arms.push((*arm).to_owned());
            }
        }
    }

    fn refuse_above(self, limit_bytes: u64, obstacle: Obstacle) -> Option<Refusal> {
        (self.needed_bytes > limit_bytes).then(|| Refusal {
            arm: self.arms.join(", "),
            path: self.path,
            obstacle,
        })
    }
}

/// Versions of an index that exist at the same time: the one being searched, the one published
/// last, and the one being written.
const INDEX_VERSIONS: u64 = 3;

/// Files of a tree take blocks of this size.
const TREE_BLOCK_BYTES: u64 = 4096;

/// Bytes that the workload's test files take in a directory.
pub(crate) fn bytes_in_directory(workload: &Workload) -> u64 {
    // Jobs of one name in several phases work on the same files.
    let mut files: BTreeMap<(&str, bool), u64> = BTreeMap::new();
    for job in workload.jobs.iter().filter(|job| !job.engine.does_nothing()) {
        let own_bytes = job.tree.as_ref().map_or(job.size_bytes, bytes_of_tree);
        let (name, needed_bytes) = match &job.files {
            // A tree is a thread's own.
            Files::Shared(name) if job.tree.is_none() => ((name.as_str(), false), own_bytes),
            _ => ((job.name.as_str(), true), own_bytes.saturating_mul(job.threads.into())),
        };
        let bytes = files.entry(name).or_default();
        *bytes = needed_bytes.max(*bytes);
    }
    let index_bytes =
        workload.index.map_or(0, |index| index.index_bytes.saturating_mul(INDEX_VERSIONS));
    files.into_values().chain([index_bytes]).fold(0, u64::saturating_add)
}

/// Bytes that a tree of files takes: whole blocks, and one for what tells of the file.
fn bytes_of_tree(tree: &Tree) -> u64 {
    let blocks = u64::from(tree.file_bytes).div_ceil(TREE_BLOCK_BYTES) + 1;
    u64::from(tree.files) * blocks * TREE_BLOCK_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_takes_what_its_files_do_for_each_thread() {
        let mut workload = Workload::preset("git-status").unwrap();
        let job = &mut workload.jobs[0];
        job.threads = 2;
        job.tree = Some(Tree { files: 1000, file_bytes: 7111, ..Tree::default() });
        assert_eq!(bytes_in_directory(&workload), 2 * 1000 * 3 * 4096);
    }
}
