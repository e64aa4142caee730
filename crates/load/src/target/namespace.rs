//! Network namespaces of this machine, which are entered by their files.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// Moves the calling thread to a network namespace.
///
/// # Errors
/// If there is no namespace of that kind at that path, or this process may not enter it.
pub fn enter_namespace(namespace: &Path) -> io::Result<()> {
    let namespace = File::open(namespace)?;
    move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
    Ok(())
}

/// Makes a socket in a network namespace, `None` being that of this process. There it stays, whoever
/// uses it; threads that make no other sockets stay where they are.
///
/// # Errors
/// As [`enter_namespace`], and those of `make`.
pub fn within_namespace<T: Send>(
    namespace: Option<&Path>,
    make: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let Some(namespace) = namespace else { return make() };
    let enter_and_make = || {
        enter_namespace(namespace)?;
        make()
    };
    thread::scope(|scope| scope.spawn(enter_and_make).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
