//! What people call a path, and how files in a directory are opened.
//!
//! A directory in which files are laid out is given as its descriptor's entry in `/proc`: that
//! leads to the very directory, whatever somebody else makes of its name. Within it no symbolic
//! link is followed: there are none of ours, so one would be somebody else's.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;

pub(crate) use iotax_vdisk::shown;

/// Options for a file within a directory of ours, to be completed.
pub(crate) fn within() -> OpenOptions {
    with_flags(0)
}

/// The same with further flags of open(2).
pub(crate) fn with_flags(flags: i32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(flags | libc::O_NOFOLLOW);
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn links_in_a_directory_of_ours_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (precious, link) = (directory.path().join("precious"), directory.path().join("job.0"));
        fs::write(&precious, "theirs").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let refused = within().write(true).create(true).open(&link).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::ELOOP));
    }
}
