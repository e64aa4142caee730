//! Encryption of Ethernet frames, as between switches and hosts.

use crate::declaration::prelude::*;

/// MACsec (IEEE 802.1AE), by the kernel, with AES-128-GCM.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Macsec {}

impl Declared for Macsec {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "macsec",
        about: "frame encryption: MACsec with AES-128-GCM, in the kernel",
        example: "macsec",
        takes: &[Form::Ethernet],
        gives: Some(Form::Ethernet),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            Need::IP,
            // A device would need an Ethernet device below it; this asks the module itself.
            Need::network("ip macsec show", "MACsec"),
        ],
        ..ON_NETWORK
    }];

    parameters! {}
}
