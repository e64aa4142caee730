//! What a series of figures, one per second, spans.

use iotax_stats::sample;

/// What a series spans; all 0 if it is empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Smallest figure
    pub min: u64,
    /// Largest figure
    pub max: u64,
    /// Arithmetic mean
    pub mean: f64,
    /// Sample standard deviation; 0 of fewer than two figures
    pub stddev: f64,
    /// How many figures there are
    pub samples: u64,
}

impl Spread {
    /// Of the whole series.
    pub fn of(seconds: &[u64]) -> Self {
        let values: Vec<f64> = seconds.iter().map(|value| *value as f64).collect();
        Self {
            min: seconds.iter().copied().min().unwrap_or(0),
            max: seconds.iter().copied().max().unwrap_or(0),
            mean: sample::mean(&values),
            stddev: sample::variance(&values).sqrt(),
            samples: seconds.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_has_a_mean_and_a_deviation() {
        let spread = Spread { min: 1, max: 9, mean: 5.0, stddev: 4.0, samples: 3 };
        assert_eq!(Spread::of(&[1, 5, 9]), spread);
        assert_eq!(Spread::of(&[7]).stddev, 0.0, "one has none");
        assert_eq!(Spread::of(&[]).samples, 0);
    }
}
