//! The layers, one file each.
//!
//! To add one: a file here, its `mod` line, its arm in [`LayerConfig`], and its line in the
//! conformance suite (`conformance.rs`).

mod aes;
mod cache;
mod delay;
mod fault;
mod file;
mod flash;
mod mem;
mod queue;
mod throttle;
mod tier;

use std::fmt;

use crate::layer::Recipe;

pub use aes::AesConfig;
pub use cache::CacheConfig;
pub use delay::DelayConfig;
pub use fault::{FaultConfig, Trigger};
pub use file::FileConfig;
pub use flash::FlashConfig;
pub use mem::MemConfig;
pub use queue::QueueConfig;
pub use throttle::ThrottleConfig;
pub use tier::TierConfig;

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
    /// Base: a file.
    File(FileConfig),
    /// Encryption.
    Aes(AesConfig),
    /// A hop through a work queue.
    Queue(QueueConfig),
    /// Simulated latency.
    Delay(DelayConfig),
    /// Caps with burst credits.
    Throttle(ThrottleConfig),
    /// A device that saturates.
    Flash(FlashConfig),
    /// A read cache in memory.
    Cache(CacheConfig),
    /// A cache of any size whose hits are free below.
    Tier(TierConfig),
    /// Errors, short reads, stalls.
    Fault(FaultConfig),
}

impl fmt::Display for LayerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.recipe().fmt(f)
    }
}
