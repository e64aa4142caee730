//! `buffer_pattern` and `verify_pattern`: data written as strings and numbers, one after the other
//! (`lib/pattern.c`).

use super::Unreadable;

/// As much as fio takes (`MAX_PATTERN_SIZE`).
const MOST: usize = 512;

/// The bytes, or `None` where the pattern has more than its bytes: a file's content, or `%o`.
pub(super) fn pattern(text: &str) -> Result<Option<Vec<u8>>, Unreadable> {
    let (mut bytes, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        if rest.starts_with('\'') || rest.starts_with('%') {
            return Ok(None);
        }
        if let Some(quoted) = rest.strip_prefix('"') {
            let Some((string, behind)) = quoted.split_once('"') else {
                return Err(Unreadable::new(format!("`{rest}` has no closing quote"), ""));
            };
            bytes.extend(string.bytes());
            rest = behind;
        } else {
            rest = number(rest, &mut bytes)?;
        }
    }
    if bytes.is_empty() || bytes.len() > MOST {
        let problem = format!("`{text}` is data of {} bytes", bytes.len());
        return Err(Unreadable::new(problem, format!("fio takes 1 to {MOST}")));
    }
    Ok(Some(bytes))
}

/// Hexadecimal digits as they stand; decimal numbers with their lowest byte first. What follows.
fn number<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, Unreadable> {
    let refuse = || {
        let advice = "write it as \"text\", 0xdeadbeef or a number of 32 bits";
        Unreadable::new(format!("`{text}` is not a pattern"), advice)
    };
    let end_of =
        |text: &str, is: fn(char) -> bool| text.find(|c: char| !is(c)).unwrap_or(text.len());
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = end_of(digits, |c| c.is_ascii_hexdigit());
        let (digits, rest) = digits.split_at(end);
        if digits.is_empty() {
            return Err(refuse());
        }
        let whole = format!("{}{digits}", if end % 2 == 1 { "0" } else { "" });
        for at in (0..whole.len()).step_by(2) {
            bytes.push(u8::from_str_radix(&whole[at..at + 2], 16).map_err(|_| refuse())?);
        }
        return Ok(rest);
    }
    let sign = usize::from(text.starts_with('-'));
    let mut end = sign + end_of(&text[sign..], |c| c.is_ascii_digit());
    // The `0` of a `0x` that follows is not a digit of this one.
    if text[end..].starts_with(['x', 'X']) && text[..end].ends_with('0') {
        end -= 1;
    }
    let (number, rest) = text.split_at(end);
    if sign == 1 {
        let number = number.parse::<i32>().map_err(|_| refuse())?;
        bytes.extend(number.to_le_bytes());
    } else {
        let number = number.parse::<u32>().map_err(|_| refuse())?;
        let used = 4 - (number.leading_zeros() / 8).min(3) as usize;
        bytes.extend(&number.to_le_bytes()[..used]);
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> String {
        match pattern(text) {
            Ok(Some(bytes)) => {
                bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
            }
            Ok(None) => "more than bytes".to_owned(),
            Err(Unreadable { problem, .. }) => problem,
        }
    }

    /// As fio 3.33 writes them.
    #[test]
    fn patterns_are_the_bytes_that_fio_writes() {
        for (text, bytes) in [
            ("0xdeadbeef", "deadbeef"),
            ("0xabc", "0abc"),
            ("0x1", "01"),
            ("-12", "f4ffffff"),
            ("300", "2c01"),
            ("0", "00"),
            ("70000", "701101"),
            ("\"abcd\"-120xdeadface", "61626364f4ffffffdeadface"),
            ("0xff\"xy\"", "ff7879"),
            ("0x0", "00"),
            ("-1", "ffffffff"),
            ("'/etc/passwd'", "more than bytes"),
            ("0xaa%o", "more than bytes"),
            ("4294967296", "`4294967296` is not a pattern"),
            ("\"ab", "`\"ab` has no closing quote"),
            ("x", "`x` is not a pattern"),
        ] {
            assert_eq!(hex(text), bytes, "{text}");
        }
    }
}
