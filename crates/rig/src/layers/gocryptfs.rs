//! Encryption of files by a program in user space: gocryptfs, mounted through FUSE.

use iotax_layers::Gocryptfs;

use crate::layers::maker::prelude::*;

/// The minimum of gocryptfs: 2^10 rounds. A pass phrase of 256 random bits needs no stretching, and
/// stretching only slows down mounting.
const SCRYPT_N: &str = "10";

impl System for Gocryptfs {
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let ciphertext = context.directory_in(&below.path, "gocryptfs-ciphertext")?;
        let pass_phrase = context.key.text();
        let gocryptfs = || {
            Program::new("gocryptfs")
                .args(["-q", "-passfile", "/dev/stdin"])
                .input(pass_phrase.as_bytes())
        };
        let cipher = match self.cipher.as_str() {
            "aes-siv" => Some("-aessiv"),
            "xchacha" => Some("-xchacha"),
            _ => None,
        };
        context
            .run(gocryptfs().args(["-init", "-scryptn", SCRYPT_N]).args(cipher).arg(&ciphertext))?;
        let at = context.mount_point("gocryptfs")?;
        // After mounting, it still checks its own mount and must not be ended during that. It has
        // finished when it goes to the background.
        context.detach(gocryptfs().arg("-nosyslog").arg(&ciphertext).arg(&at))?;
        // It removes O_DIRECT from the files it opens, because its blocks are not aligned.
        context.caches(
            "gocryptfs reads and writes its ciphertext through the page cache, even with direct \
             I/O",
        );
        Ok(Top::directory(at))
    }
}
