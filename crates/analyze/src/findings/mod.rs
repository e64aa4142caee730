//! What was found beside the comparisons, as data. Its words are in another room.

mod doubt;
mod question;
mod state;

pub use doubt::{
    CacheWay, Check, ColdCache, Doubt, DoubtKind, GrantedOption, GrantedOtherwise, InFlight,
    LevelShift, Outlook, Withheld,
};
pub use question::{NoAnswer, OpenQuestion};
pub use state::{NotPreconditioned, Regime, TrialOutcome};
