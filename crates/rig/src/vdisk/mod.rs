//! Stacks of this process: from what the user asked to what `vdisk` opens.

use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iotax_experiment::{Layer, Stack};
use iotax_layers::{
    Aes, Cache, Cloud, Counts, Delay, Fault, File, Flash, Mem, Queue, Throttle, Tier,
};
use iotax_vdisk::{
    AesConfig, CacheConfig, Clock, DelayConfig, FaultConfig, FileConfig, FlashConfig, LayerConfig,
    MemConfig, MonotonicClock, Op, QueueConfig, RateLimit, ThrottleConfig, TierConfig, Trigger,
    VirtualDisk,
};

use crate::layers;
use crate::layers::maker::{InProcess, Made, Maker};

/// Size of the disk on which layers are tried: a multiple of any block size.
const TRIAL_BYTES: u64 = 1 << 20;

/// Opens a stack, as the disk of an `owner` whose disks of a cloud's VM are on one VM. A base that is
/// a file lies at `file`, whatever its path in the stack. Faults follow from `seed`.
pub(crate) fn open(
    stack: &Stack,
    owner: &str,
    file: &Path,
    seed: u64,
) -> Result<VirtualDisk, iotax_vdisk::Error> {
    open_in(&stack.spelled_out(owner), file, seed, Arc::new(MonotonicClock))
}

/// As [`open`], of a stack that is spelled out, in another time.
pub(crate) fn open_in(
    stack: &Stack,
    file: &Path,
    seed: u64,
    clock: Arc<dyn Clock>,
) -> Result<VirtualDisk, iotax_vdisk::Error> {
    // Two fault layers of one stack must not draw the same fates.
    let seeds = (0..).map(|index| seed.wrapping_add(index));
    let layers: Vec<_> =
        stack.layers.iter().zip(seeds).map(|(layer, seed)| config(layer, file, seed)).collect();
    VirtualDisk::open(&layers, clock)
}

/// Whether the layers above the base can be opened: tried on a small base in memory.
pub(crate) fn check(stack: &Stack) -> Result<(), iotax_vdisk::Error> {
    // Apart from all that is open.
    let mut stack = stack.spelled_out("check");
    if let Some(base) = stack.layers.first_mut().filter(|layer| layer.is_base()) {
        *base = Layer::Mem(Mem { size_bytes: TRIAL_BYTES });
    }
    open(&stack, "", Path::new(""), 0).map(drop)
}

fn config(layer: &Layer, file: &Path, seed: u64) -> LayerConfig {
    let layer = layers::in_process(layer)
        .unwrap_or_else(|| unreachable!("{} is no layer of this process", layer.name()));
    layer.config(file, seed)
}

macro_rules! in_process_only {
    ($($layer:ty),*) => {
        $(impl Made for $layer {
            fn maker(&self) -> Maker<'_> {
                Maker::InProcess(self)
            }
        })*
    };
}

in_process_only!(Mem, File, Aes, Queue, Delay, Flash, Cache, Tier, Fault);

impl Made for Cloud {
    fn maker(&self) -> Maker<'_> {
        Maker::SpelledOut
    }
}

impl InProcess for Mem {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        LayerConfig::Mem(MemConfig { size_bytes: self.size_bytes })
    }
}

impl InProcess for File {
    fn config(&self, file: &Path, _: u64) -> LayerConfig {
        LayerConfig::File(FileConfig {
            path: Some(file.to_owned()),
            dir: PathBuf::new(),
            size_bytes: Some(self.size_bytes),
            direct: true,
        })
    }
}

impl InProcess for Aes {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        let &Self { key_bits, sector_bytes } = self;
        LayerConfig::Aes(AesConfig { key_bits, sector_bytes })
    }
}

impl InProcess for Queue {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        LayerConfig::Queue(QueueConfig { workers: self.workers })
    }
}

impl InProcess for Delay {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        let &Self { latency_ns, jitter_ns } = self;
        LayerConfig::Delay(DelayConfig { latency_ns, jitter_ns })
    }
}

impl InProcess for Flash {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        let &Self { channels, latency_ns, bw_bytes, jitter_ns } = self;
        LayerConfig::Flash(FlashConfig { channels, latency_ns, bw_bytes, jitter_ns })
    }
}

impl InProcess for Cache {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        LayerConfig::Cache(CacheConfig { size_bytes: self.size_bytes })
    }
}

