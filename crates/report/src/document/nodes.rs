//! A map of nodes: a tile for each, in groups.

use iotax_wording::verdict::nodes::Standing;

/// The nodes of a fleet, and how tiles show them.
#[derive(Debug)]
pub(crate) struct NodeMap {
    /// Whether there are so many that a tile has room for a sign alone.
    pub(crate) is_dense: bool,
    pub(crate) groups: Vec<NodeGroup>,
    /// What each colour means, from worst to best.
    pub(crate) colours: Vec<(i8, String)>,
    /// What each mark means.
    pub(crate) marks: Vec<(Standing, String)>,
}

/// Nodes that are in one place.
#[derive(Debug)]
pub(crate) struct NodeGroup {
    /// Empty where there is one place, or none is known.
    pub(crate) heading: String,
    pub(crate) nodes: Vec<NodeTile>,
}

#[derive(Debug)]
pub(crate) struct NodeTile {
    pub(crate) name: String,
    /// Its difference without the interval.
    pub(crate) size: String,
    /// Its verdict.
    pub(crate) word: String,
    pub(crate) standing: Standing,
    /// Of the colour: more than 0 is worse; `None` if no difference is known.
    pub(crate) step: Option<i8>,
    /// Everything that is known of it.
    pub(crate) said: String,
}

/// How the standing of a node is shown.
pub(crate) trait StandingLook {
    /// The name used as CSS class.
    fn class(self) -> &'static str;
    /// What a tile bears, so that it is not known by colour alone.
    fn sign(self) -> &'static str;
}

impl StandingLook for Standing {
    fn class(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Faster => "faster",
            Self::Same => "equal",
            Self::Unnamed => "unnamed",
            Self::Open => "undecided",
            Self::Unjudged => "unjudged",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Slow => "!",
            Self::Faster => "+",
            Self::Same => "=",
            Self::Unnamed => "",
            Self::Open => "?",
            Self::Unjudged => "×",
        }
    }
}
