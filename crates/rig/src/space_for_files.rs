//! How much room there is for test files: in a stack by its size, in a directory by its free space.

use std::path::Path;

use iotax_experiment::{Base, Draft, Form, Stack, Target};
use iotax_inspect::SiteKind;

use crate::check::{resolved, space_needed};
use crate::resolved_target::look;
use crate::{device, layers};

/// The arm with the least room for test files, and that room in bytes. `None` if no arm has test
/// files, or if the room is unknown. `work_dir` is the directory for scratch files. With `None`,
/// only the declared sizes of stacks count, for arms on another host.
pub fn space_for_files(spec: &Draft, work_dir: Option<&Path>) -> Option<(usize, u64)> {
    if spec.has_several_targets() {
        // Their files differ, so there is no common scale by which to shrink them.
        return None;
    }
    let arms = || spec.arms.iter().enumerate();
    let stacks = arms().filter_map(|(at, arm)| {
        let stack = arm.target.stack().filter(|stack| stack.form() == Form::Directory)?;
        let here = || look(device::path_in(arm)?).ok().map(|facts| facts.size_bytes);
        let base_bytes = stack.size_bytes().or_else(|| work_dir.and_then(|_| here()))?;
        Some((at, layers::free_for_files(stack, base_bytes)))
    });
    let free = work_dir.map(|work_dir| {
        let workload = spec.all_at_once();
        let known = spec
            .arms
            .iter()
            .filter_map(|arm| Some((arm, resolved(arm, &workload, work_dir).ok()?)));
        let known: Vec<_> = known.collect();
        let needed = space_needed(spec, known.iter().map(|(arm, resolved)| (*arm, resolved)));
        let by_name = |(name, bytes)| Some((arms().find(|(_, arm)| arm.name == name)?.0, bytes));
        needed.for_files().filter_map(by_name).collect::<Vec<_>>()
    });
    stacks.chain(free.into_iter().flatten()).min_by_key(|(_, bytes)| *bytes)
}

/// The minimum size of such a stack for test files of `files_bytes`, among eight sizes per power of
/// two. `None` if the stack has no size parameter or no directory for files.
pub fn least_stack_bytes(stack: &Stack, files_bytes: u64) -> Option<u64> {
    stack.size_bytes().filter(|_| stack.form() == Form::Directory)?;
    let sizes = (20..60).flat_map(|power| (8..16_u64).map(move |eighths| eighths << power));
    let is_enough = |size: &u64| {
        layers::too_small(stack, *size).is_none()
            && layers::free_for_files(stack, *size) >= files_bytes
    };
    sizes.into_iter().find(is_enough)
}

/// Bytes of `target` that a load may use, in whole MiB: all of a file, device or disk, and
/// `in_directory` bytes of a directory. 0 if it is smaller than a MiB or cannot be examined, which
/// [`Rig::open`](crate::Rig::open) reports.
pub fn span_bytes(target: &Target, in_directory: u64) -> u64 {
    const MIB: u64 = 1 << 20;
    let size = |path: &Path| {
        iotax_inspect::site(path).map_or(0, |facts| match facts.kind {
            SiteKind::Directory => in_directory,
            _ => facts.size_bytes,
        })
    };
    let bytes = match target {
        Target::Path(path) => size(path),
        Target::Stack(stack) if stack.form() == Form::Directory => in_directory,
        Target::Stack(stack) => match (stack.size_bytes(), stack.base()) {
            (Some(bytes), _) => bytes,
            (None, Some(Base::Device(path))) => size(path),
            _ => in_directory,
        },
        Target::Several(_) => 0,
    };
    bytes - bytes % MIB
}

#[cfg(test)]
mod tests {
    use iotax_experiment::{Arm, Spec, Stop, Workload, parse_arms};

    use super::*;

    const MIB: u64 = 1 << 20;

