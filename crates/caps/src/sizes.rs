//! Throughput over block size. A limiter has a kink: a cap on I/Os, then one on bytes. A device has
//! a curve: a fixed time per I/O and a time per byte, for all its channels together. A plateau over
//! depth alone cannot tell them apart.

use iotax_experiment::Purpose;

use crate::found::{CpuBoundSizes, Fit, SizeFit, TargetCaps};
use crate::probe::Ended;
use crate::processors::Busy;
use crate::scout::{LARGE_BYTES, SMALL_BYTES, Shape, TargetSearch};
use crate::soak;

/// Sizes that are measured in any case.
const SIZES: [u32; 5] = [SMALL_BYTES, 16 << 10, 64 << 10, 256 << 10, LARGE_BYTES];
/// Larger I/Os may be counted as several.
const SURELY_ONE_BYTES: u32 = 256 << 10;
/// Deviation up to which a model counts as fitting.
pub(crate) const FITS: f64 = 0.04;
/// The largest of the sizes over the smallest, at least, where some are left out.
const LEAST_RANGE: u32 = 8;
/// So many sizes are measured however slow the target is.
const LEAST_SIZES: usize = 3;
/// So much more is more, and nothing that two measurements differ by.
const ODD: f64 = 0.02;
/// How often what cannot be right is measured again.
const TRIES: usize = 5;
/// I/Os that are smaller than the kink by this factor are held by the cap on I/Os alone.
const CLEARLY_BELOW: f64 = 1.5;
/// An I/O shall not wait for longer than this in the queue, in seconds: a limiter may let a whole
/// queue through at once, and that must be little beside a window.
const LONGEST_WAIT_S: f64 = 0.1;

/// Measures a few sizes, and those on both sides of where a kink would be, and fits both models.
pub(crate) fn fit(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    let mut sizes = Sizes { on, points: Vec::new(), computed: Vec::new() };
    for size in SIZES {
        sizes.add(size)?;
    }
    let below = SIZES[0].max(power_of_two_below(sizes.kink_bytes()));
    for size in [below, below.saturating_mul(2)] {
        if size <= LARGE_BYTES {
            sizes.add(size)?;
        }
    }
    sizes.settle()?;
    let Sizes { on, points, computed } = sizes;
    on.found.sizes = Some(models(points, computed));
    down_to_the_kink(on)
}

/// Adds smaller I/Os than those of a page, if it takes them to come to a cap on I/Os: down to a
/// size with which it alone binds, or to the smallest that the target takes.
pub(crate) fn down_to_the_kink(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    let smallest = on.scout.smallest_bytes(on.target);
    with_sizes(on, |sizes| {
        while sizes.points[0].0 > smallest
            && sizes.kink_bytes() < CLEARLY_BELOW * f64::from(sizes.points[0].0)
        {
            sizes.add(sizes.points[0].0 / 2)?;
            sizes.confirm(0)?;
        }
        Ok(())
    })
}

/// Measures sizes again that have less than both caps allow: a device's curve is so each time, and
/// what was disturbed is not.
pub(crate) fn doubt(on: &mut TargetSearch<'_, '_>) -> Result<(), Ended> {
    let is_clear = |sizes: &SizeFit| {
        sizes.throttle.rms <= ODD / 2.0
            && sizes.disturbed.is_empty()
            && sizes.fitted == sizes.points.len()
    };
    if on.found.sizes.as_ref().is_none_or(is_clear) {
        return Ok(());
    }
    with_sizes(on, |sizes| {
        for at in 0..sizes.points.len() {
            if sizes.points[at].1 * (1.0 + ODD) < allowed(&sizes.points, sizes.points[at].0) {
                sizes.confirm(at)?;
            }
        }
        Ok(())
    })
}

/// I/Os per second of a size as the most I/Os and the most bytes of all sizes allow it.
fn allowed(points: &[(u32, f64)], size: u32) -> f64 {
    let ios = points.iter().map(|(_, iops)| *iops).fold(0.0, f64::max);
    ios.min(most_bytes(points) / f64::from(size))
}

/// The most bytes per second of all sizes.
pub(crate) fn most_bytes(points: &[(u32, f64)]) -> f64 {
    points.iter().map(|(size, iops)| f64::from(*size) * iops).fold(0.0, f64::max)
}

