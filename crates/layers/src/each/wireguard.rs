//! An encrypted tunnel: WireGuard, by the kernel or by a program in user space.

use crate::declaration::prelude::*;

/// A WireGuard tunnel; absent means the kernel's implementation if available.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Wireguard {
    /// Implementation: `kernel` or `wireguard-go`.
    pub by: Option<String>,
}

impl Declared for Wireguard {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "wireguard",
        about: "packet encryption: WireGuard, in the kernel or with wireguard-go",
        example: "wireguard",
        gives: Some(Form::Network),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            Need::IP,
            Need::program("wg", "wireguard-tools"),
            Need::Either {
                one: &Need::network("ip link add probe type wireguard", "WireGuard"),
                other: &Need::program("wireguard-go", "wireguard-go"),
            },
        ],
        parameters: Self::PARAMETERS,
        ..ON_NETWORK
    }];

    parameters! {
        by: parameter("by", Unit::Choice(&["kernel", "wireguard-go"]), None,
            "where to encrypt; by default in the kernel, if it supports WireGuard"),
    }
}
