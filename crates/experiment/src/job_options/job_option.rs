//! What an option is.

use iotax_layers::Error;
use iotax_layers::units::Unit;

/// One option of something of type `T`.
pub(crate) struct JobOption<T> {
    /// As written in files; `_` may stand for `-` on the command line.
    pub name: &'static str,
    /// What fio calls it, accepted on the command line.
    pub fio: Option<&'static str>,
    pub unit: Unit,
    pub about: &'static str,
    pub set: fn(&mut T, &str) -> Result<(), Error>,
}

/// An option with these words.
pub(super) const fn option<T>(
    name: &'static str,
    fio: Option<&'static str>,
    unit: Unit,
    about: &'static str,
    set: fn(&mut T, &str) -> Result<(), Error>,
) -> JobOption<T> {
    JobOption { name, fio, unit, about, set }
}
