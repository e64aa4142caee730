//! What the pseudonyms in something that is handed on stand for, in a file beside it, for its owner.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use iotax_record::Location;
use iotax_report::Redactor;

use crate::exit::{Context as _, Result, bug, usage};

/// For nobody else.
const MODE: u32 = 0o600;

/// Where the key of `handed_on` belongs: beside it, never in it.
pub(crate) fn beside(handed_on: &Path) -> PathBuf {
    let mut name = handed_on.file_name().unwrap_or_default().to_owned();
    name.push(".key.json");
    handed_on.with_file_name(name)
}

/// Writes the key; what is there is never overwritten.
///
/// # Errors
/// If it cannot be written, or there is one.
pub(crate) fn write(file: &Location, redactor: &Redactor) -> Result<()> {
    let mut text = serde_json::to_string_pretty(&redactor.key()).map_err(bug)?;
    text.push('\n');
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(MODE);
    match options.open(file.at()).and_then(|mut key| key.write_all(text.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let file = file.shown().display();
            Err(usage(format!("{file} exists already: name another file")))
        }
        written => {
            written.with_context(|| format!("cannot write the key {}", file.shown().display()))
        }
    }
}
