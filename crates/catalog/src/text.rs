//! A disk as a user writes it: `NAME:key=value,...`.

use iotax_quantity::{exact, gib as shown};

use crate::disk::Caching;
use crate::error::Error;
use crate::limit::Cloud;
use crate::units;

/// A name and what is said of it. Each parameter is taken once; what is left at the end is
/// unknown.
pub(crate) struct Parameters<'a> {
    text: &'a str,
    name: &'a str,
    left: Vec<(&'a str, &'a str)>,
    known: Vec<&'static str>,
}

impl<'a> Parameters<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self, Error> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut new = Self { text, name: name.trim(), left: Vec::new(), known: Vec::new() };
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(new.problem(&format!("`{part}` is no parameter: write KEY=VALUE")));
            };
            let (key, value) = (key.trim(), value.trim());
            if new.left.iter().any(|(known, _)| *known == key) {
                return Err(new.problem(&format!("`{key}` is given twice")));
            }
            new.left.push((key, value));
        }
        Ok(new)
    }

    /// What stands before the colon.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// One of a few words.
    pub(crate) fn word(
        &mut self,
        key: &'static str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match words.iter().find(|word| word.eq_ignore_ascii_case(value)) {
            Some(word) => Ok(Some(word)),
            None => Err(self.wrong(key, value, &words.join(" or "))),
        }
    }

    /// What the host caches, if it is said.
    pub(crate) fn caching(&mut self) -> Result<Option<Caching>, Error> {
        let Some(value) = self.take("caching") else { return Ok(None) };
        let caching = Caching::parse(value);
        caching.map(Some).ok_or_else(|| self.wrong("caching", value, "none, readonly or readwrite"))
    }

    /// The size, which must lie within what can be had.
    pub(crate) fn size_gib(&mut self, least: f64, most: f64) -> Result<Option<f64>, Error> {
        let Some(value) = self.take("size") else { return Ok(None) };
        let Some(gib) = units::size_gib(value) else {
            return Err(self.wrong("size", value, "a size such as 500G or 2T"));
        };
        if (least..=most).contains(&gib) {
            return Ok(Some(gib));
        }
        Err(self.problem(&format!("size={value}: its size is {} to {}", exact(least), shown(most))))
    }

    pub(crate) fn iops(&mut self) -> Result<Option<f64>, Error> {
        let Some(value) = self.take("iops") else { return Ok(None) };
        let wrong = || self.wrong("iops", value, "a number such as 6000");
        units::iops(value).map(Some).ok_or_else(wrong)
    }

    /// Bytes per second.
    pub(crate) fn bw_bytes(&mut self, cloud: Cloud) -> Result<Option<f64>, Error> {
        let Some(value) = self.take("bw") else { return Ok(None) };
        let wrong = || self.wrong("bw", value, "a throughput such as 250M, 250MB or 250MiB");
        units::bw_bytes(value, cloud).map(Some).ok_or_else(wrong)
    }

    /// Refuses parameters that nobody asked for.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let Some((key, _)) = self.left.first() else { return Ok(()) };
        let known = match self.known.as_slice() {
            [] => "it takes none".to_owned(),
            known => format!("it takes {}", known.join(", ")),
        };
        Err(self.problem(&format!("unknown parameter `{key}`: {known}")))
    }

    pub(crate) fn problem(&self, problem: &str) -> Error {
        Error::DiskParameter { disk: self.text.to_owned(), problem: problem.to_owned() }
    }

    fn wrong(&self, key: &str, value: &str, right: &str) -> Error {
        self.problem(&format!("{key}={value} cannot be read: write {right}"))
    }

    fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let found = self.left.iter().position(|(known, _)| known.eq_ignore_ascii_case(key))?;
        Some(self.left.remove(found).1)
    }
}
