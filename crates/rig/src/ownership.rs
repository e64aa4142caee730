//! Who may change a file or a directory, as its owner and its mode tell.

use rustix::fs::{Mode, Stat};
use rustix::process::geteuid;

/// Those who are not the owner may write.
pub(crate) const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);

/// The owner, if it is neither this user nor root.
pub(crate) fn stranger(stat: &Stat) -> Option<u32> {
    (stat.st_uid != 0 && stat.st_uid != geteuid().as_raw()).then_some(stat.st_uid)
}

/// Whether those who are not the owner may write.
pub(crate) fn is_writable_by_others(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).intersects(OTHERS_WRITE)
}

/// Whether names in a directory stay with whoever made them, as in `/tmp`.
pub(crate) fn is_sticky(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX)
}
