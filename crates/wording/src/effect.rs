//! Effects in words, by one rule: a positive number and a direction, `23 % slower [21, 25]`. From a
//! factor of two on, the number is a factor, `5.0x slower [4.2, 6.0]`.
//!
//! A tax of throughput is `1 - with / without`: 80 % leave a fifth of the throughput ("5x slower"),
//! and -100 % double it ("2x faster"). A tax of a time is `with / without - 1`: 100 % are "2x
//! slower". Percents of these two mean different things, and readers misread both beyond a factor
//! of two. The estimate decides between percents and factors, so that a figure and its interval
//! have one unit; without an estimate, the middle of the range decides. An interval that reaches
//! beyond a factor of ten is always in factors. Ends in percent have the direction of the estimate,
//! and are negative in the other direction: `2 % faster [−4, 9]`. Ends in factors name their
//! direction if it differs: `4.0x slower [1.2x faster, 20x slower]`.

use iotax_analyze::{Effect, On};
use iotax_quantity::{
    fixed, grouped, interval, interval_decimals, percent, significant, times, whole,
};

/// From this factor on, changes are given as factors.
const FACTOR: f64 = 2.0;

/// The words for a gain and for a loss: `faster` and `slower`, or `less` and `more`.
pub const fn ways(on: On) -> [&'static str; 2] {
    match on {
        On::Rate | On::Time => ["faster", "slower"],
        On::Cost => ["less", "more"],
    }
}

/// The words for an effect.
pub trait EffectWords {
    /// Size, direction and interval: `23 % slower [21, 25]`, `2 % faster [−4, 9]`, `20 % more [15,
    /// 25]`, `10 to 14 % slower`, `5.0x slower [4.2, 6.0]`.
    fn in_words(self) -> String;

    /// The same with the name of the metric: `23 % slower [21, 25] in throughput`, `2.5x more [2.3,
    /// 2.7] CPU per I/O`.
    fn size(self, what: &str) -> String;

    /// For a time that something takes: `30 % longer [29, 31]`, `20 % less time [18, 22]`.
    fn in_time(self) -> String;

    /// Size and direction, without the interval: `1.2 % slower`, `5x slower`.
    fn in_short(self) -> String;
}

impl EffectWords for Effect {
    fn in_words(self) -> String {
        in_words(self, ways(self.on))
    }

    fn size(self, what: &str) -> String {
        let link = if self.on == On::Cost { "" } else { " in" };
        format!("{}{link} {what}", self.in_words())
    }

    fn in_time(self) -> String {
        in_words(self, ["less time", "longer"])
    }

    fn in_short(self) -> String {
        Self { ends: None, ..self }.in_words()
    }
}

/// `ways`: the words for a gain and for a loss.
fn in_words(effect: Effect, ways: [&str; 2]) -> String {
    factors(effect, ways).unwrap_or_else(|| percents(effect, ways))
}

/// In percent in the direction of the estimate; ends on the other side are negative. The interval
/// limits the digits of an estimate.
fn percents(effect: Effect, ways: [&str; 2]) -> String {
    let is_gain = effect.middle().is_some_and(|middle| middle < 0.0);
    let way = way(ways, is_gain);
    let size = |tax: f64| if is_gain { -tax } else { tax };
    let ends = effect.ends.map(|[lo, hi]| if is_gain { [-hi, -lo] } else { [lo, hi] });
    match (effect.tax, ends) {
        (Some(tax), Some([lo, hi])) => {
            let text = interval(size(tax), lo, hi, 0.01);
            text.replacen(' ', &format!(" % {way} "), 1)
        }
        (Some(tax), None) => format!("{} {way}", percent(size(tax))),
        (None, Some(ends)) => {
            let [lo, hi] = ends.map(|end| 100.0 * end);
            let decimals = interval_decimals(lo, hi);
            let [near, far] = [lo.abs(), hi].map(|end| fixed(end, decimals));
            let between =
                if lo < 0.0 { format!(" % {}", self::way(ways, !is_gain)) } else { String::new() };
            format!("{near}{between} to {far} % {way}")
        }
        (None, None) => String::new(),
    }
}

const fn way([gain, loss]: [&str; 2], is_gain: bool) -> &str {
    if is_gain { gain } else { loss }
}

