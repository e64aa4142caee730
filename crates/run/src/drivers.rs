use iotax_experiment::{Driver, Spec};
use iotax_load::{Fio, Iperf3, LoadDriver, Native};

/// The load drivers of the arms.
#[derive(Debug, Clone, Default)]
pub struct Drivers {
    fio: Option<Fio>,
    iperf3: Option<Iperf3>,
}

/// This fio for the arms that use fio.
impl From<Fio> for Drivers {
    fn from(fio: Fio) -> Self {
        Self { fio: Some(fio), iperf3: None }
    }
}

impl Drivers {
    /// The drivers that the arms use.
    ///
    /// # Errors
    /// [`iotax_load::Error::NoProgram`] if an arm uses a program that is not installed.
    pub fn find(spec: &Spec) -> Result<Self, iotax_load::Error> {
        let asked = |driver| spec.arms.iter().any(|arm| arm.driver == driver);
        Ok(Self {
            fio: asked(Driver::Fio).then(Fio::find).transpose()?,
            iperf3: asked(Driver::Iperf3).then(Iperf3::find).transpose()?,
        })
    }

    /// The driver that an arm uses.
    ///
    /// # Errors
    /// As [`Drivers::find`], if that did not see this arm.
    pub(crate) fn of(&self, driver: Driver) -> Result<&dyn LoadDriver, iotax_load::Error> {
        let none = |name| iotax_load::Error::NoProgram { name };
        match driver {
            Driver::Native => Ok(&Native),
            Driver::Fio => self.fio.as_ref().map(|fio| fio as _).ok_or(none("fio")),
            Driver::Iperf3 => self.iperf3.as_ref().map(|iperf3| iperf3 as _).ok_or(none("iperf3")),
        }
    }
}