    fn spec(arms: &[&str]) -> Spec {
        let arms: Vec<Arm> = parse_arms(arms.iter().copied()).unwrap();
        let workload = Workload::preset("randread-4k").unwrap();
        Spec::compare(workload, arms, Stop::default(), 1).unwrap()
    }

    fn stack(text: &str) -> Stack {
        let Target::Stack(stack) = Target::parse(text).unwrap() else { panic!("a stack") };
        stack
    }

    /// In MiB. Fresh ext4 of 64M and 1G had 50 and 906 free, XFS of 300M and 1G 219 and 921, Btrfs
    /// of 1G 904.
    #[test]
    fn a_stack_has_space_for_less_than_its_size() {
        let space = |text: &str| {
            let stack = stack(text);
            layers::free_for_files(&stack, stack.size_bytes().unwrap()) / MIB
        };
        let told: Vec<String> = [
            "file(size=1G) + ext4",
            "file(size=2G) + qemu-luks + ext4",
            "file(size=64M) + ext4",
            "file(size=1G) + ext4(mkfs=-N1000000)",
            "file(size=1G) + xfs",
            "file(size=300M) + xfs",
            "file(size=1G) + btrfs",
            "tmpfs(size=1G)",
            "file(size=100G) + ext4",
        ]
        .iter()
        .map(|text| format!("{text}: {}", space(text)))
        .collect();
        insta::assert_snapshot!(told.join("\n"), @"
        file(size=1G) + ext4: 857
        file(size=2G) + qemu-luks + ext4: 1779
        file(size=64M) + ext4: 44
        file(size=1G) + ext4(mkfs=-N1000000): 428
        file(size=1G) + xfs: 825
        file(size=300M) + xfs: 174
        file(size=1G) + btrfs: 447
        tmpfs(size=1G): 921
        file(size=100G) + ext4: 92096
        ");
    }

    #[test]
    fn the_arm_with_the_least_free_space_decides() {
        let spec = spec(&["a=file(size=2G) + ext4", "b=file(size=1G) + ext4", "c=mem(size=1M)"]);
        assert_eq!(space_for_files(&spec, None).unwrap().0, 1);
        let none = spec_of_blocks();
        assert_eq!(space_for_files(&none, Some(Path::new("."))), None);
    }

    fn spec_of_blocks() -> Spec {
        spec(&["a=mem(size=8M)", "b=mem(size=8M) + aes"])
    }

    #[test]
    fn directories_on_one_file_system_divide_what_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| dir.path().join(name));
        for path in &paths {
            std::fs::create_dir(path).unwrap();
        }
        let arms = |paths: &[&std::path::PathBuf]| -> u64 {
            let arms: Vec<String> =
                paths.iter().enumerate().map(|(i, p)| format!("n{i}={}", p.display())).collect();
            let spec = spec(&arms.iter().map(String::as_str).collect::<Vec<_>>());
            space_for_files(&spec, Some(dir.path())).unwrap().1
        };
        let [a, b, c] = &paths;
        let (one, three) = (arms(&[a, a]), arms(&[a, b, c]));
        let ratio = one as f64 / three as f64;
        assert!((2.9..3.1).contains(&ratio), "{one} {three}");
        let spec = spec(&[&format!("a={}", a.display()), &format!("b={}", b.display())]);
        assert_eq!(space_for_files(&spec, None), None);
    }

    #[test]
    fn the_smallest_stack_that_would_do_does() {
        for text in ["file(size=1G) + ext4", "file(size=1G) + xfs", "file(size=1G) + btrfs"] {
            let stack = stack(text);
            for files_bytes in [64 * MIB, 1024 * MIB, 110 << 30] {
                let least = least_stack_bytes(&stack, files_bytes).unwrap();
                assert!(layers::free_for_files(&stack, least) >= files_bytes);
                assert!(least < 3 * files_bytes + 300 * MIB, "{text}: {least} for {files_bytes}");
            }
        }
        assert_eq!(least_stack_bytes(&stack("mem(size=1G)"), MIB), None);
    }
}
