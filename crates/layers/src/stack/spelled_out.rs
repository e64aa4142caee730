//! What stands for other layers, and these in its place.

use super::vdisk::Vdisk;
use super::{Layer, Stack};
use crate::each::cloud::{Cloud, CloudDisk, PartLayer};

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
    /// The disk of a cloud at the bottom, if it is one; of a virtual disk, what that stands on.
    pub fn cloud(&self) -> Option<&Cloud> {
        match self.layers.first()? {
            Layer::Cloud(cloud) => Some(cloud),
            Layer::Vdisk(Vdisk { stack }) => stack.cloud(),
            _ => None,
        }
    }

    /// The stack with the layers of its cloud's disk in the place of that. Disks of one `owner` that
    /// are on the same size are on one VM, whose limits they share.
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
