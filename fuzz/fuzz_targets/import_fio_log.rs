//! No log of fio makes the import panic or write a trace that cannot be read.
#![no_main]

use iotax_trace::Reader;
use iotax_trace::import::{Format, Options, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let options = Options { format: Some(Format::FioLog), program: "fuzz".to_owned() };
    let mut output = Vec::new();
    let Ok(imported) = import(vec![input], &mut output, &options) else { return };
    let mut reader = Reader::new(output.as_slice()).expect("what is written can be read");
    let mut events = 0;
    while let Some(chunk) = reader.chunk().expect("what is written can be read") {
        events += chunk.len() as u64;
    }
    assert_eq!(events, imported.events);
});
