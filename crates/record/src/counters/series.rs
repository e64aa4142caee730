//! One column of samples.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values of a counter or gauge, one per sample; `None` if it could not be read.
///
/// Written as an array: the first value, then the difference of each value from the last one before
/// it, `null` for missing values. Trailing samples that equal the one before are left out, and so
/// is a column of zeros.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Series(Vec<Option<u64>>);

impl Series {
    /// The value at sample `index`. After the written values, the last one applies.
    pub fn at(&self, index: usize) -> Option<u64> {
        match self.0.get(index).or(self.0.last()) {
            Some(value) => *value,
            None => Some(0),
        }
    }

    /// Without values that reading restores, so that equal columns compare equal.
    fn trimmed(mut values: Vec<Option<u64>>) -> Self {
        while let Some((last, before)) = values.split_last()
            && *last == before.last().copied().unwrap_or(Some(0))
        {
            values.pop();
        }
        Self(values)
    }
}

impl FromIterator<Option<u64>> for Series {
    fn from_iter<I: IntoIterator<Item = Option<u64>>>(values: I) -> Self {
        Self::trimmed(values.into_iter().collect())
    }
}

impl Serialize for Series {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut before = None;
        serializer.collect_seq(self.0.iter().map(|value| {
            let value = (*value)?;
            // A difference of two counters fits in 65 bits.
            let difference = i128::from(value) - i128::from(before.unwrap_or(0_u64));
            before = Some(value);
            Some(difference)
        }))
    }
}

impl<'de> Deserialize<'de> for Series {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Vec::<Option<i128>>::deserialize(deserializer)?;
        let mut before: i128 = 0;
        let values = written.into_iter().map(|difference| {
            let Some(difference) = difference else { return Ok(None) };
            // Saturates: values stay out of range after the first one that is.
            before = before.saturating_add(difference);
            u64::try_from(before).map(Some).map_err(|_| {
                serde::de::Error::custom(format!(
                    "a counter would be {before}, which is not an unsigned 64-bit number"
                ))
            })
        });
        Ok(Self::trimmed(values.collect::<Result<_, D::Error>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(values: &[Option<u64>]) -> Series {
        values.iter().copied().collect()
    }

    fn json(values: &[Option<u64>]) -> String {
        serde_json::to_string(&series(values)).unwrap()
    }

    #[test]
    fn a_column_is_its_first_value_and_differences() {
        assert_eq!(json(&[Some(100), Some(103), Some(101)]), "[100,3,-2]");
        assert_eq!(json(&[Some(0), Some(u64::MAX), Some(0)]), format!("[0,{0},-{0}]", u64::MAX));
    }

    #[test]
    fn what_stays_the_same_is_left_out() {
        assert_eq!(json(&[Some(0); 4]), "[]");
        assert_eq!(json(&[Some(7); 4]), "[7]");
        assert_eq!(json(&[Some(7), Some(7), Some(8), Some(8)]), "[7,0,1]");
    }

    #[test]
    fn a_device_that_was_gone_for_a_while_leaves_a_gap() {
        assert_eq!(json(&[Some(5), None, None, Some(9), None]), "[5,null,null,4,null]");
        let gone = series(&[Some(5), None, None]);
        assert_eq!([0, 1, 9].map(|i| gone.at(i)), [Some(5), None, None]);
    }

    #[test]
    fn a_counter_below_zero_is_refused_in_words() {
        let error = serde_json::from_str::<Series>("[1,-2]").unwrap_err();
        insta::assert_snapshot!(error, @"a counter would be -1, which is not an unsigned 64-bit number");
        assert!(serde_json::from_str::<Series>("[18446744073709551615,1]").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            values in proptest::collection::vec(proptest::option::weighted(0.9, any::<u64>()), 0..9),
            repeated in 0..4_usize,
        ) {
            let mut values = values;
            values.extend(std::iter::repeat_n(values.last().copied().unwrap_or(Some(0)), repeated));
            let written = series(&values);
            for (i, value) in values.iter().enumerate() {
                prop_assert_eq!(written.at(i), *value);
            }
            let json = serde_json::to_string(&written).unwrap();
            prop_assert_eq!(serde_json::from_str::<Series>(&json).unwrap(), written);
        }

        #[test]
        fn no_array_makes_the_reader_panic(numbers in proptest::collection::vec(any::<i128>(), 0..9)) {
            let text = serde_json::to_string(&numbers).unwrap();
            let _ = serde_json::from_str::<Series>(&text);
        }
    }
}
