//! Random texts, and a simple reader for plain ones as reference.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn no_text_panics(text in "(\\[|\\]|=|,|:|\\(|\\)|\\$|'|\"|-|&|;|#|\n| |bs|rw|name|global|include|fio|sleep|4k|é|[ -~]){0,60}") {
        for read in [
            read_job_file("job.fio", &text, &files),
            read_command(&text, &files),
            read_command(&format!("fio --name=a {text}"), &files),
        ] {
            if let Err(error) = read {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    /// A simple reader for a plain file: splits lines and applies global settings to all that
    /// follow.
    #[test]
    fn plain_files_agree_with_a_slow_reading(
        parts in prop::collection::vec((any::<bool>(), prop::collection::vec((0_usize..4, 1_u32..9), 0..4)), 1..6),
    ) {
        let names = ["bs", "iodepth", "numjobs", "loops"];
        let (mut text, mut global, mut expected) = (String::new(), String::new(), Vec::new());
        for (is_global, options) in &parts {
            text.push_str(if *is_global { "[global]\n" } else { "[job]\n" });
            let mut own = String::new();
            for (name, value) in options {
                let setting = format!("{}={value}", names[*name]);
                text.extend([&setting, "\n"]);
                own.extend([" ", &setting]);
            }
            if *is_global {
                global += &own;
            } else {
                expected.push(format!("job:{global}{own}"));
            }
        }
        match read_job_file("job.fio", &text, &no_files) {
            Ok(sections) => prop_assert_eq!(listed(&sections), expected.join("\n")),
            Err(_) => prop_assert!(expected.is_empty()),
        }
    }
}