/// As factors, if the effect is large enough.
fn factors(effect: Effect, ways: [&str; 2]) -> Option<String> {
    if !effect.is_factor() {
        return None;
    }
    let (middle, logs) = (effect.middle()?, effect.logs());
    let all = || logs.into_iter().flatten().chain([middle]);
    let width = logs.map_or(f64::INFINITY, |[lo, hi]| (hi - lo) / 2.0);
    let digits = if width < 0.05 { 3 } else { 2 };
    let with_way = |log: f64| format!("{} {}", factor_in(log, digits), way(ways, log < 0.0));
    let is_worse = all().fold(f64::INFINITY, f64::min) >= 0.0;
    let is_one_way = is_worse || all().fold(f64::NEG_INFINITY, f64::max) <= 0.0;
    Some(match (effect.tax, logs) {
        (Some(_), None) => format!("{} {}", times(middle.abs().exp()), way(ways, middle < 0.0)),
        (_, Some(logs)) => {
            // The end nearer to no effect comes first.
            let [near, far] = if middle < 0.0 { [logs[1], logs[0]] } else { logs };
            let is_with = effect.tax.is_some();
            let bare = |log| factor_in(log, digits).trim_end_matches('x').to_owned();
            match (is_with, is_one_way) {
                (true, true) => format!("{} [{}, {}]", with_way(middle), bare(near), bare(far)),
                (true, false) => {
                    format!("{} [{}, {}]", with_way(middle), with_way(near), with_way(far))
                }
                (false, true) => format!("{} to {}", bare(near), with_way(far)),
                (false, false) => format!("{} to {}", with_way(near), with_way(far)),
            }
        }
        (None, None) => return None,
    })
}

/// The change of a level, from the ratio of after to before: `fell by 23 %`, `rose by a factor of
/// 3.2`.
pub fn fell_or_rose(ratio: f64) -> String {
    let verb = if ratio < 1.0 { "fell" } else { "rose" };
    let factor = ratio.max(1.0 / ratio);
    if factor < FACTOR {
        format!("{verb} by {}", percent((ratio - 1.0).abs()))
    } else {
        format!("{verb} by a factor of {}", times(factor).trim_end_matches('x'))
    }
}

/// The factor of a logarithm with this many digits, or more if it would look like 1.
fn factor_in(log: f64, digits: usize) -> String {
    let factor = log.abs().exp();
    let is_some = |text: &String| !["1", "1.0", "1.00", "1.000", "1.0000"].contains(&text.as_str());
    let mut shown = (digits..=digits + 2).map(|digits| plain(factor, digits));
    format!("{}x", shown.find(is_some).unwrap_or_else(|| "1".to_owned()))
}

