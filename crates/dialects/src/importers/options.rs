//! Options of a job as its result has them, in fio's words.

/// Name and value, global ones first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options(pub Vec<(String, String)>);

impl FromIterator<(String, String)> for Options {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Options {
    /// The last of an option counts, as in fio.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.any(&[name])
    }

    /// The last of an option with several names.
    pub(crate) fn any(&self, names: &[&str]) -> Option<&str> {
        let found = self.0.iter().rev().find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value.as_str())
    }
}

/// A size as fio reads it: powers of two, whatever follows the letter (`4k`, `4kb`, `4KiB`).
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << power)
}

/// A time as fio reads it: seconds, if no unit follows.
pub(crate) fn microseconds(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    let factor = match unit.as_str() {
        "us" => 1,
        "ms" => 1_000,
        "" | "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Digits, and the rest in small letters.
fn split(text: &str) -> (&str, String) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_fios() {
        assert_eq!(
            ["4096", "4k", "4KB", "4kib", "1m"].map(bytes),
            [4096, 4096, 4096, 4096, 1 << 20].map(Some)
        );
        assert_eq!(["4k,8k", "x", "", "99999999999999999999"].map(bytes), [None; 4]);
        assert_eq!(["60", "60s", "1m", "60000ms"].map(microseconds), [Some(60_000_000); 4]);
        assert_eq!(["1h", "1x"].map(microseconds), [Some(3_600_000_000), None]);
    }
}
