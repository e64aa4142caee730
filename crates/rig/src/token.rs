//! The token file of a peer. The user names it, so it may be anything.

use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use iotax_load::PeerSecret;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat};
use zeroize::Zeroizing;

/// Longer than any token.
const MOST_BYTES: usize = 4096;
/// How long a pipe may take to deliver one.
const PATIENCE: Duration = Duration::from_secs(10);
/// Permissions of everyone except the owner.
const OTHERS: u32 = 0o077;

/// A token that was read.
pub struct Token {
    /// The secret that both ends know.
    pub secret: PeerSecret,
    /// A warning if users other than its owner may read its file.
    pub warning: Option<String>,
}

/// Reads the token in a file, or from a pipe.
///
/// # Errors
/// If it cannot be read, is neither a file nor a pipe, does not contain a token, or if a pipe
/// delivers nothing in time.
pub fn read_token(path: &Path) -> io::Result<Token> {
    // Opening must not wait for a writer of a pipe.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let mut file = std::fs::File::options().read(true).custom_flags(flags).open(path)?;
    let found = fstat(&file)?;
    let text = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => bounded(&mut file, |_| Ok(()))?,
        FileType::Fifo => {
            let end = Instant::now() + PATIENCE;
            bounded(&mut file, |file| wait(file, end))?
        }
        _ => return Err(refused("it is neither a file nor a pipe")),
    };
    let text = std::str::from_utf8(&text).map_err(|_| refused(NONE))?;
    let secret = PeerSecret::parse(text).ok_or_else(|| refused(NONE))?;
    let mode = found.st_mode & 0o777;
    let is_open =
        FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && mode & OTHERS != 0;
    let warning = is_open.then(|| {
        format!(
            "other users may be able to read the token in {0} (mode {mode:o}); run chmod 600 {0}",
            path.display()
        )
    });
    Ok(Token { secret, warning })
}

const NONE: &str = "it does not contain a token (64 hexadecimal digits, printed by `iotax peer`)";

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// The whole content, if it is not too long for a token.
fn bounded<R: Read>(
    from: &mut R,
    wait: impl Fn(&R) -> io::Result<()>,
) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut text = Zeroizing::new(vec![0; MOST_BYTES + 1]);
    let mut filled = 0;
    loop {
        wait(from)?;
        match from.read(&mut text[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error)
                if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
        if filled > MOST_BYTES {
            return Err(refused(NONE));
        }
    }
    text.truncate(filled);
    Ok(text)
}

/// Waits until there is something to be read, or the end.
fn wait(file: &std::fs::File, end: Instant) -> io::Result<()> {
    let left = end.saturating_duration_since(Instant::now());
    let timeout =
        Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&timeout)) {
        Ok(0) => Err(io::Error::new(
            ErrorKind::TimedOut,
            format!("no token was written to this pipe within {PATIENCE:?}"),
        )),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn told(path: &Path) -> String {
        read_token(path).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_token_is_refused_whatever_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        assert_eq!(told(Path::new("/dev/zero")), "it is neither a file nor a pipe");
        assert_eq!(told(Path::new("/dev/urandom")), "it is neither a file nor a pipe");
        assert_eq!(told(directory.path()), "it is neither a file nor a pipe");
        assert!(told(&file).starts_with("No such file"));
        for text in ["", "5a", "xy".repeat(32).as_str(), "\u{fffd}"] {
            fs::write(&file, text).unwrap();
            assert_eq!(told(&file), NONE);
        }
        // Of a terabyte, a page is read.
        fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(told(&file), NONE);
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all("5a".repeat(32).as_bytes()).unwrap();
        drop(writer);
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let token = read_token(Path::new(&path)).unwrap();
        assert!(token.secret == PeerSecret([0x5a; 32]) && token.warning.is_none());
    }

    #[test]
    fn a_pipe_that_stays_silent_is_given_up() {
        let (reader, _writer) = io::pipe().unwrap();
        let file = fs::File::from(std::os::fd::OwnedFd::from(reader));
        let error = wait(&file, Instant::now()).unwrap_err();
        assert_eq!(error.to_string(), "no token was written to this pipe within 10s");
    }

    #[test]
    fn a_file_that_others_may_read_is_warned_of() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        fs::write(&file, "5a".repeat(32) + "\n").unwrap();
        for (mode, is_open) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            let warning = read_token(&file).unwrap().warning;
            assert_eq!(warning.is_some(), is_open, "{mode:o}");
            let Some(warning) = warning else { continue };
            let named = file.display();
            assert_eq!(
                warning,
                format!(
                    "other users may be able to read the token in {named} (mode {mode:o}); run \
                     chmod 600 {named}"
                )
            );
        }
    }
}
