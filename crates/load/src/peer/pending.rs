//! Connections that have not proved themselves yet: few, for a short time, the oldest going first.

use std::collections::VecDeque;
use std::net::{Shutdown, TcpStream};
use std::sync::Mutex;

/// More than so many strangers are not listened to at the same time.
const MAX_STRANGERS: usize = 64;

/// See the module.
#[derive(Default)]
pub(super) struct Pending(Mutex<VecDeque<(u64, TcpStream)>>);

impl Pending {
    /// Takes a stranger in. Where that is one too many, the one that has kept us waiting longest is
    /// sent away: whoever knows the token is through within a round trip.
    pub(super) fn arrives(&self, session: u64, stream: &TcpStream) -> std::io::Result<()> {
        let stream = stream.try_clone()?;
        let mut all = self.0.lock().expect("nobody panics with it");
        if all.len() >= MAX_STRANGERS
            && let Some((_, oldest)) = all.pop_front()
        {
            let _ = oldest.shutdown(Shutdown::Both);
        }
        all.push_back((session, stream));
        Ok(())
    }

    /// It is no stranger any more, or is gone.
    pub(super) fn leaves(&self, session: u64) {
        self.0.lock().expect("nobody panics with it").retain(|(other, _)| *other != session);
    }
}
