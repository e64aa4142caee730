//! Direction and order of I/O: `rw` and the options that refine it.

use iotax_experiment::{BlockSizes, Error, Pattern, RunLength, Share, Skew, Trims};

use super::draft::Draft;
use crate::fio::section::Setting;

/// fio's defaults for a distribution without a parameter (`options.c`, `FIO_DEF_*`).
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
    /// The entries for used directions, of fio's triples (reads, writes, trims).
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
        // In random order, fio writes what it has trimmed: same offset, same length.
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
        // An LFSR visits every block once before it repeats any, with or without a map.
        let lfsr = self.chosen.word("random_generator") == Some("lfsr");
        let norandommap = self.chosen.switch("norandommap", false)? && !lfsr;
        // fio's map of finished blocks needs a single block size; `read_blocks` removes it where
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
                self.beyond(setting, "skewed random accesses mixed with sequential ones");
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

    /// The part after `rw=WORD:`.
    fn read_detail(&mut self, detail: &str, random: bool) -> Result<(), Error> {
        let Some(setting) = self.chosen.get("rw") else { return Ok(()) };
        if random {
            let count = detail.trim().parse::<u32>().unwrap_or(0);
            let identical =
                self.chosen.get("rw_sequencer").filter(|setting| setting.word().0 == "identical");
            match (count, identical) {
                (0 | 1, _) => {}
                (_, Some(sequencer)) => {
                    self.beyond(sequencer, "accesses the same offset several times in a row");
                    self.beyond(setting, "accesses the same offset several times in a row");
                }
                (count, None)
                    if self.job.write_pattern.is_none()
                        && matches!(self.job.pattern, Pattern::Shuffled | Pattern::Random) =>
                {
                    self.job.pattern = Pattern::Runs(RunLength::Fixed(count));
                }
                _ => {
                    self.beyond(setting, "runs whose starting offsets are not uniformly random");
                }
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

/// The order of each direction, `Ok(None)` for uniform ones, or why iotax does not support it.
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
            _ => return Err("a normal distribution whose deviation is not positive"),
        },
        _ => return Err("a distribution that iotax does not support"),
    };
    Ok(match centre {
        None => Pattern::Skewed(skew),
        Some(centre) => Pattern::Centred { skew, centre },
    })
}

// Sizes of I/Os: `bs`, `bsrange`, `bssplit`, `blockalign`.

const DEFAULT_BYTES: u64 = 4096;
const TOO_LARGE: &str = "blocks of 4G or more";
/// fio shortens I/Os whose end has been done before.
const UNMAPPED: &str = "each offset is drawn independently, because the block sizes differ";
const TOGETHER: &str = "reads and writes share one file position; in fio, each has its own";

/// Sizes with fio's width, before a check that they fit.
type Wide = [(u64, u64); 3];

