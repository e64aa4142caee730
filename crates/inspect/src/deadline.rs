//! Work that may hang, such as inspecting a path whose server is gone. It is abandoned after a
//! limit.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The result of `work`, if it arrives within `limit`. Otherwise its thread is abandoned: nothing
/// can end a thread that waits in the kernel, but it does not keep the process from ending.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = mpsc::channel();
    thread::Builder::new()
        .spawn(move || {
            // After the limit, nobody receives the result.
            let _ = done.send(work());
        })
        .ok()?;
    result.recv_timeout(limit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_left_behind_and_what_does_not_is_given() {
        let (release, held) = mpsc::channel::<()>();
        assert_eq!(within(Duration::from_millis(10), move || held.recv()), None);
        drop(release);
        assert_eq!(within(Duration::from_mins(1), || 7), Some(7));
    }
}
