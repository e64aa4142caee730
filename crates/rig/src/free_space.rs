//! Checks that there is room for everything that will be made, on each file system and in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;

use iotax_inspect::{DeviceNumber, Facts};
use iotax_vdisk::AvailableMemory;

use crate::error::{Obstacle, Refusal};

/// The space on file systems and in memory that all arms together will take.
#[derive(Debug, Default)]
pub(crate) struct SpaceNeeded {
    volumes: BTreeMap<DeviceNumber, Demand>,
    memory: Demand,
}

#[derive(Debug, Default)]
struct Demand {
    arms: Vec<String>,
    /// The first place on the file system that needs room.
    path: Option<PathBuf>,
    /// For things of a fixed size: the bases of stacks.
    fixed_bytes: u64,
    /// The first arm of each directory that gets test files, and the bytes of these files.
    directories: Vec<(String, u64)>,
    free_bytes: Option<u64>,
}

impl SpaceNeeded {
    /// `arms` will have a file of `bytes` at `place` or in it.
    pub(crate) fn file(&mut self, arms: &[&str], place: &Facts, bytes: u64) {
        self.on(arms, place, bytes);
    }

    /// `arms` will have test files of `files_bytes` in a directory at `place`.
    pub(crate) fn directory(&mut self, arms: &[&str], place: &Facts, files_bytes: u64) {
        let first = arms.first().map(|arm| ((*arm).to_owned(), files_bytes));
        self.on(arms, place, 0).directories.extend(first);
    }

    fn on(&mut self, arms: &[&str], place: &Facts, bytes: u64) -> &mut Demand {
        let demand = self.volumes.entry(place.device_number).or_default();
        demand.path.get_or_insert_with(|| place.path.clone());
        demand.free_bytes = place.free_bytes;
        demand.add(arms, bytes);
        demand
    }

    /// An arm will take `bytes` of memory.
    pub(crate) fn in_memory(&mut self, arm: &str, bytes: u64) {
        self.memory.add(&[arm], bytes);
    }

    /// The free space for the test files of each directory, by arm, after everything else that is
    /// made there. A tenth stays free, because an almost full file system gets slow and other
    /// programs may need space.
    pub(crate) fn for_files(&self) -> impl Iterator<Item = (&str, u64)> {
        self.volumes.values().filter_map(|demand| {
            let (first, _) = demand.directories.first()?;
            let free_bytes = demand.free_bytes?.saturating_sub(demand.fixed_bytes);
            Some((first.as_str(), free_bytes / 10 * 9 / demand.directories.len() as u64))
        })
    }

    /// Everything that does not fit.
    pub(crate) fn refusals(self, available_memory: Option<AvailableMemory>) -> Vec<Refusal> {
        let disks = self.volumes.into_values().filter_map(|demand| {
            let free_bytes = demand.free_bytes?;
            let needed_bytes = demand.needed_bytes();
            let obstacle = Obstacle::NoSpace { needed_bytes, free_bytes };
            (needed_bytes > free_bytes).then(|| demand.refuse(obstacle))
        });
        let memory = available_memory.and_then(|available| {
            let needed_bytes = self.memory.needed_bytes();
            let is_more = needed_bytes > available.bytes;
            let obstacle = Obstacle::NoMemory { needed_bytes, available };
            is_more.then(|| self.memory.refuse(obstacle))
        });
        disks.chain(memory).collect()
    }
}

impl Demand {
    fn add(&mut self, arms: &[&str], bytes: u64) {
        self.fixed_bytes = self.fixed_bytes.saturating_add(bytes);
        for arm in arms {
            if !self.arms.iter().any(|known| known == arm) {
                self.arms.push((*arm).to_owned());
            }
        }
    }

    fn needed_bytes(&self) -> u64 {
        let files = self.directories.iter().map(|(_, bytes)| *bytes);
        files.fold(self.fixed_bytes, u64::saturating_add)
    }

    fn refuse(self, obstacle: Obstacle) -> Refusal {
        Refusal { arm: self.arms.join(", "), path: self.path, obstacle }
    }
}
