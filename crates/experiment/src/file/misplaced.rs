//! Errors and the keys they are about.

use iotax_layers::Error;

/// An error, and the key it is about: `["workload", "job", "0", "size"]`.
pub(super) struct Misplaced {
    pub path: Vec<String>,
    pub error: Box<Error>,
}

pub(super) type Placed<T> = Result<T, Misplaced>;

/// Names the key that an error is about.
pub(super) trait At<T> {
    fn at(self, path: &[&str]) -> Placed<T>;
}

impl<T> At<T> for Result<T, Error> {
    fn at(self, path: &[&str]) -> Placed<T> {
        let path = || path.iter().map(|segment| (*segment).to_owned()).collect();
        self.map_err(|error| Misplaced { path: path(), error: Box::new(error) })
    }
}