/// Works on the sizes that were measured, and fits the models again.
fn with_sizes(
    on: &mut TargetSearch<'_, '_>,
    work: impl FnOnce(&mut Sizes<'_, '_, '_>) -> Result<(), Ended>,
) -> Result<(), Ended> {
    let Some(SizeFit { points, computed, .. }) = on.found.sizes.take() else { return Ok(()) };
    let mut sizes = Sizes { on, points, computed };
    let result = work(&mut sizes);
    let Sizes { on, points, computed } = sizes;
    on.found.sizes = Some(models(points, computed));
    result
}

/// What is known better of a size now.
pub(crate) fn correct(found: &mut TargetCaps, block_bytes: u32, iops: f64) {
    let Some(SizeFit { mut points, computed, .. }) = found.sizes.take() else { return };
    if let Ok(at) = points.binary_search_by_key(&block_bytes, |(size, _)| *size) {
        points[at].1 = iops;
    }
    found.sizes = Some(models(points, computed));
}

/// Those that were measured so far.
struct Sizes<'o, 's, 'a> {
    on: &'o mut TargetSearch<'s, 'a>,
    /// Block size and I/Os per second, ascending.
    points: Vec<(u32, f64)>,
    /// Sizes at which this machine's CPUs set the rate.
    computed: Vec<u32>,
}

impl Sizes<'_, '_, '_> {
    /// Where the most bytes and the I/Os of the smallest meet.
    fn kink_bytes(&self) -> f64 {
        most_bytes(&self.points) / self.points[0].1
    }

    fn add(&mut self, size: u32) -> Result<(), Ended> {
        let at = self.points.binary_search_by_key(&size, |(size, _)| *size);
        let Err(at) = at else { return Ok(()) };
        let plateau = self.on.found.ladder.last().map(|step| step.iops);
        let ratio = |other: u32| f64::from(other) / f64::from(size);
        let smaller = at.checked_sub(1).map(|at| self.points[at]);
        // Smaller ones than any before, of which at most as many bytes pass.
        let larger = self.points.first().filter(|(other, _)| *other < SIZES[1] && size < *other);
        // Never fewer I/Os per second than if bytes alone counted, and never more than of smaller
        // ones.
        let (least, most) = match (smaller, larger) {
            (Some((other, iops)), _) => (Some(iops * ratio(other)), Some(1.2 * iops)),
            (None, Some((other, iops))) => (Some(*iops), Some(1.2 * iops * ratio(*other))),
            (None, None) => (plateau, plateau.map(|iops| 1.2 * iops)),
        };
        // Three I/Os more or less would be a slope.
        if self.points.len() >= LEAST_SIZES
            && least.is_some_and(|iops| !self.on.scout.can_count(iops))
        {
            return Ok(());
        }
        let iops = self.measure(size, least, most)?;
        self.points.insert(at, (size, iops));
        Ok(())
    }

    fn measure(
        &mut self,
        size: u32,
        least_iops: Option<f64>,
        most_iops: Option<f64>,
    ) -> Result<f64, Ended> {
        let shape = Shape {
            purpose: Purpose::OverSize,
            block_bytes: size,
            queue_depth: depth(self.on.found, least_iops),
            expected_iops: least_iops,
            most_iops,
            ..Shape::default()
        };
        let seen = soak::measure(self.on, shape)?;
        let iops = seen.iops();
        let busy = Busy::of(&[seen], self.on.found.plateau.kernel_threads_share.unwrap_or(0.0));
        self.computed.retain(|computed| *computed != size);
        if busy.is_limit().is_some() {
            self.computed.push(size);
        }
        Ok(iops)
    }

    /// Measures again what cannot be right, and keeps the better of both.
    fn settle(&mut self) -> Result<(), Ended> {
        for _ in 0..TRIES {
            let odd = self.odd();
            if odd.is_empty() || !self.on.scout.may_refine() {
                break;
            }
            for at in odd {
                self.again(at)?;
            }
        }
        Ok(())
    }

    /// Measures a size again, keeps the better of both, and returns the other measurement.
    fn again(&mut self, at: usize) -> Result<f64, Ended> {
        let (size, iops) = self.points[at];
        let before = self.computed.clone();
        let again = self.measure(size, Some(iops), Some(4.0 * iops))?;
        if again > iops {
            self.points[at].1 = again;
        } else {
            self.computed = before;
        }
        Ok(again.min(iops))
    }

    /// Measures a size again until it has what the others allow, or the best three are alike.
    fn confirm(&mut self, at: usize) -> Result<(), Ended> {
        let mut others = Vec::new();
        for _ in 0..TRIES {
            if !self.on.scout.may_refine() {
                break;
            }
            others.push(self.again(at)?);
            let (size, best) = self.points[at];
            let is_best = |iops: &&f64| **iops * (1.0 + ODD / 2.0) >= best;
            if others.iter().filter(is_best).count() > 1
                || best * (1.0 + ODD / 2.0) >= allowed(&self.points, size) && others.len() > 1
            {
                break;
            }
        }
        Ok(())
    }

    /// Where larger I/Os are more per second, or smaller ones more bytes: neither a limiter nor a
    /// device is so, but a measurement that something disturbed is.
    fn odd(&self) -> Vec<usize> {
        let more = |at: usize| {
            let (_, iops) = self.points[at];
            1.0 + ODD + 2.0 / (iops * self.on.scout.window_s(Some(iops))).max(1.0)
        };
        let bytes = |at: usize| f64::from(self.points[at].0) * self.points[at].1;
        let is_odd = |at: &usize| {
            let (before, after) = (0..*at, *at + 1..self.points.len());
            let ios = after.map(|other| self.points[other].1).fold(0.0, f64::max);
            ios > self.points[*at].1 * more(*at)
                || before.map(bytes).fold(0.0, f64::max) > bytes(*at) * more(*at)
        };
        (0..self.points.len()).filter(is_odd).collect()
    }
}

