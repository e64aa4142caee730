//! Reduces time series to the number of steps that a page has room for. A step of several intervals
//! has their mean, minimum and maximum, so that no extreme is lost.

use std::ops::Range;

use serde::{Serialize, Serializer};

/// Start and end, in seconds.
pub(crate) type Interval = (f64, f64);

/// Combines as few neighbours (seconds, trials or blocks) as possible so that the JSON has at most
/// `room` bytes. Also returns their number.
pub(crate) fn within<T: Serialize>(room: usize, draw: impl Fn(u32) -> T) -> (T, u32) {
    const MOST: u32 = 1 << 24;
    let mut together = 1;
    loop {
        let drawn = draw(together);
        let json = serde_json::to_string(&drawn).expect("charts have string keys and plain values");
        if json.len() <= room || together > MOST {
            return (drawn, together);
        }
        together += together.div_ceil(4);
    }
}

/// A number with few characters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Number(f64);

impl Number {
    /// The number of digits that a drawing can show.
    pub(crate) fn short(value: f64) -> Self {
        Self(format!("{value:.2e}").parse().unwrap_or(value))
    }

    /// More digits, for ratios near 1.
    pub(crate) fn digits(value: f64) -> Self {
        Self(format!("{value:.4e}").parse().unwrap_or(value))
    }

    pub(crate) fn whole(value: f64) -> Self {
        Self(value.round())
    }

    pub(crate) const fn is_zero(self) -> bool {
        self.0 == 0.0
    }

    pub(crate) fn hundredths(value: f64) -> Self {
        Self((value * 100.0).round() / 100.0)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const MOST: f64 = 9e15;
        if self.0.fract() == 0.0 && self.0.abs() < MOST {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number within range")]
            return serializer.serialize_i64(self.0 as i64);
        }
        serializer.serialize_f64(self.0)
    }
}

/// Start and end of steps.
#[derive(Debug, Serialize)]
pub(crate) struct Steps {
    /// Runs of steps with equal length: start, end, and number.
    runs: Vec<(Number, Number, usize)>,
    /// The intervals of each step.
    #[serde(skip)]
    members: Vec<Range<usize>>,
    #[serde(skip)]
    lengths: Vec<f64>,
    #[serde(skip)]
    is_thinned: bool,
}

/// The values of steps; empty where nothing was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    values: Vec<Option<Number>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Vec<Option<Number>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<Option<Number>>>,
}

impl Steps {
    /// Creates steps from intervals in chronological order: one per interval, or one per `seconds`
    /// if that is more than one.
    pub(crate) fn new(intervals: &[Interval], seconds: u32) -> Self {
        let width = f64::from(seconds);
        let is_thinned = seconds > 1;
        let mut steps: Vec<(Interval, Range<usize>)> = Vec::new();
        for (i, (from, to)) in intervals.iter().enumerate() {
            let first = (f64::midpoint(*from, *to) / width).floor() * width;
            let step = if is_thinned { (first, first + width) } else { (*from, *to) };
            match steps.last_mut().filter(|(last, _)| is_thinned && last.0 >= step.0) {
                Some((_, members)) => members.end = i + 1,
                None => steps.push((step, i..i + 1)),
            }
        }
        // Nothing is drawn before or after what was measured.
        if let [(first, _), ..] = &mut steps[..] {
            first.0 = first.0.max(intervals[0].0);
        }
        if let ([.., (last, _)], [.., (_, end)]) = (&mut steps[..], intervals) {
            last.1 = last.1.min(*end);
        }
        Self {
            runs: runs(steps.iter().map(|(step, _)| *step)),
            members: steps.into_iter().map(|(_, members)| members).collect(),
            lengths: intervals.iter().map(|(from, to)| to - from).collect(),
            is_thinned,
        }
    }

