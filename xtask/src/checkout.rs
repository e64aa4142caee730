//! The path of the checkout.

use std::path::{Path, PathBuf};

/// Its root directory.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the checkout").to_owned()
}
