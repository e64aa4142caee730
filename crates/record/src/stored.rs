//! JSON of the types in records. What serde makes of one is large, and made again in each crate that
//! reads or writes it: here it is made once, for all of them.

use iotax_experiment::{Spec, Target};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cluster::ClusterSeen;
use crate::{End, ExperimentHead, Machine, ProbeRecord, SearchHead, Trial};

/// A type with a form in JSON.
pub trait Stored: Sized {
    fn decode(text: &[u8]) -> serde_json::Result<Self>;
    /// On one line.
    fn encode(&self) -> Vec<u8>;
    /// For people as well.
    fn encode_pretty(&self) -> Vec<u8>;
}

macro_rules! stored {
    ($($type:ty),*) => {$(
        impl Stored for $type {
            fn decode(text: &[u8]) -> serde_json::Result<Self> {
                serde_json::from_slice(text)
            }

            fn encode(&self) -> Vec<u8> {
                serde_json::to_vec(self).expect("types of records are always JSON")
            }

            fn encode_pretty(&self) -> Vec<u8> {
                serde_json::to_vec_pretty(self).expect("types of records are always JSON")
            }
        }
    )*};
}

stored!(ClusterSeen, End, ExperimentHead, Machine, ProbeRecord, SearchHead, Spec, Target, Trial);
stored!(Value, Version);

/// What is read of a head first.
#[derive(Serialize, Deserialize)]
pub(crate) struct Version {
    pub format: u32,
}
