use iotax_diagnose::why::drive::{DriveWhy, Shingles};

pub(in super::super) fn why(why: &DriveWhy, disk: &str) -> String {
    match why {
        DriveWhy::Rotating => format!(
            "{disk} is a rotating drive: each random I/O is a seek, and each flush waits for the \
             platter. Expect 75 to 150 random I/Os per second."
        ),
        DriveWhy::Shingled { how } => {
            let is = match how {
                Shingles::Zoned(zoned) => format!("is {zoned}: its tracks overlap."),
                Shingles::Model { family, model } => {
                    format!("is a {family} ({model}), which records in overlapping tracks.")
                }
            };
            format!(
                "{disk} {is} Sustained random writes stall after a few minutes, once its \
                 on-platter cache is full."
            )
        }
    }
}