/// Both models. Kernels and providers count a large I/O as several; where only that keeps a limiter
/// from being seen, the largest are left out: no device does so either. Where neither model fits,
/// those sizes at either end are left out at which this machine's CPUs set the rate (`computed`):
/// what they do is part of neither model.
fn models(points: Vec<(u32, f64)>, computed: Vec<u32>) -> SizeFit {
    let all = points.len();
    let small = points.iter().filter(|(size, _)| *size <= SURELY_ONE_BYTES).count();
    let counts_as_several = throttle(&points).rms > FITS
        && device(&points).rms > FITS
        && small >= LEAST_SIZES
        && throttle(&points[..small]).rms <= FITS;
    let fitted = if counts_as_several { small } else { all };
    let single = &points[..fitted];
    let cpu_bound = if throttle(single).rms > FITS && device(single).rms > FITS {
        cpu_bound(single, &computed)
    } else {
        CpuBoundSizes::default()
    };
    let waited = &single[cpu_bound.smallest..fitted - cpu_bound.largest];
    let kept = undisturbed(waited);
    let (throttle, device) = (throttle(&kept), device(&kept));
    let is_left_out = |(size, _): &&(u32, f64)| kept.iter().all(|(other, _)| size != other);
    let disturbed = waited.iter().filter(is_left_out).map(|(size, _)| *size).collect();
    SizeFit { points, fitted, computed, cpu_bound, disturbed, throttle, device }
}

/// The sizes that have what the most I/Os and the most bytes of all sizes allow, if these are most
/// of them: of a device's curve few are so. What is below was disturbed each time that it was
/// measured.
fn undisturbed(points: &[(u32, f64)]) -> Vec<(u32, f64)> {
    if throttle(points).rms <= FITS {
        return points.to_vec();
    }
    let on_it = |(size, iops): &&(u32, f64)| iops * (1.0 + ODD) >= allowed(points, *size);
    let kept: Vec<_> = points.iter().filter(on_it).copied().collect();
    // One size alone may be anything: what is computed below a limiter has such a one, too.
    let most_ios = points.iter().map(|(_, iops)| *iops).fold(0.0, f64::max);
    let has_all_ios = |(_, iops): &&(u32, f64)| iops * (1.0 + ODD) >= most_ios;
    let is_line = |count: usize| count > 1 && kept.len() - count != 1;
    let is_most = kept.len() > LEAST_SIZES && kept.len() * 5 >= points.len() * 3;
    let is_most = is_most && is_line(kept.iter().filter(has_all_ios).count());
    if is_most { kept } else { points.to_vec() }
}

/// What to leave out, as long as enough is left to tell a line from a curve.
fn cpu_bound(points: &[(u32, f64)], computed: &[u32]) -> CpuBoundSizes {
    let is_computed = |(size, _): &&(u32, f64)| computed.contains(size);
    let smallest = points.iter().take_while(is_computed).count();
    let largest = points[smallest..].iter().rev().take_while(is_computed).count();
    let waited = &points[smallest..points.len() - largest];
    let tells = waited.first().zip(waited.last()).is_some_and(|(first, last)| {
        waited.len() >= LEAST_SIZES && last.0 >= first.0.saturating_mul(LEAST_RANGE)
    });
    if tells { CpuBoundSizes { smallest, largest } } else { CpuBoundSizes::default() }
}

