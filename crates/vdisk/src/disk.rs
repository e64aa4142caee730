//! A disk: an open stack with its worker threads.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use iotax_layers::{File, Layer};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::Serialize;

use crate::clock::Clock;
use crate::error::Error;
use crate::layer::{Base, BuildPlace, OpenLayer, Recipe};
use crate::layers::recipe;
use crate::names::shown;
use crate::stack::Stack;
use crate::stats::{BackingFacts, LayerStats, Shard};
use crate::xts;

/// An open stack. Cheap to clone; the last clone (or session) to go closes it.
#[derive(Clone)]
pub struct VirtualDisk(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) stack: Arc<Stack>,
    pub(crate) clock: Arc<dyn Clock>,
    names: Vec<String>,
    size_bytes: u64,
    block_bytes: u32,
    needs_scratch: bool,
    workers: Vec<JoinHandle<()>>,
    shards: Mutex<Shards>,
}

struct Shards {
    live: Vec<Arc<Shard>>,
    ended: Shard,
}

impl VirtualDisk {
    /// Opens `layers`, bottom first. Its time is `clock`'s. A file at the bottom is there already.
    pub fn open(layers: &[Layer], clock: Arc<dyn Clock>) -> Result<Self, Error> {
        Self::open_seeded(layers, 0, clock)
    }

    /// [`VirtualDisk::open`] with a seed that decides which I/Os meet a `fault`.
    pub fn open_seeded(layers: &[Layer], seed: u64, clock: Arc<dyn Clock>) -> Result<Self, Error> {
        let recipes = recipes(layers).ok_or_else(|| Error::NotADisk { stack: text(layers) })?;
        let mut built: Vec<Box<dyn OpenLayer>> = Vec::with_capacity(layers.len());
        let mut size_bytes = 0;
        for (index, recipe) in recipes.into_iter().enumerate() {
            let place = BuildPlace { index, size_bytes, clock: &clock, seed };
            built.push(recipe.build(&place)?);
            size_bytes = built[0].base().map_or(0, Base::size_bytes);
        }
        let (block_bytes, unit_of) = built
            .iter()
            .zip(layers)
            .map(|(layer, declared)| (layer.block_bytes(), declared.name()))
            .max_by_key(|&(block_bytes, _)| block_bytes)
            .unwrap_or((1, ""));
        if !size_bytes.is_multiple_of(u64::from(block_bytes)) {
            let layer = layers[0].name();
            return Err(Error::Size { layer, size_bytes, block_bytes, unit_of });
        }
        let needs_scratch = built.iter().any(|layer| layer.needs_scratch());
        let stack = Arc::new(Stack { layers: built.into_boxed_slice() });
        let mut inner = Inner {
            stack,
            clock,
            names: layers.iter().map(name).collect(),
            size_bytes,
            block_bytes,
            needs_scratch,
            workers: Vec::new(),
            shards: Mutex::new(Shards { live: Vec::new(), ended: Shard::new(layers.len()) }),
        };
        inner.start_workers()?;
        Ok(Self(Arc::new(inner)))
    }

    /// Size of the device, bytes.
    pub fn size_bytes(&self) -> u64 {
        self.0.size_bytes
    }

    /// Smallest aligned unit of I/O, bytes: the largest of all layers'.
    pub fn block_bytes(&self) -> u32 {
        self.0.block_bytes
    }

    /// The clock the disk was opened with.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.0.clock
    }

    /// Facts about the base.
    pub fn backing(&self) -> BackingFacts {
        self.0.base().facts()
    }

    /// What has passed through each layer so far, bottom first. I/Os are counted when their
    /// completion is picked up.
    pub fn stats(&self) -> Vec<LayerStats> {
        let sum = Shard::new(self.0.names.len());
        let shards = self.0.shards();
        sum.absorb(&shards.ended);
        shards.live.iter().for_each(|shard| sum.absorb(shard));
        drop(shards);
        let layers = self.0.stack.layers.iter().zip(&self.0.names).enumerate();
        layers
            .map(|(index, (layer, name))| LayerStats {
                layer: name.clone(),
                own: layer.counters(),
                ..sum.layer_stats(index)
            })
            .collect()
    }

    /// [`VirtualDisk::stats`] with what they are of, as one JSON object: `stack`, `size_bytes`,
    /// `block_bytes`, `backing` ([`BackingFacts`]) and `layers` ([`LayerStats`], bottom first).
    pub fn stats_json(&self) -> String {
        #[derive(Serialize)]
        struct Document {
            stack: String,
            size_bytes: u64,
            block_bytes: u32,
            backing: BackingFacts,
            layers: Vec<LayerStats>,
        }
        let document = Document {
            stack: self.to_string(),
            size_bytes: self.size_bytes(),
            block_bytes: self.block_bytes(),
            backing: self.backing(),
            layers: self.stats(),
        };
        let mut text = serde_json::to_string_pretty(&document)
            .expect("values are numbers and strings, and keys are counter names");
        text.push('\n');
        text
    }

    /// Empties caches: the contents of `cache` layers, and the page cache's pages of a `file`. Call
    /// it while no I/O is in flight to start cold.
    pub fn drop_caches(&self) -> Result<(), Error> {
        self.0.stack.layers.iter().try_for_each(|layer| layer.drop_caches())
    }

    /// Whether a layer needs a second buffer of each I/O, for what it transforms.
    pub fn needs_scratch(&self) -> bool {
        self.0.needs_scratch
    }
}

/// The stack as it is written in a stack text: `mem(size=64M) + delay(latency=200us)`.
impl fmt::Display for VirtualDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.names.join(" + "))
    }
}

impl fmt::Debug for VirtualDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VirtualDisk({self})")
    }
}

