//! Integers in as few bytes as they need: LEB128, and zigzag for signed ones.

pub(crate) const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

pub(crate) const fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// The lowest seven bits.
#[allow(clippy::cast_possible_truncation, reason = "seven bits fit")]
const fn low(number: u64) -> u8 {
    (number & 0x7f) as u8
}

/// Appends a number.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(low(number) | 0x80);
        number >>= 7;
    }
    out.push(low(number));
}

/// Takes one from the front; `None` if there is none, or it is longer than 64 bits.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number = with_part(number, *first, shift)?;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Adds seven bits to `number` at `shift`; `None` on overflow.
fn with_part(number: u64, byte: u8, shift: u32) -> Option<u64> {
    let part = u64::from(byte & 0x7f);
    let placed = part << shift;
    (placed >> shift == part).then_some(number | placed)
}

/// All numbers: first the first byte of each, then the second of those that have one, and so on.
/// Bytes of the same weight resemble each other, and compress better.
pub(crate) fn put_all(numbers: &[u64]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * numbers.len());
    let mut rest: Vec<u64> = numbers.to_vec();
    while !rest.is_empty() {
        rest.retain_mut(|number| {
            let byte = low(*number);
            *number >>= 7;
            let goes_on = *number > 0;
            out.push(byte | u8::from(goes_on) << 7);
            goes_on
        });
    }
    out
}

/// Decodes `count` numbers that `put_all` wrote; `None` if the input is malformed.
pub(crate) fn take_all(mut bytes: &[u8], count: usize) -> Option<Vec<u64>> {
    let mut numbers = vec![0_u64; count];
    let mut open: Vec<usize> = (0..count).collect();
    let mut shift = 0;
    while !open.is_empty() {
        if shift >= 64 {
            return None;
        }
        let (plane, rest) = bytes.split_at_checked(open.len())?;
        bytes = rest;
        let mut longer = Vec::new();
        for (&at, &byte) in open.iter().zip(plane) {
            numbers[at] = with_part(numbers[at], byte, shift)?;
            if byte & 0x80 != 0 {
                longer.push(at);
            }
        }
        open = longer;
        shift += 7;
    }
    bytes.is_empty().then_some(numbers)
}

/// Bits that a duration keeps: the error of both roundings is at most 1 in 80.
const KEPT_BITS: u32 = 6;
/// Durations are counted in units of this many nanoseconds.
const UNIT_NS: u64 = 16;

/// The longest duration: 36 years.
const LONGEST_NS: u64 = 1 << 60;

/// A duration as a small number, rounded to the nearest that has one.
pub(crate) const fn short(ns: u64) -> u64 {
    let ns = if ns < LONGEST_NS { ns } else { LONGEST_NS };
    let units = ns / UNIT_NS + (ns % UNIT_NS >= UNIT_NS / 2) as u64;
    let bits = u64::BITS - units.leading_zeros();
    if bits <= KEPT_BITS + 1 {
        return units;
    }
    let shift = bits - KEPT_BITS - 1;
    let rounded = (units + (1 << (shift - 1))) >> shift;
    // Rounded up to the next power of two, it begins the next row.
    ((shift as u64) << KEPT_BITS) + rounded
}

/// The inverse of `short`; `None` if the number is not valid.
pub(crate) const fn long(code: u64) -> Option<u64> {
    let row = code >> KEPT_BITS;
    if row <= 1 {
        return Some(code * UNIT_NS);
    }
    let shift = row - 1;
    let mantissa = code & ((1 << KEPT_BITS) - 1) | 1 << KEPT_BITS;
    if shift >= mantissa.leading_zeros() as u64 {
        return None;
    }
    (mantissa << shift).checked_mul(UNIT_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_their_size() {
        let mut worst = 0.0_f64;
        for power in 10..60 {
            for part in 0..1000 {
                let ns = (1_u64 << power) + (1_u64 << power) / 1000 * part;
                let kept = long(short(ns)).expect("it was made");
                worst = worst.max((kept as f64 / ns as f64 - 1.0).abs());
                assert_eq!(short(kept), short(ns));
            }
        }
        assert!(worst <= 1.0 / 80.0, "{worst}");
        for units in 0..1 << 12 {
            assert!(short(units * UNIT_NS) <= short((units + 1) * UNIT_NS));
        }
    }

    #[test]
    fn numbers_that_none_wrote_are_refused() {
        assert_eq!(long(u64::MAX), None);
        assert_eq!(take_all(&[0xff; 20], 1), None);
        assert_eq!(take_all(&[1, 2], 1), None);
        assert_eq!(take_all(&[1], 2), None);
        assert_eq!(take(&mut [0xff_u8; 10].as_slice()), None);
    }
}
