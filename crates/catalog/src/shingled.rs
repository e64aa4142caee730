//! Hard drives that are known to use shingled recording without reporting it.

use serde::{Deserialize, Serialize};

use crate::limit::Source;
use crate::table::SHINGLED;

/// A model of a shingled drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shingled {
    /// The model, up to the part that distinguishes variants: `WDC WD40EFAX`.
    pub model: String,
    pub family: String,
    /// Its source.
    pub source: Source,
}

#[derive(Deserialize)]
struct ShingledRow {
    model: String,
    family: String,
    source: String,
    as_of: String,
}

/// The shingled model for the model string of the kernel, such as `ATA WDC WD40EFAX-68J`, which
/// starts with the bus and may be truncated.
pub fn shingled(model: &str) -> Option<Shingled> {
    let model = model.trim();
    let model = model.strip_prefix("ATA ").unwrap_or(model);
    // USB bridges leave out the vendor.
    let bare =
        |name: &str| name.split_once(' ').map_or(name.to_owned(), |(_, bare)| bare.to_owned());
    let is_it = |name: &str| {
        let begins = |with: &str| {
            model
                .strip_prefix(with)
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        };
        begins(name) || begins(&bare(name))
    };
    let ShingledRow { model, family, source, as_of } = SHINGLED.rows(is_it).into_iter().next()?;
    Some(Shingled { model, family, source: Source { text: source, as_of } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_known_as_the_kernel_cuts_them() {
        let family = |model| shingled(model).map(|drive| drive.family);
        let red = Some("Western Digital Red".to_owned());
        for model in
            ["ATA WDC WD40EFAX-68J", "WDC WD40EFAX-68JH4N0", "WD40EFAX-68JH4N0", "WDC WD40EFAX"]
        {
            assert_eq!(family(model), red, "{model}");
        }
        assert_eq!(family("ATA ST8000DM004-2CX1").as_deref(), Some("Seagate BarraCuda 3.5"));
        assert_eq!(family("ATA TOSHIBA HDWD240").as_deref(), Some("Toshiba P300"));
        // Conventional drives of the same lines.
        for model in [
            "ATA WDC WD40EFRX-68W",
            "WDC WD80EFAX-68K",
            "WDC WD40EFPX-68C",
            "ST8000VN004-2M21",
            "ST4000DM0041",
            "TOSHIBA HDWD110",
            "",
            "ATA",
        ] {
            assert_eq!(family(model), None, "{model}");
        }
    }

    #[test]
    fn every_row_is_found_by_its_own_model() {
        let names = SHINGLED.names();
        assert!(names.len() > 40);
        for name in names {
            let found = shingled(&name).unwrap();
            assert_eq!(found.model, name);
            assert!(!found.source.text.is_empty() && !found.family.is_empty());
        }
    }
}
