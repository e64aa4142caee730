//! What a conclusion is about.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::matrix::Setting;
use crate::rule::Rule;
use crate::spec::{Design, Draft};

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
    /// The word for all layers together in a rule, where no layer is called so.
    pub const TOTAL: &str = "total";

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

impl Draft {
    /// What a rule is about; `None`: all that it can be about. Of a peel a layer has its name before
    /// the word for all of them.
    pub fn subject_of(&self, rule: &Rule) -> Option<Subject> {
        let of = rule.of.as_ref()?;
        Some(match &self.design {
            Design::Peel { layers, .. } if layers.contains(of) => Subject::Layer(of.clone()),
            Design::Peel { .. } if of == Subject::TOTAL => Subject::Total,
            _ => Subject::Arm(of.clone()),
        })
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
            Self::Total => map.serialize_entry("subject", Self::TOTAL)?,
            Self::Level(level) => {
                map.serialize_entry("subject", "level")?;
                map.serialize_entry("level", level)?;
            }
        }
        map.end()
    }
}
