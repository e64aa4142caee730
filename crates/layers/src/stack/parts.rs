//! Parts of a stack, and facts about a stack as a whole.

use std::path::{Path, PathBuf};

use super::vdisk::Vdisk;
use super::{Layer, Stack};
use crate::each::cloud::{Cloud, CloudDisk, PartLayer};
use crate::error::{About, Error};

impl Stack {
    /// Bytes of the base; `None` if only the machine knows (a directory, a device, a server).
    pub fn size_bytes(&self) -> Option<u64> {
        self.base()?.size_bytes()
    }

    /// Names of the layers that can be removed, from bottom to top, with repeated ones numbered:
    /// `aes`, `aes#2`.
    pub fn layer_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for layer in self.layers.iter().filter(|layer| layer.is_optional()) {
            let is_taken = |name: &str| names.iter().any(|other| other == name);
            let word = layer.name();
            let name = if is_taken(word) { numbered(word, is_taken) } else { word.to_owned() };
            names.push(name);
        }
        names
    }

    /// The stack with only those of its optional layers whose bit is set in `mask`, the lowest
    /// bit for the lowest layer.
    #[must_use]
    pub fn subset(&self, mask: u32) -> Self {
        let mut bits = (0..u32::BITS).map(|k| mask >> k & 1 == 1);
        let kept = |layer: &&Layer| !layer.is_optional() || bits.next() == Some(true);
        Self { layers: self.layers.iter().filter(kept).cloned().collect() }
    }

    /// [`Stack::subset`], unless the rest does not fit together, because a layer may depend on one
    /// below it.
    ///
    /// # Errors
    /// [`Error::Impossible`], naming the rest.
    pub fn part(&self, mask: u32) -> Result<Self, Error> {
        let part = self.subset(mask);
        match Self::parse(&part.to_string()) {
            Err(error) => Err(Error::impossible(
                About::Experiment,
                "stack",
                format!(
                    "without some of its layers, the stack is `{part}`, which cannot be built: {}",
                    error.headline()
                ),
                "compare stacks that can be built: iotax compare a=STACK b=STACK",
            )),
            Ok(_) => Ok(part),
        }
    }

    /// Makes its paths absolute: see [`resolve_path`].
    pub fn resolve_paths(&mut self, directory: &Path, home: Option<&Path>) {
        for path in self.paths_mut() {
            resolve_path(path, directory, home);
        }
    }
}

/// Makes a relative path absolute; `~` is the home directory, if there is one.
pub fn resolve_path(path: &mut PathBuf, directory: &Path, home: Option<&Path>) {
    *path = match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        // Collecting components removes every `.`.
        _ => directory.join(&*path).components().collect(),
    };
}

/// `name#2`, or the first number that is free.
pub fn numbered(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    numbered_from(2, name, is_taken).0
}

/// The same, starting at a number; and the number after it.
pub fn numbered_from(first: u32, name: &str, is_taken: impl Fn(&str) -> bool) -> (String, u32) {
    let mut number = first;
    loop {
        let candidate = format!("{name}#{number}");
        number += 1;
        if !is_taken(&candidate) {
            return (candidate, number);
        }
    }
}

impl From<&PartLayer> for Layer {
    fn from(part: &PartLayer) -> Self {
        match part.clone() {
            PartLayer::File(layer) => Self::File(layer),
            PartLayer::Aes(layer) => Self::Aes(layer),
            PartLayer::Delay(layer) => Self::Delay(layer),
            PartLayer::Throttle(layer) => Self::Throttle(layer),
            PartLayer::Tier(layer) => Self::Tier(layer),
        }
    }
}

impl CloudDisk {
    /// Its layers as a stack.
    pub fn stack(&self) -> Stack {
        Stack { layers: self.parts.iter().map(|part| (&part.layer).into()).collect() }
    }
}

impl Stack {
    /// The cloud disk at the bottom, if there is one; for a virtual disk, the one inside it.
    pub fn cloud(&self) -> Option<&Cloud> {
        match self.layers.first()? {
            Layer::Cloud(cloud) => Some(cloud),
            Layer::Vdisk(Vdisk { stack }) => stack.cloud(),
            _ => None,
        }
    }

    /// The stack with its cloud disk replaced by the layers of that disk. Disks of one `owner` on
    /// the same VM size are on one VM and share its limits.
    #[must_use]
    pub fn spelled_out(&self, owner: &str) -> Self {
        let Some((Layer::Cloud(cloud), above)) = self.layers.split_first() else {
            return self.clone();
        };
        let mut whole = cloud.made.stack();
        for layer in &mut whole.layers {
            if let Layer::Throttle(throttle) = layer
                && let Some(group) = &mut throttle.group
                && !owner.is_empty()
            {
                *group = format!("{owner}/{group}");
            }
        }
        whole.layers.extend_from_slice(above);
        whole
    }
}
