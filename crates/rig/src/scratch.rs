//! Private directories being made: where test files are laid out.

use std::path::Path;

use crate::entry::Entry;
use crate::entry::directory::marker_name;
use crate::error::Error;
use crate::held::Held;
use crate::journal::{Journal, token};

const ACTION: &str = "make a private directory in it";

/// Makes a private directory in `parent` (absolute, without symbolic links).
pub(crate) fn make(parent: &Path, journal: &mut Journal) -> Result<Held, Error> {
    make_in(&Held::at(parent).map_err(Error::cannot(ACTION, parent))?, journal)
}

/// Makes a private directory in a directory that is held.
pub(crate) fn make_in(parent: &Held, journal: &mut Journal) -> Result<Held, Error> {
    let failed = Error::cannot(ACTION, parent.shown());
    let name = format!(".iotax-{}", token().map_err(failed)?);
    let token = token().map_err(failed)?;
    journal.announce(Entry::Directory {
        path: parent.shown().join(&name),
        token: token.clone(),
        parent_inode: parent.inode().map_err(failed)?,
    })?;
    parent.make_private(&name, &marker_name(&token)).map_err(failed)
}
