//! `mem`: a device in memory.

use iotax_layers::Mem;
use memmap2::{Advice, MmapMut};

use crate::layer::prelude::*;
use crate::memory;
use crate::shared_memory::SharedMemory;

const NAME: &str = "mem";
const BLOCK_BYTES: u32 = 512;

impl Recipe for Mem {
    fn build(&self, _place: &BuildPlace<'_>) -> Result<Box<dyn OpenLayer>, Error> {
        Error::check_size(NAME, self.size_bytes, BLOCK_BYTES)?;
        let len = memory::check_available(NAME, self.size_bytes)?;
        let memory = MmapMut::map_anon(len).map_err(|_| memory::lacking(NAME, len))?;
        // Fewer TLB misses where the kernel has huge pages to give; nothing depends on it.
        let _ = memory.advise(Advice::HugePage);
        Ok(Box::new(OpenMem { memory: SharedMemory::new(memory) }))
    }
}

struct OpenMem {
    memory: SharedMemory,
}

impl OpenLayer for OpenMem {
    fn down(&self, mut io: Parcel) -> Flow {
        let offset = io.request.offset;
        match io.request.op {
            Op::Read => self.memory.read(offset, io.target()),
            Op::Write => self.memory.write(offset, io.payload()),
            Op::Flush => {}
        }
        Flow::Turn(io)
    }

    fn block_bytes(&self) -> u32 {
        BLOCK_BYTES
    }

    fn base(&self) -> Option<&dyn Base> {
        Some(self)
    }
}

impl Base for OpenMem {
    fn size_bytes(&self) -> u64 {
        self.memory.len() as u64
    }

    fn fill(&self, offset: u64, data: &[u8]) {
        self.memory.write(offset, data);
    }

    fn waits(&self) -> bool {
        false
    }

    fn facts(&self) -> BackingFacts {
        BackingFacts::memory(self.size_bytes())
    }
}
