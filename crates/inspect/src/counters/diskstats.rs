//! `/proc/diskstats`: one line per device, described in the kernel's
//! `Documentation/admin-guide/iostats.rst`.

use iotax_record::DISK_COUNTERS;

use super::plain::figures;

/// Fewest counters of a line: discards came with Linux 4.18, flushes with 5.5. Those that a kernel
/// does not have are 0.
const FEWEST: usize = 11;

/// The counters of the devices called `names`, in their order; `None` for a device that has no
/// line, or one not as documented.
pub fn disk_counters(text: &str, names: &[String]) -> Vec<Option<[u64; DISK_COUNTERS]>> {
    let mut found = vec![None; names.len()];
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace().skip(2);
        let Some(name) = words.next() else { continue };
        if let Some(device) = names.iter().position(|wanted| wanted == name) {
            found[device] = figures(words, FEWEST);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIXTURE: &str = "\
   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 234195 36416 19853338 178607 34727 139084 63440448 339790 3 46320 521119 6290 55 1738584 2671 890 49
 254       1 vda1 1 2 3 4 5 6 7 8 9 10 11
 254       2 vda2 1 2 3 4
 254       3 vda3 1 2 3 4 5 6 7 8 9 10 -11
 104       0 cciss/c0d0 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
garbage
";

    fn of(name: &str) -> Option<[u64; DISK_COUNTERS]> {
        disk_counters(FIXTURE, &[name.to_owned()])[0]
    }

    #[test]
    fn a_device_has_seventeen_counters() {
        let vda = of("vda").unwrap();
        assert_eq!((vda[0], vda[8], vda[16]), (234_195, 3, 49));
        assert_eq!(of("cciss/c0d0"), Some([9; 17]), "later kernels may add more");
    }

    #[test]
    fn old_kernels_count_neither_discards_nor_flushes() {
        let vda1 = of("vda1").unwrap();
        assert_eq!(vda1[..11], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(vda1[11..], [0; 6]);
    }

    #[test]
    fn names_are_matched_whole_and_broken_lines_are_no_figures() {
        let names = ["vd", "vda2", "vda3", "vdb", "loop0"].map(str::to_owned);
        let found = disk_counters(FIXTURE, &names);
        assert_eq!(found, [None, None, None, None, Some([0; 17])]);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", counters in "([0-9]{1,25} ){0,20}") {
            let names = ["a".to_owned(), String::new()];
            disk_counters(&text, &names);
            disk_counters(&format!("1 2 a {counters}"), &names);
        }
    }
}
