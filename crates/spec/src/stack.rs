//! Stacks: layers from bottom to top, `file(size=2G) + aes + aes`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::layers::{Base, Layer};

/// Layers from bottom (the base, where bytes live) to top (what the load sees).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Never empty; the first one is a base.
    pub layers: Vec<Layer>,
}

impl Stack {
    /// Where its bytes live.
    pub fn base(&self) -> Option<Base<'_>> {
        self.layers.first()?.base()
    }
}

/// What an arm drives load at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A directory, a file or a block device; which one is found out on the machine.
    Path(PathBuf),
    /// A stack of layers, in this process or of the system.
    Stack(Stack),
    /// Results that fio or `DiskSpd` has written: nothing is driven, they are read.
    Results(Vec<PathBuf>),
}

impl Target {
    /// Whether it is a stack with layers of the system.
    pub fn is_in_system(&self) -> bool {
        self.stack().is_some_and(|stack| !stack.is_in_process())
    }

    /// Whether it is a stack that lives in this process alone.
    pub fn is_in_process(&self) -> bool {
        self.stack().is_some_and(Stack::is_in_process)
    }

    /// The path, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Stack(_) | Self::Results(_) => None,
        }
    }

    /// The stack, if it is one.
    pub fn stack(&self) -> Option<&Stack> {
        match self {
            Self::Stack(stack) => Some(stack),
            Self::Path(_) | Self::Results(_) => None,
        }
    }

    /// Its layers from bottom to top; a path has none.
    pub fn layers(&self) -> &[Layer] {
        self.stack().map_or(&[], |stack| &stack.layers)
    }

    /// Whether it is results that exist already.
    pub(crate) const fn is_results(&self) -> bool {
        matches!(self, Self::Results(_))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Stack(stack) => stack.fmt(f),
            Self::Results(files) => {
                let names: Vec<String> =
                    files.iter().map(|file| file.display().to_string()).collect();
                write!(f, "{}", names.join(","))
            }
        }
    }
}