/// What opens each layer, if it is one of this process, and the first one, and no other, a base.
fn recipes(layers: &[Layer]) -> Option<Vec<&dyn Recipe>> {
    let (bottom, above) = layers.split_first()?;
    let is_in_order = bottom.is_base() && !above.iter().any(Layer::is_base);
    layers.iter().map(recipe).collect::<Option<_>>().filter(|_| is_in_order)
}

/// A layer as it is written, its file by its name.
fn name(layer: &Layer) -> String {
    match layer {
        Layer::File(File { path: Some(path), size_bytes, thin }) => {
            let path = Some(shown(path));
            Layer::File(File { path, size_bytes: *size_bytes, thin: *thin }).to_string()
        }
        _ => layer.to_string(),
    }
}

fn text(layers: &[Layer]) -> String {
    layers.iter().map(name).collect::<Vec<_>>().join(" + ")
}

impl Inner {
    fn start_workers(&mut self) -> Result<(), Error> {
        for (index, layer) in self.stack.layers.iter().enumerate() {
            let workers = layer.work_queue().map_or(0, |queue| queue.workers);
            for number in 1..=workers {
                let stack = Arc::clone(&self.stack);
                // The kernel keeps 15 bytes of a thread's name.
                let worker = std::thread::Builder::new()
                    .name(format!("vdisk-q{index}/{number}"))
                    .spawn(move || stack.work(index))
                    .map_err(|source| Error::Spawn { number, source })?;
                self.workers.push(worker);
            }
        }
        Ok(())
    }

    pub(crate) fn base(&self) -> &dyn Base {
        self.stack.layers[0].base().expect("open() rejects a stack without a base at the bottom")
    }

    fn shards(&self) -> MutexGuard<'_, Shards> {
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add_shard(&self) -> Arc<Shard> {
        let shard = Arc::new(Shard::new(self.names.len()));
        self.shards().live.push(Arc::clone(&shard));
        shard
    }

    pub(crate) fn retire_shard(&self, shard: &Arc<Shard>) {
        let mut shards = self.shards();
        shards.live.retain(|live| !Arc::ptr_eq(live, shard));
        shards.ended.absorb(shard);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stack.close_queues();
        for worker in self.workers.drain(..) {
            // Workers catch the panics of layers; there is nothing else in them to fail.
            let _ = worker.join();
        }
    }
}

const CHUNK_BYTES: usize = 1 << 20;

impl VirtualDisk {
    /// Writes random data to every block of a disk in memory, below all layers (random data stays
    /// random when an `aes` layer decrypts it), without simulated time. A file is left alone.
    ///
    /// Reading memory that was never written measures nothing: all of it is one page. The data
    /// differ from disk to disk, so that two arms cannot be deduplicated.
    ///
    /// `progress` is called with bytes done and bytes in all, after each MiB; setting `stop` ends
    /// it at the next, and it returns false. Call it before I/O starts: it overwrites.
    pub fn fill_memory(&self, mut progress: impl FnMut(u64, u64), stop: &AtomicBool) -> bool {
        let base = self.0.base();
        if !base.facts().created {
            return true;
        }
        let size_bytes = self.size_bytes();
        let mut seed = [0; 32];
        xts::random(&mut seed);
        let mut random = Xoshiro256PlusPlus::from_seed(seed);
        let mut buffer = vec![0; CHUNK_BYTES];
        for offset in (0..size_bytes).step_by(CHUNK_BYTES) {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let left = usize::try_from(size_bytes - offset).unwrap_or(usize::MAX);
            let chunk = &mut buffer[..left.min(CHUNK_BYTES)];
            random.fill_bytes(chunk);
            base.fill(offset, chunk);
            progress(offset + chunk.len() as u64, size_bytes);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use iotax_layers::{File, Layer, Mem};

    use super::*;
    use crate::{ManualClock, Session};

    fn open(layer: Layer) -> VirtualDisk {
        VirtualDisk::open(&[layer], Arc::new(ManualClock::default())).unwrap()
    }

    #[test]
    fn every_block_is_written_and_no_two_are_alike() {
        let size_bytes = (2 << 20) + 512;
        let (disk, mut last) = (open(Layer::Mem(Mem { size_bytes })), 0);
        let progress = |done, total| {
            assert!(done > last && total == size_bytes);
            last = done;
        };
        assert!(disk.fill_memory(progress, &AtomicBool::new(false)));
        assert_eq!(last, size_bytes);
        let mut session = Session::new(&disk, 1, 512).unwrap();
        let blocks = (0..size_bytes).step_by(512).map(|offset| {
            let mut block = [0; 512];
            session.read_at(offset, &mut block).unwrap();
            block.to_vec()
        });
        assert_eq!(blocks.collect::<HashSet<_>>().len() as u64, size_bytes / 512);
    }

    #[test]
    fn it_stops_when_told_to() {
        let disk = open(Layer::Mem(Mem { size_bytes: 4 << 20 }));
        let stop = AtomicBool::new(false);
        let stop_after_two = |done, _| stop.store(done >= 2 << 20, Ordering::Relaxed);
        assert!(!disk.fill_memory(stop_after_two, &stop));
        let mut session = Session::new(&disk, 1, 4096).unwrap();
        let mut block = [1; 4096];
        session.read_at(2 << 20, &mut block).unwrap();
        assert_eq!(block, [0; 4096]);
    }

    #[test]
    fn a_file_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        std::fs::write(&path, [4; 8192]).unwrap();
        let file = File { path: Some(path.clone()), size_bytes: 8192, thin: false };
        let no_progress = |_, _| unreachable!("nothing to do");
        assert!(open(Layer::File(file)).fill_memory(no_progress, &AtomicBool::new(false)));
        assert_eq!(std::fs::read(path).unwrap(), [4; 8192]);
    }
}
