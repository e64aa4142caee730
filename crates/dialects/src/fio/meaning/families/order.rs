//! Which way data moves, and in which order: `rw`, and what refines it.

use iotax_experiment::{Error, Pattern, RunLength, Skew, Trims};

use crate::fio::meaning::draft::Draft;
use crate::fio::section::Setting;

/// fio's own values where a distribution is named without one (`options.c`, `FIO_DEF_*`).
const DEFAULT_ZIPF: f64 = 1.1;
const DEFAULT_PARETO: f64 = 0.2;

/// Which of reads, writes and trims a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Directions {
    pub reads: bool,
    pub writes: bool,
    pub trims: bool,
}

impl Directions {
    /// Of fio's triples (reads, writes, trims), the entries in use.
    pub(super) fn used<T: Copy>(self, values: [T; 3]) -> Vec<T> {
        let used = [self.reads, self.writes, self.trims].into_iter().zip(values);
        used.filter(|(used, _)| *used).map(|(_, value)| value).collect()
    }
}

impl Draft<'_> {
    pub(super) fn read_order(&mut self) -> Result<Directions, Error> {
        let Some(setting) = self.chosen.get("rw") else {
            return Ok(Directions { reads: true, writes: false, trims: false });
        };
        let (word, detail) = setting.word();
        let random = word.starts_with("rand");
        let (reads, writes, trims) = match word.trim_start_matches("rand") {
            "read" => (true, false, None),
            "write" => (false, true, None),
            "trim" => (false, false, Some(Trims::Only)),
            "trimwrite" => (false, true, Some(Trims::First)),
            _ => (true, true, None),
        };
        self.job.trims = trims;
        self.job.read_percent = if reads { 100 } else { 0 };
        // At random, fio writes where and how much it has trimmed.
        let as_trims = random && trims.is_some();
        let directions = Directions { reads, writes: writes && !as_trims, trims: trims.is_some() };
        if reads && writes {
            self.read_mix()?;
        }
        if random {
            self.read_random(directions)?;
        }
        if let Some(detail) = detail {
            self.read_detail(detail, random)?;
        }
        Ok(directions)
    }

    fn read_mix(&mut self) -> Result<(), Error> {
        self.job.read_percent = 50;
        if let Some(setting) = self.chosen.last_of(&["rwmixread", "rwmixwrite"]) {
            let percent = percent(setting.whole()?);
            let reads = if setting.name() == "rwmixread" { percent } else { 100 - percent };
            self.job.read_percent = reads;
        }
        Ok(())
    }

    fn read_random(&mut self, directions: Directions) -> Result<(), Error> {
        // An LFSR comes to every block once before any comes again, map or not.
        let lfsr = self.chosen.word("random_generator") == Some("lfsr");
        let norandommap = self.chosen.switch("norandommap", false)? && !lfsr;
        // fio's map of blocks done is of blocks of one size; `read_blocks` takes it away where
        // sizes differ.
        let pattern = if norandommap { Pattern::Random } else { Pattern::Shuffled };
        let mut patterns = [pattern.clone(), pattern.clone(), pattern];
        if let Some(setting) = self.chosen.get("random_distribution") {
            match distribution(setting)? {
                Ok(None) => {}
                Ok(Some(distributions)) => patterns = distributions,
                Err(why) => {
                    self.beyond(setting, why);
                    self.job.pattern = Pattern::Random;
                    return Ok(());
                }
            }
        }
        if let Some(setting) = self.chosen.get("percentage_random") {
            let percents = self.chosen.numbers("percentage_random")?;
            let percents = percents.map(|value| percent(value.unwrap_or(100)));
            let mut in_part = patterns.iter().zip(percents).filter(|(_, percent)| *percent < 100);
            if in_part.any(|(pattern, percent)| percent > 0 && pattern.has_hot_places()) {
                self.beyond(setting, "a skewed distribution, in part sequential");
            } else {
                for (pattern, random_percent) in patterns.iter_mut().zip(percents) {
                    match random_percent {
                        100 => {}
                        0 => *pattern = Pattern::Sequential,
                        _ => *pattern = Pattern::Mixed { random_percent },
                    }
                }
            }
        }
        let mut used = directions.used(patterns.each_ref()).into_iter().cloned();
        if let Some(first) = used.next() {
            self.job.write_pattern = used.next().filter(|writes| *writes != first);
            self.job.pattern = first;
        }
        Ok(())
    }

    /// What follows `rw=WORD:`.
    fn read_detail(&mut self, detail: &str, random: bool) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("rw") else { return Ok(()) };
        if random {
            let count = detail.trim().parse::<u32>().unwrap_or(0);
            let identical =
                self.chosen.get("rw_sequencer").filter(|setting| setting.word().0 == "identical");
            match (count, identical) {
                (0 | 1, _) => {}
                (_, Some(sequencer)) => {
                    self.beyond(sequencer, "the same place several times in a row");
                    self.beyond(setting, "the same place several times in a row");
                }
                (count, None)
                    if self.job.write_pattern.is_none()
                        && matches!(self.job.pattern, Pattern::Shuffled | Pattern::Random) =>
                {
                    self.job.pattern = Pattern::Runs(RunLength::Fixed(count));
                }
                _ => self.beyond(setting, "runs from places that are not uniformly random"),
            }
            return Ok(());
        }
        let skip = Setting { value: Some(detail.into()), ..setting.clone() }.number()?;
        match u64::try_from(skip) {
            Ok(0) => {}
            Ok(skip) => self.job.pattern = Pattern::Strided(skip),
            Err(_) => self.job.pattern = Pattern::Backward(skip.unsigned_abs()),
        }
        Ok(())
    }
}

fn percent(value: u64) -> u8 {
    u8::try_from(value).unwrap_or(100).min(100)
}

/// The order of each direction, `Ok(None)` for uniform ones, or why iotax has none such.
fn distribution(setting: &Setting) -> Result<Result<Option<[Pattern; 3]>, &'static str>, Error> {
    let (word, detail) = setting.word();
    Ok(match word {
        "random" => Ok(None),
        "zoned" | "zoned_abs" => Ok(Some(setting.zones()?.map(Pattern::Zoned))),
        _ => skew(word, detail.unwrap_or_default())
            .map(|pattern| Some([pattern.clone(), pattern.clone(), pattern])),
    })
}

/// `1.2`, or `1.2:0.3` with a centre.
fn skew(word: &str, detail: &str) -> Result<Pattern, &'static str> {
    let (number, centre) = match detail.split_once(':') {
        None => (detail, None),
        Some((number, centre)) => (number, centre.trim().parse::<f64>().ok()),
    };
    let number = number.trim().parse::<f64>().ok();
    let skew = match word {
        "zipf" => Skew::Zipf(number.unwrap_or(DEFAULT_ZIPF)),
        "pareto" => Skew::Pareto(number.unwrap_or(DEFAULT_PARETO)),
        "normal" | "gauss" => match number {
            Some(deviation) if deviation > 0.0 => Skew::Normal(deviation),
            _ => return Err("a normal distribution of no width"),
        },
        _ => return Err("a distribution that iotax does not have"),
    };
    Ok(match centre {
        None => Pattern::Skewed(skew),
        Some(centre) => Pattern::Centred { skew, centre },
    })
}
