//! What is planted, by the place where it acts.

mod crypt;
mod encryption;
mod groups;
mod limits;
mod memory;
mod nfs;
mod others;
mod queue;

use crate::situation::Situation;

/// All of them.
pub(crate) fn situations() -> impl Iterator<Item = Situation> {
    let of_this_machine = limits::ALL.into_iter().chain(groups::ALL).chain(memory::ALL);
    let of_disks = queue::ALL.into_iter().chain(others::ALL).chain(encryption::ALL);
    of_this_machine.chain(of_disks).chain(crypt::ALL).chain(nfs::ALL)
}
