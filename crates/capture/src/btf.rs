//! Reads from the kernel's BTF how many parameters each tracepoint has, which helpers BPF programs can
//! call, and where a structure of a module has a field. `aya` parses BTF too, but exposes none of it.

use std::io;
use std::path::Path;

const OF_KERNEL: &str = "/sys/kernel/btf/vmlinux";
const OF_BTRFS: &str = "/sys/kernel/btf/btrfs";
const MAGIC: u16 = 0xeb9f;

const KIND_STRUCT: u32 = 4;
const KIND_POINTER: u32 = 2;
const KIND_ENUMERATION: u32 = 6;
const KIND_TYPEDEF: u32 = 8;
const KIND_FUNCTION_PROTOTYPE: u32 = 13;

/// The types of the kernel or of a module.
pub(crate) struct KernelTypes {
    bytes: Vec<u8>,
    types: Vec<Type>,
    strings_at: usize,
    strings_length: usize,
    /// Strings that precede those of a module: the kernel's.
    before: Option<Box<Self>>,
}

/// Where btrfs has the device number of a subvolume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Subvolumes {
    /// From an inode back to the pointer to its root.
    pub root_before: u32,
    /// In the root.
    pub device_at: u32,
}

#[derive(Clone, Copy)]
struct Type {
    at: usize,
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

impl KernelTypes {
    pub(crate) fn of_kernel() -> io::Result<Self> {
        let bytes = std::fs::read(Path::new(OF_KERNEL))?;
        Self::parse(bytes).ok_or_else(|| io::Error::other("the kernel's BTF is damaged"))
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let word = |at| word(&bytes, at);
        let magic = bytes.get(..2)?.try_into().ok().map(u16::from_le_bytes)?;
        if magic != MAGIC {
            return None;
        }
        let head = word(4)? as usize;
        let (types_at, types_length) = (word(8)? as usize, word(12)? as usize);
        let strings_at = head.checked_add(word(16)? as usize)?;
        let strings_length = word(20)? as usize;
        let mut at = head.checked_add(types_at)?;
        let end = at.checked_add(types_length)?;
        // Number 0 is void.
        let mut types = vec![Type { at: 0, name: 0, info: 0, other: 0 }];
        while at < end {
            let found = Type { at, name: word(at)?, info: word(at + 4)?, other: word(at + 8)? };
            at = at.checked_add(12 + rest_bytes(found)?)?;
            types.push(found);
        }
        Some(Self { bytes, types, strings_at, strings_length, before: None })
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

    /// Whether BPF programs can call this helper, such as `get_current_task_btf`.
    pub(crate) fn has_helper(&self, helper: &str) -> bool {
        let name = format!("BPF_FUNC_{helper}");
        let is_list = |found: &&Type| {
            found.kind() == KIND_ENUMERATION && self.is_named(**found, b"bpf_func_id")
        };
        self.types.iter().find(is_list).is_some_and(|list| {
            (0..list.members() as usize).any(|member| {
                let value = self.word(list.at + 12 + 8 * member);
                value.is_some_and(|value| self.is_string(value, name.as_bytes()))
            })
        })
    }

    /// `None` if btrfs is not loaded. It is part of some kernels, and a module of others.
    pub(crate) fn subvolumes(self) -> Option<Subvolumes> {
        if let Some(found) = self.find_subvolumes() {
            return Some(found);
        }
        let mut module = Self::parse(std::fs::read(OF_BTRFS).ok()?)?;
        module.before = Some(Box::new(self));
        module.find_subvolumes()
    }

    fn find_subvolumes(&self) -> Option<Subvolumes> {
        let inode = self.offset("btrfs_inode", "vfs_inode")?;
        let root = self.offset("btrfs_inode", "root")?;
        let device_at = self.offset("btrfs_root", "anon_dev")?;
        Some(Subvolumes { root_before: inode.checked_sub(root)?, device_at })
    }

    /// Where a structure has a field, in bytes.
    fn offset(&self, structure: &str, field: &str) -> Option<u32> {
        let is_structure = |found: &&Type| {
            found.kind() == KIND_STRUCT && self.is_named(**found, structure.as_bytes())
        };
        let found = self.types.iter().find(is_structure)?;
        (0..found.members() as usize).find_map(|member| {
            let at = found.at + 12 + 12 * member;
            // With bit fields in the structure, the upper byte is a width.
            let has_widths = found.info >> 31 != 0;
            let bits = self.word(at + 8)? & if has_widths { 0x00ff_ffff } else { u32::MAX };
            self.is_string(self.word(at)?, field.as_bytes()).then_some(bits / 8)
        })
    }

    fn word(&self, at: usize) -> Option<u32> {
        word(&self.bytes, at)
    }

    fn is_named(&self, found: Type, name: &[u8]) -> bool {
        self.is_string(found.name, name)
    }

    /// Whether the string of this number, which is where it begins, is this text.
    fn is_string(&self, number: u32, name: &[u8]) -> bool {
        let length = self.before.as_ref().map_or(0, |before| before.strings_length);
        let Some(own) = (number as usize).checked_sub(length) else {
            return self.before.as_ref().is_some_and(|before| before.is_string(number, name));
        };
        let text = self.strings_at.checked_add(own);
        let text = text.and_then(|at| self.bytes.get(at..));
        text.and_then(|text| text.strip_prefix(name)).is_some_and(|rest| rest.first() == Some(&0))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
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
    fn the_kernel_knows_its_tracepoints_and_helpers() {
        if !iotax_testing::kernel_has_btf() {
            return;
        }
        let types = KernelTypes::of_kernel().unwrap();
        assert_eq!(types.parameters("sys_enter"), Some(2));
        assert_eq!(types.parameters("sched_process_fork"), Some(2));
        assert_eq!(types.parameters("sys_ente"), None);
        assert_eq!(types.offset("file", "no_such_field"), None);
        assert!(types.offset("inode", "i_generation").unwrap() > 0);
        assert!(types.has_helper("ringbuf_reserve"));
        assert!(!types.has_helper("ringbuf_reserv"));
    }

    /// A module with a structure whose names are partly the kernel's.
    #[test]
    fn a_module_continues_the_strings_of_the_kernel() {
        let blob = |types: &[u32], strings: &[u8]| {
            let mut bytes = MAGIC.to_le_bytes().to_vec();
            bytes.extend([1, 0]);
            let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
            let sizes = [24, 0, types.len(), types.len(), strings.len()];
            bytes.extend(sizes.iter().flat_map(|size| u32::try_from(*size).unwrap().to_le_bytes()));
            bytes.extend(types);
            bytes.extend(strings);
            bytes
        };
        let of_kernel = KernelTypes::parse(blob(&[], b"\0root\0")).unwrap();
        let (own, of_inode) = (6, 6 + 12);
        let structures = [
            own,
            KIND_STRUCT << 24 | 2,
            64,
            1,
            0,
            8 * 8,
            of_inode,
            0,
            40 * 8,
            of_inode + 10,
            KIND_STRUCT << 24 | 1,
            64,
            of_inode + 21,
            0,
            16 * 8,
        ];
        let strings = b"btrfs_inode\0vfs_inode\0btrfs_root\0anon_dev\0";
        let mut module = KernelTypes::parse(blob(&structures, strings)).unwrap();
        module.before = Some(Box::new(of_kernel));
        let expected = Subvolumes { root_before: 32, device_at: 16 };
        assert_eq!(module.find_subvolumes(), Some(expected));
    }

    proptest! {
        #[test]
        fn damage_is_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if bytes.len() > 24 {
                bytes[..2].copy_from_slice(&MAGIC.to_le_bytes());
                bytes[4..16].copy_from_slice(&[24, 0, 0, 0, 0, 0, 0, 0, 200, 0, 0, 0]);
            }
            if let Some(found) = KernelTypes::parse(bytes) {
                found.parameters("sys_enter");
                found.has_helper("ringbuf_reserve");
            }
        }
    }
}
