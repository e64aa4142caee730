use iotax_load::{Fio, LoadDriver, Native};
use iotax_spec::{Driver, Spec};

/// What drives the load of each arm.
#[derive(Debug, Clone, Default)]
pub struct Drivers {
    fio: Option<Fio>,
}

/// This fio for the arms that ask for one.
impl From<Fio> for Drivers {
    fn from(fio: Fio) -> Self {
        Self { fio: Some(fio) }
    }
}

impl Drivers {
    /// Whatever the arms ask for.
    ///
    /// # Errors
    /// [`iotax_load::Error::NoProgram`] if an arm asks for fio, and it is not there.
    pub fn find(spec: &Spec) -> Result<Self, iotax_load::Error> {
        let asked = spec.arms.iter().any(|arm| arm.driver == Driver::Fio);
        Ok(Self { fio: if asked { Some(Fio::find()?) } else { None } })
    }

    /// The one that an arm asks for.
    ///
    /// # Errors
    /// As [`Drivers::find`], which was not asked about this arm.
    pub(crate) fn of(&self, driver: Driver) -> Result<&dyn LoadDriver, iotax_load::Error> {
        match (driver, &self.fio) {
            (Driver::Native, _) => Ok(&Native),
            (Driver::Fio, Some(fio)) => Ok(fio),
            (Driver::Fio, None) => Err(iotax_load::Error::NoProgram { name: "fio" }),
        }
    }
}
