//! A file system in memory.

use std::path::Path;

use iotax_layers::Tmpfs;

use crate::layers::maker::prelude::*;

impl System for Tmpfs {
    /// Pages of directories count, too.
    fn left_for_files(&self, below_bytes: u64) -> u64 {
        below_bytes / 10 * 9
    }

    fn make(&self, _below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        let at = context.mount_point("tmpfs")?;
        let options = format!("size={},mode=0700", self.size_bytes);
        mounts::mount(Path::new("iotax"), &at, "tmpfs", &options)?;
        Ok(Top::directory(at))
    }
}
