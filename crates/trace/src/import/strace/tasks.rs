//! What the kernel keeps for each task: descriptors, working directory and mappings, shared or
//! copied when tasks are made.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::flags;
use crate::event::{File, Flags, Thread};

/// An open file description, shared by duplicated descriptors.
#[derive(Debug)]
pub(super) struct Description {
    /// `None` if it is a pipe, a socket or the like.
    pub(super) file: Option<File>,
    /// Where it is, if it is a directory: for paths that are relative to it.
    pub(super) path: Option<Vec<u8>>,
    pub(super) position: u64,
    /// Those of `open`.
    pub(super) flags: u64,
}

impl Description {
    pub(super) const fn is_append(&self) -> bool {
        self.flags & flags::O_APPEND != 0
    }

    /// How its I/Os are issued.
    pub(super) const fn io_flags(&self) -> Flags {
        let mut flags = Flags(0);
        if self.is_append() {
            flags = flags.with(Flags::APPEND);
        }
        if self.flags & flags::O_DIRECT != 0 {
            flags = flags.with(Flags::DIRECT);
        }
        if self.flags & flags::O_SYNC == flags::O_SYNC {
            flags = flags.with(Flags::SYNC);
        } else if self.flags & flags::O_DSYNC != 0 {
            flags = flags.with(Flags::DATA_SYNC);
        }
        flags
    }
}

pub(super) type SharedDescription = Rc<RefCell<Description>>;

#[derive(Debug, Clone)]
struct Descriptor {
    description: SharedDescription,
    closes_on_exec: bool,
}

/// The descriptors of a task.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    descriptors: HashMap<i32, Descriptor>,
}

impl Table {
    pub(super) fn get(&self, number: i32) -> Option<SharedDescription> {
        Some(Rc::clone(&self.descriptors.get(&number)?.description))
    }

    pub(super) fn set(
        &mut self,
        number: i32,
        description: SharedDescription,
        closes_on_exec: bool,
    ) {
        self.descriptors.insert(number, Descriptor { description, closes_on_exec });
    }

    pub(super) fn close(&mut self, number: i32) -> Option<SharedDescription> {
        Some(self.descriptors.remove(&number)?.description)
    }

    /// Closes all from the first to the last.
    pub(super) fn close_range(&mut self, first: u64, last: u64) -> Vec<SharedDescription> {
        let range = first..=last;
        let mut numbers: Vec<i32> = self.descriptors.keys().copied().collect();
        numbers.retain(|number| u64::try_from(*number).is_ok_and(|n| range.contains(&n)));
        numbers.sort_unstable();
        numbers.into_iter().filter_map(|number| self.close(number)).collect()
    }

    pub(super) fn set_closes_on_exec(&mut self, number: i32, closes_on_exec: bool) {
        if let Some(descriptor) = self.descriptors.get_mut(&number) {
            descriptor.closes_on_exec = closes_on_exec;
        }
    }

    fn close_on_exec(&mut self) {
        self.descriptors.retain(|_, descriptor| !descriptor.closes_on_exec);
    }
}

/// A part of a file in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mapping {
    pub(super) file: File,
    pub(super) offset: u64,
    end: u64,
}

/// Files that are mapped and shared, by address.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    mappings: BTreeMap<u64, Mapping>,
}

impl Memory {
    pub(super) fn map(&mut self, address: u64, length: u64, file: File, offset: u64) {
        self.unmap(address, length);
        let end = address.saturating_add(length);
        if end > address {
            self.mappings.insert(address, Mapping { file, offset, end });
        }
    }

    pub(super) fn unmap(&mut self, address: u64, length: u64) {
        let end = address.saturating_add(length);
        while let Some((&begin, &mapping)) = self.mappings.range(..end).next_back() {
            if mapping.end <= address {
                break;
            }
            self.mappings.remove(&begin);
            if mapping.end > end {
                let offset = mapping.offset.saturating_add(end - begin);
                self.mappings.insert(end, Mapping { offset, ..mapping });
            }
            if begin < address {
                self.mappings.insert(begin, Mapping { end: address, ..mapping });
            }
        }
    }

    /// What is mapped at an address: the file and the offset in it.
    pub(super) fn at(&self, address: u64) -> Option<(File, u64)> {
        let (&begin, mapping) = self.mappings.range(..=address).next_back()?;
        (address < mapping.end)
            .then(|| (mapping.file, mapping.offset.saturating_add(address - begin)))
    }

    pub(super) fn remap(&mut self, old: u64, old_length: u64, new: u64, new_length: u64) {
        let found = self.at(old);
        self.unmap(old, old_length);
        if let Some((file, offset)) = found {
            self.map(new, new_length, file, offset);
        }
    }
}

/// A call that has not returned yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) text: String,
    pub(super) began_ns: u64,
}

/// A thread or process.
#[derive(Debug, Default)]
pub(super) struct Task {
    /// `None` before its first event.
    pub(super) thread: Option<Thread>,
    pub(super) table: Rc<RefCell<Table>>,
    /// Empty as long as it is not known.
    pub(super) directory: Rc<RefCell<Vec<u8>>>,
    pub(super) memory: Rc<RefCell<Memory>>,
    pub(super) pending: Option<Pending>,
}

fn kept<T: Clone>(shared: &Rc<RefCell<T>>, is_shared: bool) -> Rc<RefCell<T>> {
    if is_shared { Rc::clone(shared) } else { Rc::new(RefCell::new(shared.borrow().clone())) }
}

impl Task {
    /// Creates the task for a call such as `clone(flags=CLONE_VM|...)`.
    pub(super) fn child(&self, call: &str) -> Self {
        Self {
            thread: None,
            table: kept(&self.table, call.contains("CLONE_FILES")),
            directory: kept(&self.directory, call.contains("CLONE_FS")),
            memory: kept(&self.memory, call.contains("CLONE_VM")),
            pending: None,
        }
    }

    pub(super) fn unshare_files(&mut self) {
        self.table = kept(&self.table, false);
    }

    pub(super) fn execute(&mut self) {
        self.unshare_files();
        self.table.borrow_mut().close_on_exec();
        self.memory = Rc::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_cut() {
        let mut memory = Memory::default();
        memory.map(100, 100, 1, 1000);
        memory.unmap(120, 20);
        assert_eq!(memory.at(110), Some((1, 1010)));
        assert_eq!(memory.at(130), None);
        assert_eq!(memory.at(140), Some((1, 1040)));
        memory.map(110, 50, 2, 0);
        assert_eq!(memory.at(159), Some((2, 49)));
        assert_eq!(memory.at(160), Some((1, 1060)));
        memory.remap(110, 50, 500, 70);
        assert_eq!((memory.at(110), memory.at(569)), (None, Some((2, 69))));
    }
}
