//! Which of many arms lie outside of the others.

use iotax_analyze::{Analysis, Effect};
use iotax_wording::effect::EffectWords as _;
use iotax_wording::note;
use iotax_wording::verdict::outliers::{Member, chance};

use crate::document::{Item, Section, Table};
use crate::words;

/// What speaks for each.
pub(crate) fn section(analysis: &Analysis) -> Option<Section> {
    let found = analysis.outliers.as_ref()?;
    let member = Member::of(analysis).name();
    let mut items = Vec::new();
    if !found.slow.is_empty() {
        let short = |tax| Effect::sized(found.metric.on(), tax).in_short();
        let rows = Table::of(&found.slow)
            .word(member, |slow| words::printable(&slow.arm))
            .figure("effect", |slow| short(slow.tax))
            .figure("allowing for chance", |slow| short(slow.shrunken))
            .figure("chance if healthy", |slow| chance(slow.p));
        items.push(Item::Table(rows.table));
    }
    items.push(Item::Note(note::outliers(analysis, found)));
    Some(Section::new("Outliers", items))
}
