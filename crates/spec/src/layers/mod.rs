//! The layers, each declared once: one file with what it is made of, how it is written, what it
//! takes and gives, what it does and what it needs.
//!
//! Stack text, its errors, its canonical form, checks of stacks and the listing for users all read
//! these declarations. A new layer is one file here with its `mod` line and its line in
//! [`each_layer`](crate::each_layer); what makes it is in `rig`. What it leaves open does not
//! compile.

mod aes;
mod base;
mod cache;
mod cgroup_io;
mod delay;
mod dev;
mod dir;
mod dmcrypt;
mod fault;
mod file;
mod file_system;
mod flash;
mod fscrypt;
mod gocryptfs;
mod info;
mod loop_device;
mod luks;
mod mem;
mod need;
mod nfs;
mod queue;
mod throttle;
mod tier;
mod tmpfs;
mod vdisk;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use info::Values;

pub use base::Base;
pub use file_system::FileSystemKind;
pub use info::{Does, Form, LayerInfo, Submitter, World};
pub use need::{Need, Version};
pub use throttle::Counts;

/// Hands all layers, in the order of listings, to the macro `$then`: the bases, in which bytes live,
/// and what stands above them; of each the module of its file here and its type.
#[macro_export]
macro_rules! each_layer {
    ($then:ident) => {
        $then! {
            bases {
                mem::Mem,
                file::File,
                dir::Dir,
                dev::Dev,
                tmpfs::Tmpfs,
                nfs::Nfs,
                vdisk::Vdisk,
            }
            above {
                aes::Aes,
                queue::Queue,
                delay::Delay,
                cache::Cache,
                tier::Tier,
                fault::Fault,
                throttle::Throttle,
                flash::Flash,
                cgroup_io::CgroupIo,
                loop_device::Loop,
                luks::Luks,
                dmcrypt::Dmcrypt,
                file_system::FileSystem,
                fscrypt::Fscrypt,
                gocryptfs::Gocryptfs,
            }
        }
    };
}

/// What every layer says of itself.
pub(crate) trait Declared {
    /// The words that make such a layer.
    const WORDS: &'static [LayerInfo];

    /// Which of its words this layer is.
    fn word(&self) -> usize {
        0
    }

    /// Every parameter in the order of its declaration.
    fn values(&self) -> Values;

    /// What it needs of the layers below it besides their form; may tell them so.
    fn fit(&self, _below: &mut [Layer]) -> Result<(), Error> {
        Ok(())
    }
}

/// What a base says of itself as well.
pub(crate) trait Holds {
    /// Where its bytes live.
    fn base(&self) -> Base<'_>;

    /// Paths that the user named.
    fn paths_mut(&mut self) -> Vec<&mut PathBuf>;
}

macro_rules! declare {
    (
        bases { $($base:ident::$Base:ident,)* }
        above { $($above:ident::$Above:ident,)* }
    ) => {
        $(pub use $base::$Base;)*
        $(pub use $above::$Above;)*

        /// One thing in the path that can cost.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "layer", rename_all = "snake_case")]
        #[expect(missing_docs, reason = "each is documented at its type")]
        pub enum Layer {
            $($Base($Base),)*
            $($Above($Above),)*
        }

        /// The words of each.
        static CATALOG: &[&[LayerInfo]] = &[$($Base::WORDS,)* $($Above::WORDS,)*];

        impl Layer {
            /// This layer's entry in the catalog.
            pub fn info(&self) -> &'static LayerInfo {
                match self {
                    $(Self::$Base(it) => &$Base::WORDS[it.word()],)*
                    $(Self::$Above(it) => &$Above::WORDS[it.word()],)*
                }
            }

            pub(crate) fn values(&self) -> Values {
                match self {
                    $(Self::$Base(it) => it.values(),)*
                    $(Self::$Above(it) => it.values(),)*
                }
            }

            pub(crate) fn fit(&self, below: &mut [Self]) -> Result<(), Error> {
                match self {
                    $(Self::$Base(it) => it.fit(below),)*
                    $(Self::$Above(it) => it.fit(below),)*
                }
            }

            /// Where bytes live in it, if they do.
            pub fn base(&self) -> Option<Base<'_>> {
                match self {
                    $(Self::$Base(it) => Some(it.base()),)*
                    $(Self::$Above(_) => None,)*
                }
            }

            /// Paths that the user named.
            pub(crate) fn paths_mut(&mut self) -> Vec<&mut PathBuf> {
                match self {
                    $(Self::$Base(it) => it.paths_mut(),)*
                    $(Self::$Above(_) => Vec::new(),)*
                }
            }
        }
    };
}

each_layer!(declare);

impl Layer {
    /// Every layer there is, bases first, with its parameters.
    pub fn catalog() -> impl Iterator<Item = &'static LayerInfo> {
        CATALOG.iter().copied().flatten()
    }

    /// The word that names the layer in stack text.
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// Whether bytes live in this layer; a base is at the bottom and cannot be taken off.
    pub fn is_base(&self) -> bool {
        self.info().is_base()
    }

    /// Whether the layer can be taken off a stack.
    pub(crate) fn is_optional(&self) -> bool {
        !matches!(self.info().does, Does::Holds | Does::Carries)
    }
}

impl LayerInfo {
    /// The entry for a word of stack text.
    ///
    /// # Errors
    /// The nearest word there is, if there is none of that name.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        let unknown = || Error::unknown("layer", name, Layer::catalog().map(|layer| layer.name));
        Layer::catalog().find(|layer| layer.name == name).ok_or_else(unknown)
    }
}

/// A message in which the list of all layers is `ALL`, for snapshots that a new layer leaves alone.
#[cfg(test)]
pub(crate) fn abbreviated(message: impl std::fmt::Display) -> String {
    let names: Vec<_> = Layer::catalog().map(|layer| layer.name).collect();
    message.to_string().replace(&names.join(", "), "ALL")
}

#[cfg(test)]
mod tests;
