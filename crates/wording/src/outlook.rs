//! What a verdict would take.

use iotax_analyze::{Outlook, Withheld};

/// `at this noise a verdict takes about 40 to 60 blocks`, or why it was withheld.
pub(crate) fn outlook(outlook: &Outlook) -> String {
    match outlook {
        Outlook::Blocks(blocks) => {
            let blocks = range(blocks.map(|blocks| blocks.to_string()));
            format!("at this noise a verdict takes about {blocks} blocks")
        }
        Outlook::Withheld(why) => withheld(*why).to_owned(),
    }
}

/// `5 %`, `5 % to 7 %`
pub(crate) fn range([least, most]: [String; 2]) -> String {
    if least == most { most } else { format!("{least} to {most}") }
}

pub(crate) const fn withheld(why: Withheld) -> &'static str {
    match why {
        Withheld::AfterHolm => {
            "it holds alone, but not after Holm's correction for all comparisons"
        }
        Withheld::IfDependent => "it would not hold if successive blocks depended on each other",
        Withheld::OrderMatters => {
            "it matters which trial comes first in a block, and these blocks are too few to take \
             that out"
        }
        Withheld::OtherEngines => {
            "libaio drove one of them, for a sandbox forbade io_uring there: measure both with \
             engine=libaio"
        }
    }
}
