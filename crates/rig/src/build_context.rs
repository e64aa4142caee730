//! Where the layers of one arm are made: its journal, its private directory, its key.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use iotax_load::PeerSecrets;
use zeroize::Zeroizing;

use crate::disk_file;
use crate::entry::Entry;
use crate::error::Error;
use crate::journal::{Journal, token};
use crate::marked;
use crate::programs::{Daemon, Program};
use crate::signatures::Mark;

/// Bytes of a key: enough for AES-XTS-256.
const KEY_BYTES: usize = 64;

/// What all layers may use.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The directory of files without a path.
    pub(crate) work_dir: PathBuf,
    /// The iotax program, which serves virtual disks.
    pub(crate) program: PathBuf,
    /// Secrets of peers that are known without a token file.
    pub(crate) secrets: PeerSecrets,
}

/// Something that is only in place during an arm's turn. It begins with the turn, or when it is
/// made, and ends with the turn.
pub(crate) trait Turn: std::fmt::Debug + Send + Sync {
    /// Begins the turn; does nothing if it has begun.
    fn begin(&self) -> Result<(), Error>;

    /// Ends it; does nothing if it has ended.
    fn end(&self) -> Result<(), Error>;
}

/// What a layer is made with.
pub(crate) struct BuildContext<'a> {
    /// The arm's own journal, so that the arm can be taken down alone.
    pub(crate) journal: &'a mut Journal,
    /// A private directory of the arm's, for mount points and sockets. Not for data.
    pub(crate) own_dir: &'a Path,
    pub(crate) surroundings: &'a Surroundings,
    /// The arm's key: wiped when its layers are made, never written anywhere.
    pub(crate) key: &'a Key,
    /// Common to all identities that the arm writes to storage. Every layer that writes a header
    /// gives it a UUID with this mark, so that it can be recognised and wiped on a user's device.
    pub(crate) mark: &'a Mark,
    /// Set by the user to stop.
    pub(crate) stop: &'a AtomicBool,
    /// What is only in place during the arm's turn.
    pub(crate) turns: &'a mut Vec<Box<dyn Turn>>,
    /// Facts about what was made, for the record.
    pub(crate) notes: &'a mut Vec<String>,
    /// Caches of layers that could answer in place of the layers below, for the record.
    pub(crate) caches: &'a mut Vec<String>,
    /// Names given so far.
    pub(crate) names: u32,
}

/// Random bytes that leave memory only through a pipe.
pub(crate) struct Key(Zeroizing<Vec<u8>>);

impl Key {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new(vec![0; KEY_BYTES]);
        let made = getrandom::fill(&mut bytes);
        made.map_err(Error::cannot("generate a key", Path::new("/dev/urandom")))?;
        Ok(Self(bytes))
    }

    /// 64 random bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The key as hexadecimal text, for programs that read a line: a pass phrase of 256 bits.
    pub(crate) fn text(&self) -> Zeroizing<String> {
        self.hexadecimal(KEY_BYTES / 2)
    }

    /// The first `bytes` bytes of the key as hexadecimal text.
    pub(crate) fn hexadecimal(&self, bytes: usize) -> Zeroizing<String> {
        use std::fmt::Write as _;
        let mut text = Zeroizing::new(String::with_capacity(2 * bytes));
        for byte in &self.0[..bytes] {
            write!(text, "{byte:02x}").expect("writing to a string");
        }
        text
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// A name that is unique on this machine and cannot be guessed.
pub(crate) fn new_token() -> Result<String, Error> {
    token().map_err(Error::cannot("generate a token", Path::new("/dev/urandom")))
}

impl BuildContext<'_> {
    /// A name that is unique in the arm's private directory: `ext4-2`.
    fn name(&mut self, word: &str) -> String {
        self.names += 1;
        format!("{word}-{}", self.names)
    }

    /// A directory to mount something at. It is in the journal, so it is unmounted when the arm is
    /// taken down.
    pub(crate) fn mount_point(&mut self, word: &str) -> Result<PathBuf, Error> {
        let path = self.directory(word)?;
        self.journal.announce(Entry::Mount { path: path.clone() })?;
        Ok(path)
    }

    /// An empty directory in the arm's private directory.
    pub(crate) fn directory(&mut self, word: &str) -> Result<PathBuf, Error> {
        self.directory_in(self.own_dir, word)
    }

    /// An empty directory in a layer's directory.
    pub(crate) fn directory_in(&mut self, parent: &Path, word: &str) -> Result<PathBuf, Error> {
        let path = parent.join(self.name(word));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(Error::cannot("create this directory", &path))?;
        Ok(path)
    }

    /// Announces a socket that a daemon is about to make.
    pub(crate) fn socket(&mut self, path: &Path) -> Result<(), Error> {
        self.journal.announce(Entry::Socket { path: path.to_owned() })
    }

    /// A file to mount another one at, announced as [`BuildContext::mount_point`] is.
    pub(crate) fn mount_file(&mut self, word: &str) -> Result<PathBuf, Error> {
        let path = self.own_dir.join(self.name(word));
        disk_file::create(&path)?;
        self.journal.announce(Entry::Mount { path: path.clone() })?;
        Ok(path)
    }

    /// Runs a program to its end and returns what it printed.
    pub(crate) fn run(&self, program: Program) -> Result<String, Error> {
        program.run(&self.journal.name(), self.stop)
    }

    /// Starts a daemon, announced, and waits until `is_ready`.
    pub(crate) fn serve(
        &mut self,
        program: Program,
        mut is_ready: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        self.start(program)?.until(self.stop, |_| is_ready().then_some(()))
    }

    /// Starts a daemon, announced, and waits until `ready` finds the expected output.
    pub(crate) fn serve_until_said<T>(
        &mut self,
        program: Program,
        mut wanted: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, Error> {
        self.start(program)?.until(self.stop, |program| wanted(&program.said()))
    }

    /// Starts a daemon, announced, waits until `is_ready`, and ends it when `work` is done.
    pub(crate) fn serve_while<T>(
        &mut self,
        program: Program,
        mut is_ready: impl FnMut() -> bool,
        work: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (daemon, token) = self.announced(program)?;
        daemon.until(self.stop, |_| is_ready().then_some(()))?;
        let done = work(self);
        marked::end_daemon(&token);
        done
    }

    /// Starts a daemon, announced.
    pub(crate) fn start(&mut self, program: Program) -> Result<Daemon, Error> {
        self.announced(program).map(|(daemon, _)| daemon)
    }

    /// Starts a daemon, announced, that goes to the background by itself when it is ready.
    pub(crate) fn detach(&mut self, program: Program) -> Result<(), Error> {
        let token = self.announce_daemon(&program)?;
        program.detach(&self.journal.name(), &token, self.stop)
    }

    /// The daemon and its token.
    fn announced(&mut self, program: Program) -> Result<(Daemon, String), Error> {
        let token = self.announce_daemon(&program)?;
        Ok((program.start(&self.journal.name(), &token)?, token))
    }

    fn announce_daemon(&mut self, program: &Program) -> Result<String, Error> {
        let token = new_token()?;
        self.journal.announce(Entry::Daemon { token: token.clone(), program: program.name() })?;
        Ok(token)
    }

    /// Warns that a layer has a cache that could answer instead of what is below it.
    pub(crate) fn caches(&mut self, cache: impl Into<String>) {
        self.caches.push(cache.into());
    }

    /// Adds a fact for the record and the report.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
