//! The layers, one file each.
//!
//! To add one: a file here, its `mod` line, its arm in [`LayerConfig`], and its line in the
//! conformance suite (`conformance.rs`).

mod delay;
mod mem;

use std::fmt;

use crate::layer::Recipe;

pub use delay::DelayConfig;
pub use mem::MemConfig;

/// The enum of configurations together with its only use: as a [`Recipe`].
macro_rules! layer_configs {
    ($($(#[$doc:meta])* $arm:ident($config:ty),)*) => {
        /// One layer of a stack as asked for. Displays as it is written in a stack text.
        #[derive(Clone, Debug, PartialEq)]
        pub enum LayerConfig {
            $($(#[$doc])* $arm($config),)*
        }

        impl LayerConfig {
            pub(crate) fn recipe(&self) -> &dyn Recipe {
                match self {
                    $(Self::$arm(config) => config,)*
                }
            }
        }
    };
}

layer_configs! {
    /// Base: memory.
    Mem(MemConfig),
    /// Simulated latency.
    Delay(DelayConfig),
}

impl fmt::Display for LayerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.recipe().fmt(f)
    }
}
