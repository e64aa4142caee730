use iotax_diagnose::why::ebs::{EbsLimit, EbsWhy};
use iotax_quantity::{span, whole};

pub(in super::super) fn why(why: &EbsWhy, disk: &str) -> String {
    match why {
        EbsWhy::Exceeded { by, iops_s, throughput_s, up_s } => {
            let whose = match by {
                EbsLimit::Volume => "volume",
                EbsLimit::Instance => "instance",
            };
            let up = up_s.map(|up_s| format!(" (the machine has been up for {})", span(up_s)));
            format!(
                "Since {disk} was attached{}, the load has exceeded the IOPS limit of the {whose} \
                 for {} in total, and the throughput limit for {}.",
                up.unwrap_or_default(),
                span(whole(*iops_s)),
                span(whole(*throughput_s))
            )
        }
    }
}
