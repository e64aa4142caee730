//! Values of flags: sizes, counts, percentages.

use iotax_experiment::Error;
use iotax_experiment::units::Unit;

const SIZE_ADVICE: &str =
    "write it as DiskSpd reads it: 4096, 4K, 64M, 2G, 1T (powers of 1024), or 8b for 8 blocks";

/// A size in bytes; `b` counts blocks of `block_bytes`.
pub(super) fn size(text: &str, block_bytes: u64) -> Result<u64, Error> {
    let refuse = |problem: &str| Unit::Size.refuse(text, problem, SIZE_ADVICE);
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let multiplier = match &text[digits.len()..] {
        "" => 1,
        "b" | "B" => block_bytes,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        "t" | "T" => 1_u64 << 40,
        _ => return Err(refuse("its unit is none of K, M, G, T and b")),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse("it is not a whole number"));
    }
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|number| number.checked_mul(multiplier))
        .ok_or_else(|| refuse("it is not below 16 EiB"))
}

/// A size above 0 that fits 32 bits.
pub(super) fn block(text: &str) -> Result<u32, Error> {
    let bytes = size(text, 64 << 10)?;
    match u32::try_from(bytes) {
        Ok(0) => Err(Unit::Size.refuse(text, "an I/O of 0 bytes does nothing", SIZE_ADVICE)),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(Unit::Size.refuse(text, "too large for one I/O: at most 4G - 1", "")),
    }
}

/// A whole number of at least `least`.
pub(super) fn count(text: &str, least: u32) -> Result<u32, Error> {
    let refuse = |problem: String| {
        Unit::Count.refuse(text, problem, "write it in digits, right behind the letter")
    };
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refuse("it is not all digits".into()));
    }
    let number: u32 = text.parse().map_err(|_| refuse("too large here".into()))?;
    if number < least { Err(refuse(format!("at least {least} is needed"))) } else { Ok(number) }
}

/// 0 to 100.
pub(super) fn percent(text: &str) -> Result<u8, Error> {
    let number = count(text, 0)?;
    u8::try_from(number)
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| Unit::Percent.refuse(text, "it is above 100", "write 0 to 100"))
}
