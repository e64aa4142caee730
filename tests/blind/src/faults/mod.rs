//! What is planted, by the place where it acts.

mod crypt;
mod encryption;
mod groups;
mod healthy;
mod limits;
mod memory;
mod nfs;
mod others;
mod queue;
mod shared;
mod stalls;

use crate::situation::Situation;

pub(crate) fn situations() -> impl Iterator<Item = Situation> {
    let of_this_machine = limits::ALL.into_iter().chain(groups::ALL).chain(memory::ALL);
    let of_disks = queue::ALL.into_iter().chain(others::ALL).chain(encryption::ALL);
    let of_several = shared::ALL.into_iter().chain(stalls::ALL);
    let planted = of_this_machine.chain(of_disks).chain(of_several);
    planted.chain(crypt::ALL).chain(nfs::ALL).chain(healthy::ALL)
}
