//! Sizes of I/Os: `bs`, `bsrange`, `bssplit`, `blockalign`.

use iotax_spec::{BlockSizes, Error, Pattern, Share};

use super::order::Directions;
use crate::fio::meaning::draft::Draft;
use crate::fio::setting::Setting;

const DEFAULT_BYTES: u64 = 4096;
const TOO_LARGE: &str = "blocks of 4G and more";
/// fio cuts I/Os short where their end was done before.
const UNMAPPED: &str = "places are drawn anew each time, since blocks differ in size";
const DIFFERENT: &str = "reads and writes of different sizes";

/// Sizes of fio's own width, before they are known to fit.
type Wide = [Option<(u64, u64)>; 3];

impl Draft<'_> {
    /// In fio `bssplit` wins over `bsrange`, and that over `bs`.
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
        let fixed = match self.job.block_sizes {
            BlockSizes::Fixed(bytes) => Some(u64::from(bytes)),
            _ => None,
        };
        match (self.job.pattern, fixed) {
            (Pattern::Strided(skip), Some(bytes)) => {
                self.job.pattern = Pattern::Strided(skip.saturating_add(bytes));
            }
            // Back over the block itself and the rest of the way.
            (Pattern::Backward(back), Some(bytes)) if back > bytes => {
                self.job.pattern = Pattern::Backward(back - bytes);
            }
            (Pattern::Backward(back), Some(bytes)) if back < bytes => {
                self.job.pattern = Pattern::Strided(bytes - back);
            }
            (Pattern::Strided(_) | Pattern::Backward(_), _) => {
                self.job.pattern = Pattern::Sequential;
                if let Some(setting) = self.chosen.get("rw") {
                    self.beyond(setting, "skips in a way of its own");
                }
            }
            (Pattern::Shuffled, None) => {
                self.job.pattern = Pattern::Random;
                if let Some(setting) = self.chosen.get("rw") {
                    self.note(setting, UNMAPPED);
                }
            }
            _ => {}
        }
        self.read_alignment(directions)
    }

    /// `bs` or `bsrange`; a direction without a value has that of `bs`, or fio's default.
    fn read_plain(&mut self, setting: &Setting, directions: Directions) -> Result<(), Error> {
        let fixed = self.chosen.numbers("bs")?;
        let mut sizes = fixed.map(|bytes| bytes.map(|bytes| (bytes, bytes)));
        for (size, range) in sizes.iter_mut().zip(self.chosen.ranges("bsrange")?) {
            *size = range.or(*size);
        }
        let Some((min, max)) = self.only_one(setting, directions, sizes) else { return Ok(()) };
        let (Ok(min), Ok(max)) = (u32::try_from(min), u32::try_from(max)) else {
            self.beyond(setting, TOO_LARGE);
            return Ok(());
        };
        self.job.block_sizes =
            if min == max { BlockSizes::Fixed(min) } else { BlockSizes::Range { min, max } };
        Ok(())
    }

    /// The sizes of the directions in use, if they are the same.
    fn only_one(
        &mut self,
        setting: &Setting,
        directions: Directions,
        sizes: Wide,
    ) -> Option<(u64, u64)> {
        let sizes = sizes.map(|size| size.unwrap_or((DEFAULT_BYTES, DEFAULT_BYTES)));
        let used = directions.used(sizes);
        if used.iter().any(|size| *size != used[0]) {
            self.beyond(setting, DIFFERENT);
            return None;
        }
        used.first().copied()
    }

    fn read_split(&mut self, setting: &Setting, directions: Directions) -> Result<(), Error> {
        let splits = setting.split()?;
        let used = directions.used(splits.each_ref());
        if used.iter().any(|split| *split != used[0]) {
            self.beyond(setting, DIFFERENT);
            return Ok(());
        }
        let Some(split) = used.first() else { return Ok(()) };
        let (mut shares, alone) = (Vec::new(), split.len() == 1);
        for (bytes, percent) in split.iter().filter(|(_, percent)| *percent > 0 || alone) {
            let Ok(bytes) = u32::try_from(*bytes) else {
                self.beyond(setting, TOO_LARGE);
                return Ok(());
            };
            let percent = if alone { 100 } else { u8::try_from(*percent).unwrap_or(u8::MAX) };
            shares.push(Share { bytes, percent });
        }
        let sum: u32 = shares.iter().map(|share| u32::from(share.percent)).sum();
        match shares.as_slice() {
            _ if sum != 100 => self.beyond(setting, "percentages that do not add up to 100"),
            [one] => self.job.block_sizes = BlockSizes::Fixed(one.bytes),
            _ => self.job.block_sizes = BlockSizes::Split(shares),
        }
        Ok(())
    }

    /// Counts for random jobs only, and does away with the map of blocks done, as in fio.
    fn read_alignment(&mut self, directions: Directions) -> Result<(), Error> {
        let is_random = !matches!(
            self.job.pattern,
            Pattern::Sequential | Pattern::Strided(_) | Pattern::Backward(_)
        );
        let Some(setting) = self.chosen.get("ba").filter(|_| is_random) else { return Ok(()) };
        let used = directions.used(self.chosen.numbers("ba")?);
        let smallest = u64::from(self.job.block_sizes.min_bytes());
        match (used[0], used.last().copied().flatten()) {
            (None | Some(0), None | Some(0)) => {}
            (Some(one), Some(other)) if one == other => {
                if one != smallest {
                    self.job.align_bytes = Some(one);
                    if self.job.pattern == Pattern::Shuffled {
                        self.job.pattern = Pattern::Random;
                    }
                }
            }
            _ => self.beyond(setting, "reads and writes aligned differently"),
        }
        Ok(())
    }
}