/// Deep enough to saturate, and no deeper: what waits in a queue must be waited for at the end.
pub(crate) fn depth(found: &TargetCaps, expected_iops: Option<f64>) -> u32 {
    let least = found.useful_depth.unwrap_or(soak::DEPTH).saturating_mul(2).max(2);
    let most = found.ladder.last().map_or(soak::DEPTH, |step| step.queue_depth);
    let patient = expected_iops.map_or(f64::from(most), |iops| iops * LONGEST_WAIT_S);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most `most`")]
    let patient = patient.clamp(1.0, f64::from(most)) as u32;
    least.max(patient).min(most.max(2))
}

fn power_of_two_below(bytes: f64) -> u32 {
    let mut size = SMALL_BYTES;
    while f64::from(size) * 2.0 <= bytes && size < LARGE_BYTES {
        size *= 2;
    }
    size
}

/// The model `min(iops, bw / size)`: at each place that the kink can have between two sizes, the
/// best levels on both sides.
fn throttle(points: &[(u32, f64)]) -> Fit {
    let log_rate = |(_, iops): &(u32, f64)| iops.ln();
    let log_bytes = |(size, iops): &(u32, f64)| (iops * f64::from(*size)).ln();
    let mean = |of: &dyn Fn(&(u32, f64)) -> f64, part: &[(u32, f64)]| {
        (!part.is_empty()).then(|| part.iter().map(of).sum::<f64>() / part.len() as f64)
    };
    let fits = (0..=points.len()).map(|split| {
        let (iops, bw) = (mean(&log_rate, &points[..split]), mean(&log_bytes, &points[split..]));
        let model =
            |size: f64| iops.unwrap_or(f64::INFINITY).min(bw.unwrap_or(f64::INFINITY) - size.ln());
        let rms = rms(points, |size| model(size).exp());
        Fit { iops: iops.map(f64::exp), bw_bytes: bw.map(f64::exp), rms }
    });
    // The simplest of those that fit as well: one cap before two.
    let best = fits.clone().map(|fit| fit.rms).fold(f64::INFINITY, f64::min);
    let count = |fit: &Fit| u8::from(fit.iops.is_some()) + u8::from(fit.bw_bytes.is_some());
    fits.filter(|fit| fit.rms <= best * 1.05 + 1e-9)
        .min_by_key(count)
        .expect("there is a split for any number of points")
}

/// The model `1 / (a + b size)`, by least squares of relative deviations.
fn device(points: &[(u32, f64)]) -> Fit {
    // Minimise sum (x (a + b s) - 1)^2: two normal equations.
    let (mut saa, mut sab, mut sbb, mut sa, mut sb) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (size, iops) in points {
        let (u, v) = (*iops, iops * f64::from(*size));
        (saa, sab, sbb) = (saa + u * u, sab + u * v, sbb + v * v);
        (sa, sb) = (sa + u, sb + v);
    }
    let determinant = saa * sbb - sab * sab;
    let (a, b) = if determinant > 1e-12 * saa * sbb {
        ((sa * sbb - sb * sab) / determinant, (sb * saa - sa * sab) / determinant)
    } else {
        (sa / saa, 0.0)
    };
    // Neither an I/O nor a byte can take less than no time.
    let (a, b) = match (a < 0.0, b < 0.0) {
        (true, _) => (0.0, sb / sbb),
        (_, true) => (sa / saa, 0.0),
        _ => (a, b),
    };
    Fit {
        iops: (a > 0.0).then(|| 1.0 / a),
        bw_bytes: (b > 0.0).then(|| 1.0 / b),
        rms: rms(points, |size| 1.0 / (a + b * size)),
    }
}

