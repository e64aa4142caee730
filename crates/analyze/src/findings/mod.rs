//! What was found beside the comparisons, as data. Its words are in another room.

mod doubt;
mod question;

pub use doubt::{
    CacheWay, Check, ColdCache, Doubt, DoubtKind, GrantedOption, GrantedOtherwise, InFlight,
    LevelShift, Outlook, Withheld,
};
pub use question::{NoAnswer, OpenQuestion};