impl Draft<'_> {
    /// In fio, `bssplit` overrides `bsrange`, which overrides `bs`.
    pub(super) fn read_blocks(&mut self, directions: Directions) -> Result<(), Error> {
        let deciding = ["bssplit", "bsrange", "bs"].into_iter().find_map(|n| self.chosen.get(n));
        if let Some(setting) = deciding {
            self.job.block_sizes = BlockSizes::Fixed(4096);
            if setting.name() == "bssplit" {
                self.read_split(setting, directions)?;
            } else {
                self.read_plain(setting, directions)?;
            }
        }
        let of_writes = self.job.write_block_sizes.clone();
        let is_mapped = of_writes.is_none() && fixed(&self.job.block_sizes).is_some();
        if self.job.patterns().any(|pattern| *pattern == Pattern::Shuffled) && !is_mapped {
            let anew = |pattern: &mut Pattern| {
                if *pattern == Pattern::Shuffled {
                    *pattern = Pattern::Random;
                }
            };
            anew(&mut self.job.pattern);
            self.job.write_pattern.as_mut().map(anew);
            if let Some(setting) = self.chosen.get("rw") {
                self.note(setting, UNMAPPED);
            }
        }
        self.read_skips(of_writes.as_ref());
        self.read_pairs();
        if self.job.reads()
            && self.job.writes()
            && !self.job.jumps()
            && self.job.by_direction().is_none()
            && let Some(setting) = self.chosen.get("rw")
        {
            self.note(setting, TOGETHER);
        }
        self.read_alignment(directions)
    }

    /// A write goes to the place of its trim only if both have the same size and order.
    fn read_pairs(&mut self) {
        let is_apart = self.job.by_direction().is_some()
            || matches!(self.job.pattern, Pattern::Runs(_) | Pattern::Mixed { .. });
        if self.job.trims == Some(Trims::First)
            && is_apart
            && let Some(setting) = self.chosen.get("rw")
        {
            self.beyond(setting, "trims and writes at different offsets");
            (self.job.write_block_sizes, self.job.write_pattern) = (None, None);
        }
    }

    /// fio skips from the end of a block, for each direction separately.
    fn read_skips(&mut self, of_writes: Option<&BlockSizes>) {
        let skip = self.job.pattern.clone();
        if !matches!(skip, Pattern::Strided(_) | Pattern::Backward(_)) {
            return;
        }
        let stepped = stepped(&skip, &self.job.block_sizes);
        let writes = of_writes.map(|sizes| self::stepped(&skip, sizes));
        match (stepped, writes) {
            (Some(pattern), None) => self.job.pattern = pattern,
            (Some(pattern), Some(Some(writes))) => {
                self.job.pattern = pattern;
                self.job.write_pattern = Some(writes);
            }
            _ => {
                self.job.pattern = Pattern::Sequential;
                if let Some(setting) = self.chosen.get("rw") {
                    self.beyond(setting, "skips in a way that iotax does not support");
                }
            }
        }
    }

    /// `bs` or `bsrange`; a direction without a value uses that of `bs`, or fio's default.
    fn read_plain(&mut self, setting: &Setting, directions: Directions) -> Result<(), Error> {
        let fixed = self.chosen.numbers("bs")?;
        let mut sizes = fixed.map(|bytes| bytes.map(|bytes| (bytes, bytes)));
        for (size, range) in sizes.iter_mut().zip(self.chosen.ranges("bsrange")?) {
            *size = range.or(*size);
        }
        let sizes: Wide = sizes.map(|size| size.unwrap_or((DEFAULT_BYTES, DEFAULT_BYTES)));
        let of_one = |(min, max): (u64, u64)| {
            let (min, max) = (u32::try_from(min).ok()?, u32::try_from(max).ok()?);
            Some(if min == max { BlockSizes::Fixed(min) } else { BlockSizes::Range { min, max } })
        };
        let used: Option<Vec<_>> = directions.used(sizes).into_iter().map(of_one).collect();
        match used {
            Some(used) => self.set_sizes(used),
            None => self.beyond(setting, TOO_LARGE),
        }
        Ok(())
    }

    /// Sets the sizes of the used directions.
    fn set_sizes(&mut self, used: Vec<BlockSizes>) {
        let mut used = used.into_iter();
        if let Some(first) = used.next() {
            self.job.write_block_sizes = used.next().filter(|writes| *writes != first);
            self.job.block_sizes = first;
        }
    }

    fn read_split(&mut self, setting: &Setting, directions: Directions) -> Result<(), Error> {
        let splits = setting.split()?;
        let used: Result<Vec<_>, _> =
            directions.used(splits.each_ref()).into_iter().map(|split| shares(split)).collect();
        match used {
            Ok(used) => self.set_sizes(used),
            Err(why) => self.beyond(setting, why),
        }
        Ok(())
    }

    /// Applies to random jobs only, and disables the map of finished blocks, as in fio.
    fn read_alignment(&mut self, directions: Directions) -> Result<(), Error> {
        let is_random = !matches!(
            self.job.pattern,
            Pattern::Sequential | Pattern::Strided(_) | Pattern::Backward(_)
        );
        let Some(setting) = self.chosen.get("ba").filter(|_| is_random) else { return Ok(()) };
        let used = directions.used(self.chosen.numbers("ba")?);
        let smallest = u64::from(self.job.min_block_bytes());
        match (used[0], used.last().copied().flatten()) {
            (None | Some(0), None | Some(0)) => {}
            (Some(one), Some(other)) if one == other => {
                if one != smallest || self.job.write_block_sizes.is_some() {
                    self.job.align_bytes = Some(one);
                    if self.job.pattern == Pattern::Shuffled {
                        self.job.pattern = Pattern::Random;
                    }
                }
            }
            _ => self.beyond(setting, "different alignments for reads and writes"),
        }
        Ok(())
    }
}

fn fixed(sizes: &BlockSizes) -> Option<u64> {
    match sizes {
        BlockSizes::Fixed(bytes) => Some(u64::from(*bytes)),
        _ => None,
    }
}

/// The distance between starts; `skip` counts from the end of a block. `None` if the distance
/// varies or is 0.
fn stepped(skip: &Pattern, sizes: &BlockSizes) -> Option<Pattern> {
    match (skip, fixed(sizes)?) {
        (Pattern::Strided(skip), bytes) => Some(Pattern::Strided(skip.saturating_add(bytes))),
        // Backward by the block itself and the remaining distance.
        (Pattern::Backward(back), bytes) if *back > bytes => Some(Pattern::Backward(back - bytes)),
        (Pattern::Backward(back), bytes) if *back < bytes => Some(Pattern::Strided(bytes - back)),
        _ => None,
    }
}

/// Sizes of one direction, or why iotax does not support them.
fn shares(split: &[(u64, u32)]) -> Result<BlockSizes, &'static str> {
    let (mut shares, alone) = (Vec::new(), split.len() == 1);
    for (bytes, percent) in split.iter().filter(|(_, percent)| *percent > 0 || alone) {
        let bytes = u32::try_from(*bytes).map_err(|_| TOO_LARGE)?;
        let percent = if alone { 100 } else { u8::try_from(*percent).unwrap_or(u8::MAX) };
        shares.push(Share { bytes, percent });
    }
    let sum: u32 = shares.iter().map(|share| u32::from(share.percent)).sum();
    // The remaining share goes to the size with the largest share: fio sorts them, and its search
    // ends at the largest.
    let largest = shares.iter_mut().max_by_key(|share| share.percent);
    if let (Some(largest), Ok(left)) = (largest, u8::try_from(100_u32.saturating_sub(sum))) {
        largest.percent += left;
    }
    match shares.as_slice() {
        [] => Err("block sizes that never occur"),
        [one] => Ok(BlockSizes::Fixed(one.bytes)),
        _ => Ok(BlockSizes::Split(shares)),
    }
}