    /// The figures of `values`, which has one value per interval.
    pub(crate) fn figures(
        &self,
        values: &[Option<f64>],
        number: impl Fn(f64) -> Number,
    ) -> Figures {
        let summary = |members: &Range<usize>| {
            let (values, lengths) = (&values[members.clone()], &self.lengths[members.clone()]);
            let there = values.iter().zip(lengths).filter_map(|(v, l)| Some(((*v)?, *l)));
            Summary::of(there)
        };
        let summaries: Vec<Option<Summary>> = self.members.iter().map(summary).collect();
        let each = |figure: fn(&Summary) -> f64| {
            summaries.iter().map(|s| s.as_ref().map(|s| number(figure(s)))).collect()
        };
        Figures {
            values: each(|summary| summary.mean),
            low: self.is_thinned.then(|| each(|summary| summary.low)),
            high: self.is_thinned.then(|| each(|summary| summary.high)),
        }
    }
}

/// The figures of one step.
struct Summary {
    mean: f64,
    low: f64,
    high: f64,
}

impl Summary {
    /// From values and the lengths of their intervals; `None` if there are none.
    fn of(values: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut sum, mut length) = (0.0, 0.0);
        for (value, of) in values {
            (low, high) = (low.min(value), high.max(value));
            (sum, length) = (sum + value * of, length + of);
        }
        (length > 0.0).then(|| Self { mean: sum / length, low, high })
    }
}

fn runs(steps: impl Iterator<Item = Interval>) -> Vec<(Number, Number, usize)> {
    /// Maximum error in the position of a step.
    const NEAR: f64 = 0.05;
    let mut runs: Vec<(Interval, f64, usize)> = Vec::new();
    for (from, to) in steps {
        let follows = runs.last_mut().filter(|((first, last), length, count)| {
            let expected = first + length * (*count as f64 + 1.0);
            (from - last).abs() < NEAR * length && (to - expected).abs() < NEAR * length
        });
        match follows {
            Some(((_, last), _, count)) => (*last, *count) = (to, *count + 1),
            None => runs.push(((from, to), to - from, 1)),
        }
    }
    let short = |((from, to), _, count)| (Number::hundredths(from), Number::hundredths(to), count);
    runs.into_iter().map(short).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{json, to_value};

    use super::*;

    #[test]
    fn numbers_in_the_page_are_short() {
        let short = |value| serde_json::to_string(&Number::short(value)).unwrap();
        assert_eq!(
            [0.0, 123.456_789, 0.98765, 1e9 / 3.0].map(short),
            ["0", "123", "0.988", "333000000"]
        );
    }

    #[test]
    fn what_there_is_room_for_is_drawn_as_it_is() {
        let intervals = [(0.0, 1.0), (1.0, 2.0004), (2.0004, 3.0), (7.25, 8.25), (8.25, 8.5)];
        let steps = Steps::new(&intervals, 1);
        assert_eq!(
            to_value(&steps).unwrap(),
            json!({ "runs": [[0, 3, 3], [7.25, 8.25, 1], [8.25, 8.5, 1]] })
        );
        let figures =
            steps.figures(&[Some(1.0), None, Some(2.5), Some(0.0), Some(9.0)], Number::short);
        assert_eq!(to_value(figures).unwrap(), json!({ "values": [1, null, 2.5, 0, 9] }));
    }

    #[test]
    fn a_second_that_lies_outside_is_seen_however_few_steps_there_are() {
        let seconds =
            |from: f64| (0..60).map(move |i| (from + f64::from(i), from + f64::from(i + 1)));
        let intervals: Vec<Interval> = seconds(5.0).chain(seconds(600.0)).collect();
        let mut values = vec![Some(100.0); intervals.len()];
        (values[17], values[80]) = (Some(1.0), Some(7_000.0));
        let steps = Steps::new(&intervals, 60);
        assert_eq!(
            to_value(&steps).unwrap(),
            json!({ "runs": [[5, 60, 1], [60, 120, 1], [600, 660, 1]] })
        );
        let figures = to_value(steps.figures(&values, Number::short)).unwrap();
        let expected =
            json!({ "values": [98.2, 100, 215], "low": [1, 100, 100], "high": [100, 100, 7000] });
        assert_eq!(figures, expected);
    }

    #[test]
    fn the_room_decides_how_many_stand_together() {
        let draw = |together: u32| vec![1; 100_u32.div_ceil(together) as usize];
        assert_eq!(within(300, draw), (vec![1; 100], 1));
        assert_eq!(within(50, draw), (vec![1; 20], 5));
        assert!(within(0, draw).1 > 1 << 24, "it ends");
    }
}
