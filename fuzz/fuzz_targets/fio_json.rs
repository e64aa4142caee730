//! No result makes the reader of fio's JSON panic or fill the memory; what it accepts is a record.
#![no_main]

use iotax_dialects::importers::fio;
use iotax_record::LoadRecord;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(text) = std::str::from_utf8(text) else { return };
    if let Ok(imported) = fio::read_fio(text) {
        let load = imported.into_load();
        let line = serde_json::to_string(&load).expect("a record is always JSON");
        serde_json::from_str::<LoadRecord>(&line).expect("what is written can be read");
    }
});
