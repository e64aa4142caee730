//! `-S...`: caches and write-through.

use iotax_experiment::Error;

use super::line::{Caching, Given};
use crate::shell::Word;

const ADVICE: &str = "write -Sb (cached), -Su (O_DIRECT), -Sw (write through), -Sh (both), \
                      -Sm (mapped) or -Sr (no local cache)";

/// The flags in `value` on top of what was `before`. As in `DiskSpd`, one says how to cache and
/// one whether to write through; saying either twice is a conflict.
pub(super) fn read(
    before: Option<&Given<Caching>>,
    word: &Word,
    value: &str,
) -> Result<Caching, Error> {
    let mut caching = before.map(|given| given.value).unwrap_or_default();
    for flag in if value.is_empty() { "u" } else { value }.chars() {
        let cache_said = caching.cached || caching.unbuffered || caching.remote_only;
        let fresh = match flag {
            'b' | 'u' | 'r' => !cache_said,
            'w' => !caching.write_through,
            'h' => !cache_said && !caching.write_through,
            'm' => !caching.mapped,
            _ => {
                return Err(Error::syntax(format!("{}: -S knows no `{flag}`", word.text), ADVICE));
            }
        };
        if !fresh {
            let problem = format!("{}: what is cached is said twice", word.text);
            return Err(Error::syntax(problem, ADVICE));
        }
        match flag {
            'b' => caching.cached = true,
            'u' => caching.unbuffered = true,
            'r' => caching.remote_only = true,
            'w' => caching.write_through = true,
            'm' => caching.mapped = true,
            _ => (caching.unbuffered, caching.write_through) = (true, true),
        }
    }
    Ok(caching)
}