impl InProcess for Tier {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        LayerConfig::Tier(TierConfig { size_bytes: self.size_bytes })
    }
}

impl InProcess for Throttle {
    fn config(&self, _: &Path, _: u64) -> LayerConfig {
        LayerConfig::Throttle(throttle_config(self))
    }
}

fn throttle_config(throttle: &Throttle) -> ThrottleConfig {
    let limit = |sustained: Option<f64>, burst: Option<f64>| {
        let sustained = sustained?;
        Some(match burst.zip(throttle.credits_ns) {
            Some((burst, credits_ns)) => RateLimit::bursting(sustained, burst, credits_ns),
            None => RateLimit::sustained(sustained),
        })
    };
    ThrottleConfig {
        iops: limit(throttle.iops, throttle.burst_iops),
        bw_bytes: limit(throttle.bw_bytes, throttle.burst_bw_bytes),
        io_unit_bytes: throttle.io_unit_bytes.and_then(NonZeroU64::new),
        counts: match throttle.counts {
            Counts::Both => None,
            Counts::Reads => Some(Op::Read),
            Counts::Writes => Some(Op::Write),
        },
        group: throttle.group.clone(),
    }
}

impl InProcess for Fault {
    fn config(&self, _: &Path, seed: u64) -> LayerConfig {
        let trigger =
            |share: f64| if share > 0.0 { Trigger::Chance(share) } else { Trigger::Never };
        LayerConfig::Fault(FaultConfig {
            eio: trigger(self.eio),
            short: trigger(self.short),
            stall: trigger(self.stall),
            stall_ns: self.stall_ns,
            after_ios: self.after_ios,
            seed,
        })
    }
}

#[cfg(test)]
mod cloud_disks;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_becomes_the_one_of_the_same_name() {
        let layers = [
            Layer::File(File { path: None, size_bytes: 1 << 20, thin: false }),
            Layer::Mem(Mem { size_bytes: 1 << 20 }),
            Layer::Aes(Aes { key_bits: 256, sector_bytes: 512 }),
            Layer::Queue(Queue { workers: 2 }),
            Layer::Delay(Delay { latency_ns: 200_000, jitter_ns: 10_000 }),
            Layer::Throttle(Throttle { iops: Some(4000.0), ..Throttle::default() }),
            Layer::Flash(Flash { channels: 8, latency_ns: 9, bw_bytes: 1e9, jitter_ns: 1 }),
            Layer::Cache(Cache { size_bytes: 4096 }),
            Layer::Tier(Tier { size_bytes: 4096 }),
            Layer::Fault(Fault { eio: 0.5, ..Fault::default() }),
        ];
        for layer in layers {
            let text = config(&layer, Path::new("/f"), 1).to_string();
            assert_eq!(text.split('(').next(), Some(layer.name()), "{text}");
        }
    }

    #[test]
    fn credits_become_tokens_at_the_difference_of_the_rates() {
        let throttle = Throttle {
            iops: Some(500.0),
            bw_bytes: Some(60e6),
            burst_iops: Some(3500.0),
            credits_ns: Some(1_800_000_000_000),
            io_unit_bytes: Some(262_144),
            counts: Counts::Writes,
            ..Throttle::default()
        };
        let config = throttle_config(&throttle);
        assert_eq!(config.iops.unwrap().burst.unwrap().credits, 3000 * 1800);
        assert_eq!(config.bw_bytes, Some(RateLimit::sustained(60e6)));
        assert_eq!(config.io_unit_bytes, NonZeroU64::new(262_144));
        assert_eq!(config.counts, Some(Op::Write));
    }

    #[test]
    fn faults_of_two_layers_are_drawn_apart() {
        let stack = Stack {
            layers: vec![
                Layer::Mem(Mem { size_bytes: 1 << 20 }),
                Layer::Fault(Fault { eio: 0.5, ..Fault::default() }),
                Layer::Fault(Fault { eio: 0.5, ..Fault::default() }),
            ],
        };
        let disk = open(&stack, "", Path::new(""), 7).unwrap();
        let mut session = iotax_vdisk::Session::new(&disk, 1, 512).unwrap();
        let fates = (0..400).filter(|_| session.read_at(0, &mut [0; 512]).is_err()).count();
        // Independent halves: three quarters fail; the same draw twice would fail half.
        assert!(fates > 250, "{fates} of 400 failed");
    }
}
