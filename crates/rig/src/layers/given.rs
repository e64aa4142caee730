//! What is the user's, and only used.

use iotax_layers::{Dev, Dir};

use crate::layers::maker::{Made, Maker};

impl Made for Dir {
    fn maker(&self) -> Maker<'_> {
        Maker::Given
    }
}

impl Made for Dev {
    fn maker(&self) -> Maker<'_> {
        Maker::Given
    }
}
