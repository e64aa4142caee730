//! How much of a target a load can use.

use std::path::Path;

use iotax_experiment::{Base, Form, Target};
use iotax_inspect::SiteKind;

/// Bytes of `target` that a load may use: all of a file, device or disk; `in_directory` bytes of a
/// directory. Whole MiB; 0 if it holds not even one, or cannot be looked at, which
/// [`Rig::open`](crate::Rig::open) refuses in its own words.
pub fn span_bytes(target: &Target, in_directory: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    let size = |path: &Path| {
        iotax_inspect::site(path).map_or(0, |facts| match facts.kind {
            SiteKind::Directory => in_directory,
            _ => facts.size_bytes,
        })
    };
    let bytes = match target {
        Target::Path(path) => size(path),
        Target::Stack(stack) if stack.form() == Form::Directory => in_directory,
        Target::Stack(stack) => match (stack.size_bytes(), stack.base()) {
            (Some(bytes), _) => bytes,
            (None, Some(Base::Device(path))) => size(path),
            _ => in_directory,
        },
        Target::Several(_) => 0,
    };
    bytes - bytes % MIB
}