fn rms(points: &[(u32, f64)], model: impl Fn(f64) -> f64) -> f64 {
    let squares = points.iter().map(|(size, iops)| (iops / model(f64::from(*size))).ln().powi(2));
    (squares.sum::<f64>() / points.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn points(model: impl Fn(f64) -> f64) -> Vec<(u32, f64)> {
        (12..=20).map(|bits| (1 << bits, model(f64::from(1_u32 << bits)))).collect()
    }

    #[test]
    fn large_ios_that_count_as_several_do_not_hide_a_limiter() {
        let counted = points(|size| 1000.0 / (size / 400_000.0).ceil());
        let found = models(counted, Vec::new());
        assert!(found.fitted < found.points.len() && found.throttle.rms < 1e-9, "{found:?}");
        let device = models(points(|size| 1.0 / (16e-3 + size / 80e6)), Vec::new());
        assert_eq!(device.fitted, device.points.len(), "{device:?}");
    }

    #[test]
    fn sizes_that_were_computed_do_not_hide_a_limiter() {
        // 10 us for an I/O and 2 GB/s of copying, below a limit of 400 MB/s that binds from 32 KiB.
        let cpu = |size: f64| 1.0 / (15e-6 + size / 8e8);
        let points = points(|size| cpu(size).min(4e8 / size));
        let kept = models(points.clone(), Vec::new());
        assert!(kept.throttle.rms > FITS && kept.device.rms > FITS, "{kept:?}");
        let found = models(points.clone(), vec![4096, 8192]);
        assert_eq!(found.cpu_bound, CpuBoundSizes { smallest: 2, largest: 0 });
        assert!(found.throttle.rms < 1e-9, "{found:?}");
        // With nothing much left there is no line to be told from a curve.
        let most: Vec<u32> = points.iter().map(|(size, _)| *size).take(7).collect();
        assert_eq!(models(points.clone(), most).cpu_bound, CpuBoundSizes::default());
        assert_eq!(
            models(points, vec![65_536]).cpu_bound,
            CpuBoundSizes::default(),
            "in the midst"
        );
    }

    const KIB: u32 = 1024;

    #[test]
    fn sizes_with_less_than_the_others_allow_are_left_out_if_most_have_it() {
        // So many I/Os per second up to a kink, of which these sizes have 0.7.
        let of = |kink: f64, disturbed: &[u32]| {
            let limit = |size: f64| 1000.0 * (kink / size).min(1.0);
            let mut points = points(limit);
            for (size, iops) in &mut points {
                *iops *= if disturbed.contains(size) { 0.7 } else { 1.0 };
            }
            models(points, Vec::new()).disturbed
        };
        assert_eq!(of(65_536.0, &[8 * KIB]), [8 * KIB]);
        let three = [8 * KIB, 16 * KIB, 256 * KIB];
        assert_eq!(of(65_536.0, &three), three);
        let four = [8 * KIB, 16 * KIB, 256 * KIB, 512 * KIB];
        assert_eq!(of(65_536.0, &four), [0_u32; 0]);
        assert_eq!(of(524_288.0, &[8 * KIB]), [0_u32; 0], "one size alone has fewer I/Os");
        assert_eq!(of(4096.0, &[64 * KIB]), [0_u32; 0], "one size alone has all I/Os");
        assert_eq!(of(65_536.0, &[]), [0_u32; 0]);
    }

    #[test]
    fn what_was_computed_at_the_large_end_is_left_out_too() {
        let limit = |size: f64| 1000.0_f64.min(65_536_000.0 / size);
        let computed = |size: f64| if size > 500_000.0 { 0.5 * limit(size) } else { limit(size) };
        let points = points(|size| if size < 5000.0 { 600.0 } else { computed(size) });
        let found = models(points.clone(), vec![4096, 1 << 19, 1 << 20]);
        assert_eq!(found.cpu_bound, CpuBoundSizes { smallest: 1, largest: 2 });
        assert!(found.throttle.rms < 1e-9 && found.disturbed.is_empty(), "{found:?}");
    }

    proptest! {
        #[test]
        fn a_throttle_is_fitted_by_its_own_model(iops in 100.0..1e5_f64, kink in 4.0..1024.0_f64) {
            let bw = iops * kink * 1024.0;
            let points = points(|size| iops.min(bw / size));
            let fit = throttle(&points);
            prop_assert!(fit.rms < 1e-9, "{fit:?}");
            prop_assert!(fit.iops.is_none_or(|found| (found / iops - 1.0).abs() < 1e-6));
            prop_assert!(fit.bw_bytes.is_none_or(|found| (found / bw - 1.0).abs() < 1e-6));
            prop_assert!(fit.iops.is_some() || fit.bw_bytes.is_some());
        }

        #[test]
        fn a_device_is_fitted_by_its_own_model_and_by_no_kink(
            fixed_us in 50.0..1000.0_f64, bw in 50e6..2e9_f64, channels in 1.0..64.0_f64,
        ) {
            let points = points(|size| channels / (fixed_us * 1e-6 + size / bw));
            let (device, throttle) = (device(&points), throttle(&points));
            prop_assert!(device.rms < 1e-6, "{device:?}");
            prop_assert!(throttle.rms > 0.03, "{throttle:?}");
            prop_assert!((device.bw_bytes.unwrap() / (bw * channels) - 1.0).abs() < 1e-3);
        }
    }
}