fn plain(factor: f64, digits: usize) -> String {
    if factor >= 999.5 { grouped(whole(factor)) } else { significant(factor, digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(on: On, [tax, lo, hi]: [f64; 3]) -> Effect {
        Effect::of(on, tax, [lo, hi])
    }

    fn taxes<const N: usize>(on: On, effects: [[f64; 3]; N]) -> [String; N] {
        effects.map(|numbers| effect(on, numbers).in_words())
    }

    #[test]
    fn below_a_factor_of_two_it_is_percent() {
        let shown = taxes(
            On::Rate,
            [[0.1234, 0.10, 0.143], [-0.021, -0.09, 0.045], [0.49, 0.2, 0.8], [-0.95, -1.5, -0.5]],
        );
        assert_eq!(
            shown,
            [
                "12 % slower [10, 14]",
                "2 % faster [\u{2212}4, 9]",
                "49 % slower [20, 80]",
                "95 % faster [50, 150]"
            ]
        );
    }

    #[test]
    fn from_a_factor_of_two_on_it_is_the_factor() {
        let rates = [[0.8, 0.75, 0.83], [0.5, 0.49, 0.51], [-26.72, -118.64, -5.42], [-1.0; 3]];
        assert_eq!(
            taxes(On::Rate, rates),
            [
                "5.0x slower [4.0, 5.9]",
                "2.00x slower [1.96, 2.04]",
                "28x faster [6.4, 120]",
                "2.00x faster [2.00, 2.00]"
            ]
        );
        let times = [[1.0, 0.8, 1.2], [9.29, 5.24, 15.96], [-0.62, -0.74, -0.43]];
        assert_eq!(
            taxes(On::Time, times),
            ["2.0x slower [1.8, 2.2]", "10x slower [6.2, 17]", "2.6x faster [1.8, 3.8]"]
        );
        assert_eq!(taxes(On::Cost, [[1.5, 1.3, 1.7]]), ["2.5x more [2.3, 2.7]"]);
    }

    #[test]
    fn an_interval_over_zero_says_both_ways() {
        assert_eq!(
            taxes(On::Time, [[3.0, -0.17, 19.0], [-0.75, -0.95, 0.2]]),
            ["4.0x slower [1.2x faster, 20x slower]", "4.0x faster [1.2x slower, 20x faster]"]
        );
        assert_eq!(
            taxes(On::Time, [[0.9, -0.56, 7.25], [0.06, -0.95, 19.0]]),
            ["90 % slower [\u{2212}56, 725]", "1.1x slower [20x faster, 20x slower]"],
            "as far as it can be read in percent"
        );
    }

    #[test]
    fn an_end_beside_none_is_never_shown_as_none() {
        assert_eq!(taxes(On::Time, [[4.0, 0.004, 24.0]]), ["5.0x slower [1.004, 25]"]);
    }

    #[test]
    fn without_an_interval_or_an_estimate() {
        let alone = |on, tax| Effect::new(on, Some(tax), None, None).unwrap();
        let shown = [(On::Rate, 0.25), (On::Rate, 0.75), (On::Time, -0.005), (On::Time, 2.5)];
        assert_eq!(
            shown.map(|(on, tax)| alone(on, tax).in_words()),
            ["25 % slower", "4x slower", "0.5 % faster", "3.5x slower"]
        );
        let range = |lo, hi| Effect::new(On::Rate, None, Some(lo), Some(hi)).unwrap().in_words();
        assert_eq!(range(0.1, 0.14), "10 to 14 % slower");
        assert_eq!(range(-0.03, 0.04), "3 % faster to 4 % slower");
        assert_eq!(range(-0.04, -0.03), "3.0 to 4.0 % faster");
        assert_eq!(range(0.1, 0.9), "1.1 to 10x slower");
        assert_eq!(range(-1.5, -0.9), "1.9 to 2.5x faster");
        assert_eq!(range(-0.2, 0.95), "1.2x faster to 20x slower");
        assert_eq!(Effect::new(On::Rate, None, None, Some(0.1)), None);
    }

    #[test]
    fn what_is_no_tax_stays_percent() {
        assert_eq!(taxes(On::Rate, [[1.0, 0.5, 1.5]]), ["100 % slower [50, 150]"]);
    }

    #[test]
    fn sentences_say_which_way() {
        let slower = effect(On::Rate, [0.23, 0.21, 0.25]);
        assert_eq!(slower.size("throughput"), "23 % slower [21, 25] in throughput");
        assert_eq!(slower.in_short(), "23 % slower");
        let faster = effect(On::Rate, [-0.3, -0.35, -0.25]);
        assert_eq!(faster.size("throughput"), "30 % faster [25, 35] in throughput");
        let longer = effect(On::Time, [0.3, 0.25, 0.35]);
        assert_eq!(longer.size("p99 latency"), "30 % slower [25, 35] in p99 latency");
        assert_eq!(effect(On::Time, [-0.3, -0.35, -0.25]).size("x"), "30 % faster [25, 35] in x");
        let factor = effect(On::Rate, [0.8, 0.75, 0.83]);
        assert_eq!(factor.size("throughput"), "5.0x slower [4.0, 5.9] in throughput");
        assert_eq!(factor.in_short(), "5x slower");
        assert_eq!(
            effect(On::Cost, [-0.2, -0.8, 0.65]).size("CPU"),
            "20 % less [\u{2212}65, 80] CPU"
        );
        let dearer = effect(On::Cost, [1.5, 1.3, 1.7]);
        assert_eq!(dearer.size("CPU per I/O"), "2.5x more [2.3, 2.7] CPU per I/O");
    }

    #[test]
    fn of_a_time_it_is_said_how_long_something_takes() {
        let time = |numbers| effect(On::Time, numbers).in_time();
        assert_eq!(time([0.3, 0.29, 0.31]), "30 % longer [29, 31]");
        assert_eq!(time([-0.2, -0.22, -0.18]), "20 % less time [18, 22]");
        assert_eq!(time([1.5, 1.3, 1.7]), "2.5x longer [2.3, 2.7]");
        assert_eq!(time([0.01, -0.01, 0.03]), "1 % longer [\u{2212}1, 3]");
    }

    #[test]
    fn factors_and_levels_alone() {
        assert_eq!([2.0, 2.04, 17.4, 4_190.0].map(times), ["2x", "2x", "17x", "4,190x"]);
        assert_eq!(
            [0.5, 0.77, 1.25, 3.2].map(fell_or_rose),
            ["fell by a factor of 2", "fell by 23 %", "rose by 25 %", "rose by a factor of 3.2"]
        );
    }
}
