//! The text of a disk as users write it: `NAME:key=value,...`.

use crate::disk::Caching;
use crate::error::{DiskProblem, Error};
use crate::limit::Cloud;
use crate::units;

/// A name and its parameters. Each parameter is taken once; those left at the end are unknown.
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
                return Err(new.problem(DiskProblem::NoParameter(part.to_owned())));
            };
            let (key, value) = (key.trim(), value.trim());
            if new.left.iter().any(|(known, _)| *known == key) {
                return Err(new.problem(DiskProblem::Twice(key.to_owned())));
            }
            new.left.push((key, value));
        }
        Ok(new)
    }

    /// The part before the colon.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// One of several words.
    pub(crate) fn word(
        &mut self,
        key: &'static str,
        words: &[&'static str],
    ) -> Result<Option<&'static str>, Error> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match words.iter().find(|word| word.eq_ignore_ascii_case(value)) {
            Some(word) => Ok(Some(word)),
            None => Err(self.unreadable(key, value, &words.join(" or "))),
        }
    }

    /// The host caching, if given.
    pub(crate) fn caching(&mut self) -> Result<Option<Caching>, Error> {
        let Some(value) = self.take("caching") else { return Ok(None) };
        let caching = Caching::parse(value);
        caching.map(Some).ok_or_else(|| self.unreadable("caching", value, DiskProblem::CACHING))
    }

    /// The size, which must be in the available range.
    pub(crate) fn size_gib(&mut self, least: f64, most: f64) -> Result<Option<f64>, Error> {
        let Some(value) = self.take("size") else { return Ok(None) };
        let Some(gib) = units::size_gib(value) else {
            return Err(self.unreadable("size", value, DiskProblem::SIZE));
        };
        if (least..=most).contains(&gib) {
            return Ok(Some(gib));
        }
        let written = format!("size={value}: ");
        Err(self.problem(DiskProblem::Size { written, least, most }))
    }

    pub(crate) fn iops(&mut self) -> Result<Option<f64>, Error> {
        let Some(value) = self.take("iops") else { return Ok(None) };
        let iops = units::iops(value).map(Some);
        iops.ok_or_else(|| self.unreadable("iops", value, DiskProblem::NUMBER))
    }

    /// Bytes per second.
    pub(crate) fn bw_bytes(&mut self, cloud: Cloud) -> Result<Option<f64>, Error> {
        let Some(value) = self.take("bw") else { return Ok(None) };
        let bytes = units::bw_bytes(value, cloud).map(Some);
        bytes.ok_or_else(|| self.unreadable("bw", value, DiskProblem::THROUGHPUT))
    }

    /// Refuses parameters that were not taken.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let Some((key, _)) = self.left.first() else { return Ok(()) };
        let (key, known) = ((*key).to_owned(), self.known.clone());
        Err(self.problem(DiskProblem::Unknown { key, known }))
    }

    pub(crate) fn problem(&self, problem: DiskProblem) -> Error {
        Error::Disk { disk: self.text.to_owned(), problem }
    }

    fn unreadable(&self, key: &'static str, value: &str, form: &str) -> Error {
        let (value, form) = (value.to_owned(), form.to_owned());
        self.problem(DiskProblem::Unreadable { key, value, form })
    }

    fn take(&mut self, key: &'static str) -> Option<&'a str> {
        self.known.push(key);
        let found = self.left.iter().position(|(known, _)| known.eq_ignore_ascii_case(key))?;
        Some(self.left.remove(found).1)
    }
}
