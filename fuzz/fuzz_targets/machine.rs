//! No machine that somebody wrote makes the doctor panic: whatever can be read can be judged, told
//! and redacted.
#![no_main]

use iotax_experiment::CloudChoice;
use iotax_record::{HostRole, Machine};
use iotax_report::{DoctorDetail, HostFindings, Redactor, Style};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    if let Ok(machine) = serde_json::from_slice::<Machine>(text) {
        let findings = iotax_diagnose::findings(&machine, &CloudChoice::default());
        let coverage = iotax_diagnose::coverage(&machine, &CloudChoice::default());
        Redactor::default().machine(&machine);
        let hosts = [HostFindings { role: HostRole::Local, machine, findings, coverage }];
        for detail in [DoctorDetail::Folded, DoctorDetail::Whole] {
            let document = iotax_report::doctor(&hosts, None, detail);
            iotax_report::text(&document, Style::default());
            iotax_report::markdown(&document);
            iotax_report::html(&document);
        }
        iotax_report::doctor_json(&hosts, None, &[]);
    }
});
