//! Encryption of files by the file system itself: a directory of ext4 with a policy.

use iotax_layers::Fscrypt;

use crate::disk_file::direct_in;
use crate::layers::maker::prelude::*;

const XFS_IO: &str = "xfs_io";
/// AES-256-XTS for contents, AES-256-CTS for names: what Android and the `fscrypt` tool use.
const POLICY: &str = "-v 2 -c 1 -n 4";

impl System for Fscrypt {
    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        // The key is in the keyring of the file system, and disappears with its mount.
        let add = Program::new(XFS_IO).args(["-c", "add_enckey"]).arg(&below.path);
        let said = context.run(add.input(context.key.bytes()))?;
        // If a command fails, xfs_io only prints a message.
        let identifier = said.rsplit(' ').next().filter(|word| is_identifier(word));
        let Some(identifier) = identifier else { return Err(failed(said)) };
        let directory = context.directory_in(&below.path, "fscrypt")?;
        let policy = format!("set_encpolicy {POLICY} {identifier}");
        let said = context.run(Program::new(XFS_IO).args(["-c", &policy]).arg(&directory))?;
        if !said.is_empty() {
            return Err(failed(said));
        }
        let is_direct = direct_in(&directory).is_some_and(|direct| direct.align_bytes.is_some());
        if !is_direct {
            context.caches(
                "ext4 reads and writes encrypted files through the page cache, even with direct \
                 I/O; to avoid that, use ext4(mount=inlinecrypt) + fscrypt on a kernel with inline \
                 encryption",
            );
        }
        Ok(Top::directory(directory))
    }
}

/// The identifier of a key: 16 bytes.
fn is_identifier(word: &str) -> bool {
    word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn failed(said: String) -> Error {
    Error::Program { name: XFS_IO.into(), status: "not done".into(), said }
}
