//! The option that was probably meant.

use crate::fio::options::{self, OptionInfo};

/// The known name nearest to `name`, if at most a third of it is mistyped.
pub(super) fn closest(name: &str) -> Option<&'static str> {
    let letters = letters(name);
    options::all()
        .flat_map(OptionInfo::names)
        .filter(|known| {
            // Each mistake changes the length by at most one, and the set of letters by two:
            // this leaves few names to compare in full.
            let most = (known.len() / 3).max(1);
            let differing = (letters ^ self::letters(known)).count_ones() as usize;
            known.len().abs_diff(name.len()) <= most && differing <= 2 * most
        })
        .map(|known| (strsim::damerau_levenshtein(name, known), known))
        .filter(|(distance, known)| *distance <= (known.len() / 3).max(1) && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The set of letters in a name.
fn letters(name: &str) -> u32 {
    name.bytes().filter(u8::is_ascii_lowercase).fold(0, |set, byte| set | 1 << (byte - b'a'))
}
