//! A file system in memory.

use std::path::Path;

use crate::error::Error;
use crate::layers::{System, Top};
use crate::mounts;
use crate::needs::Need;
use crate::workshop::Workshop;

pub(crate) struct Tmpfs {
    pub(crate) size_bytes: u64,
}

impl System for Tmpfs {
    fn needs(&self) -> Vec<Need> {
        vec![Need::Root, Need::FileSystem { name: "tmpfs" }]
    }

    fn make(&self, _below: Top, workshop: &mut Workshop<'_>) -> Result<Top, Error> {
        let at = workshop.mount_point("tmpfs")?;
        let options = format!("size={},mode=0700", self.size_bytes);
        mounts::mount(Path::new("iotax"), &at, "tmpfs", &options)?;
        Ok(Top::directory(at))
    }
}
