//! How large an effect is, as data: a tax and its interval, on what it is an effect.

use serde::Serialize;

/// An effect is a factor from here on.
const FACTOR: f64 = 2.0;
/// An interval is one of factors if it reaches so far.
const FAR: f64 = 10.0;

/// What an effect is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// A rate, of which less is slower.
    Rate,
    /// A time, of which more is slower.
    Time,
    /// What is spent, as CPU time, of which more is no slower.
    Cost,
}

/// A tax, its interval, or both. More than zero is worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effect {
    pub on: On,
    pub tax: Option<f64>,
    pub ends: Option<[f64; 2]>,
}

impl Effect {
    /// An estimate with its interval.
    pub const fn of(on: On, tax: f64, ends: [f64; 2]) -> Self {
        Self { on, tax: Some(tax), ends: Some(ends) }
    }

    /// An estimate alone.
    pub const fn sized(on: On, tax: f64) -> Self {
        Self { on, tax: Some(tax), ends: None }
    }

    /// What is known of it; `None` if that is nothing.
    pub fn new(on: On, tax: Option<f64>, lo: Option<f64>, hi: Option<f64>) -> Option<Self> {
        let ends = lo.zip(hi).map(Into::into);
        (tax.is_some() || ends.is_some()).then_some(Self { on, tax, ends })
    }

    /// The same without its interval, if its size is known.
    #[must_use]
    pub fn without_interval(self) -> Option<Self> {
        Self::new(self.on, self.tax, None, None)
    }

    /// What decides: the estimate, or the middle of the range; logarithm of a factor, more than
    /// zero if it is worse.
    pub fn middle(self) -> Option<f64> {
        match (self.tax, self.ends) {
            (Some(tax), _) => Some(log_factor(self.on, tax)),
            (None, Some(_)) => self.logs().map(|[lo, hi]| f64::midpoint(lo, hi)),
            _ => None,
        }
    }

    /// The ends as logarithms of factors.
    pub fn logs(self) -> Option<[f64; 2]> {
        self.ends.map(|ends| ends.map(|end| log_factor(self.on, end)))
    }

    /// Whether it is a factor rather than percents: from twice as much on, or where its interval
    /// reaches far. Percents of rates and of times mean different things, and beyond a factor of
    /// two neither is read right.
    pub fn is_factor(self) -> bool {
        let Some(middle) = self.middle() else { return false };
        let all = || self.logs().into_iter().flatten().chain([middle]);
        let is_far = all().any(|log| log.abs() > FAR.ln());
        // 1.9999 is 2, whatever became of it in between.
        let is_large = middle.abs() > FACTOR.ln() - 1e-4;
        // Not everything has a logarithm that was made up, or read from elsewhere.
        all().all(f64::is_finite) && (is_large || is_far)
    }
}

/// The logarithm of the factor that a tax is, more than zero if it is worse: in these a factor and
/// its inverse are as far from none. Not finite for what is no tax, as 100 % of throughput.
pub fn log_factor(on: On, tax: f64) -> f64 {
    match on {
        On::Rate => -(-tax).ln_1p(),
        On::Time | On::Cost => tax.ln_1p(),
    }
}
