//! Reads from the kernel's BTF how many parameters each tracepoint has. `aya` parses BTF too, but
//! does not expose it.

use std::io;
use std::path::Path;

const OF_KERNEL: &str = "/sys/kernel/btf/vmlinux";
const MAGIC: u16 = 0xeb9f;

const KIND_POINTER: u32 = 2;
const KIND_TYPEDEF: u32 = 8;
const KIND_FUNCTION_PROTOTYPE: u32 = 13;

/// The kernel's tracepoints.
pub(crate) struct Tracepoints {
    bytes: Vec<u8>,
    types: Vec<Type>,
    strings_at: usize,
}

#[derive(Clone, Copy)]
struct Type {
    name: u32,
    info: u32,
    /// For some kinds, this field holds a size instead.
    other: u32,
}

impl Type {
    const fn kind(self) -> u32 {
        self.info >> 24 & 0x1f
    }

    const fn members(self) -> u32 {
        self.info & 0xffff
    }
}

impl Tracepoints {
    pub(crate) fn of_kernel() -> io::Result<Self> {
        let bytes = std::fs::read(Path::new(OF_KERNEL))?;
        Self::parse(bytes).ok_or_else(|| io::Error::other("the kernel's BTF is damaged"))
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let word = |at: usize| {
            let four = bytes.get(at..at.checked_add(4)?)?;
            Some(u32::from_le_bytes(four.try_into().ok()?))
        };
        let magic = bytes.get(..2)?.try_into().ok().map(u16::from_le_bytes)?;
        if magic != MAGIC {
            return None;
        }
        let head = word(4)? as usize;
        let (types_at, types_length) = (word(8)? as usize, word(12)? as usize);
        let strings_at = head.checked_add(word(16)? as usize)?;
        let mut at = head.checked_add(types_at)?;
        let end = at.checked_add(types_length)?;
        // Number 0 is void.
        let mut types = vec![Type { name: 0, info: 0, other: 0 }];
        while at < end {
            let found = Type { name: word(at)?, info: word(at + 4)?, other: word(at + 8)? };
            at = at.checked_add(12 + rest_bytes(found)?)?;
            types.push(found);
        }
        Some(Self { bytes, types, strings_at })
    }

    /// Number of parameters passed to a program on this tracepoint; `None` if the tracepoint does
    /// not exist.
    pub(crate) fn parameters(&self, tracepoint: &str) -> Option<u32> {
        let name = format!("btf_trace_{tracepoint}");
        let typedef = self.types.iter().find(|found| {
            found.kind() == KIND_TYPEDEF && self.is_named(**found, name.as_bytes())
        })?;
        let pointer = self.types.get(typedef.other as usize)?;
        let prototype = self.types.get(pointer.other as usize)?;
        let is_function =
            pointer.kind() == KIND_POINTER && prototype.kind() == KIND_FUNCTION_PROTOTYPE;
        // The first parameter is internal to the kernel.
        is_function.then(|| prototype.members().saturating_sub(1))
    }

    fn is_named(&self, found: Type, name: &[u8]) -> bool {
        let text = self.strings_at.checked_add(found.name as usize);
        let text = text.and_then(|at| self.bytes.get(at..));
        text.and_then(|text| text.strip_prefix(name)).is_some_and(|rest| rest.first() == Some(&0))
    }
}

/// Bytes that follow a type's first three words, by its kind.
const fn rest_bytes(found: Type) -> Option<usize> {
    let members = found.members() as usize;
    Some(match found.kind() {
        // Pointers, forward declarations, typedefs, qualifiers, functions, floats, tags.
        2 | 7..=12 | 16 | 18 => 0,
        // Integers, variables, declaration tags.
        1 | 14 | 17 => 4,
        3 => 12,
        // Structures, unions, sections, 64-bit enumerations.
        4 | 5 | 15 | 19 => 12 * members,
        // Enumerations, prototypes.
        6 | 13 => 8 * members,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kernel_knows_its_tracepoints() {
        if !iotax_testing::kernel_has_btf() {
            return;
        }
        let tracepoints = Tracepoints::of_kernel().unwrap();
        assert_eq!(tracepoints.parameters("sys_enter"), Some(2));
        assert_eq!(tracepoints.parameters("sched_process_fork"), Some(2));
        assert_eq!(tracepoints.parameters("sys_ente"), None);
    }

    proptest! {
        #[test]
        fn damage_is_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if bytes.len() > 24 {
                bytes[..2].copy_from_slice(&MAGIC.to_le_bytes());
                bytes[4..16].copy_from_slice(&[24, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0]);
            }
            if let Some(found) = Tracepoints::parse(bytes) {
                found.parameters("sys_enter");
            }
        }
    }
}
