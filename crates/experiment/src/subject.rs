//! What a conclusion is about.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::Setting;

/// What a conclusion is about. A name never decides which it is: an arm or a layer may be called
/// as it likes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An arm against its baseline.
    Arm(String),
    /// A layer of a peel, by its name in the stack.
    Layer(String),
    /// What two layers cost together beyond what each costs alone.
    Interaction([String; 2]),
    /// All layers of a peel together.
    Total,
    /// A level of a matrix against the first level of its factor.
    Level(Setting),
}

impl Subject {
    /// The arm's name, of an arm.
    pub fn arm(&self) -> Option<&str> {
        match self {
            Self::Arm(name) => Some(name),
            _ => None,
        }
    }

    pub const fn is_interaction(&self) -> bool {
        matches!(self, Self::Interaction(_))
    }
}

/// Entries of a map, to be flattened into what is about the subject: `"subject": "arm"` and
/// `"arm": "name"`.
impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Arm(name) => {
                map.serialize_entry("subject", "arm")?;
                map.serialize_entry("arm", name)?;
            }
            Self::Layer(name) => {
                map.serialize_entry("subject", "layer")?;
                map.serialize_entry("layer", name)?;
            }
            Self::Interaction(layers) => {
                map.serialize_entry("subject", "interaction")?;
                map.serialize_entry("layers", layers)?;
            }
            Self::Total => map.serialize_entry("subject", "total")?,
            Self::Level(level) => {
                map.serialize_entry("subject", "level")?;
                map.serialize_entry("level", level)?;
            }
        }
        map.end()
    }
}
