//! Throughput over block size. A limiter has a kink: a cap on I/Os, then one on bytes. A device has
//! a curve: a fixed time per I/O and a time per byte, for all its channels together. A plateau over
//! depth alone cannot tell them apart.

use crate::found::{CpuBoundSizes, Fit, SizeFit, TargetCaps};
use crate::probe::Ended;
use crate::processors::Busy;
use crate::scout::{LARGE_BYTES, SMALL_BYTES, Scout, Shape};
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
/// An I/O shall not wait for longer than this in the queue, in seconds: a limiter may let a whole
/// queue through at once, and that must be little beside a window.
const LONGEST_WAIT_S: f64 = 0.1;

/// Measures a few sizes, and those on both sides of where a kink would be, and fits both models.
pub(crate) fn fit(
    scout: &mut Scout<'_>,
    target: usize,
    found: &mut TargetCaps,
) -> Result<(), Ended> {
    let mut points = Vec::new();
    let mut computed = Vec::new();
    for size in SIZES {
        add(scout, target, size, (&mut points, &mut computed), found)?;
    }
    let (small, large) = (points[0], points[points.len() - 1]);
    let kink_bytes = large.1 * f64::from(large.0) / small.1;
    let below = SIZES[0].max(power_of_two_below(kink_bytes));
    for size in [below, below.saturating_mul(2)] {
        if size <= LARGE_BYTES {
            add(scout, target, size, (&mut points, &mut computed), found)?;
        }
    }
    found.sizes = Some(models(points, &computed));
    Ok(())
}

/// Both models. Kernels and providers count a large I/O as several; where only that keeps a limiter
/// from being seen, the largest are left out: no device does so either. Where neither model fits, those
/// sizes at either end are left out at which this machine's CPUs set the rate (`computed`): what they
/// do is part of neither model.
fn models(points: Vec<(u32, f64)>, computed: &[u32]) -> SizeFit {
    let all = points.len();
    let small = points.iter().filter(|(size, _)| *size <= SURELY_ONE_BYTES).count();
    let counts_as_several = throttle(&points).rms > FITS
        && device(&points).rms > FITS
        && small >= LEAST_SIZES
        && throttle(&points[..small]).rms <= FITS;
    let fitted = if counts_as_several { small } else { all };
    let single = &points[..fitted];
    let cpu_bound = if throttle(single).rms > FITS && device(single).rms > FITS {
        cpu_bound(single, computed)
    } else {
        CpuBoundSizes::default()
    };
    let waited = &single[cpu_bound.smallest..fitted - cpu_bound.largest];
    let (throttle, device) = (throttle(waited), device(waited));
    SizeFit { points, fitted, cpu_bound, throttle, device }
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

fn add(
    scout: &mut Scout<'_>,
    target: usize,
    size: u32,
    (points, computed): (&mut Vec<(u32, f64)>, &mut Vec<u32>),
    found: &mut TargetCaps,
) -> Result<(), Ended> {
    let Err(at) = points.binary_search_by_key(&size, |(size, _)| *size) else { return Ok(()) };
    // Never fewer I/Os per second than if bytes alone counted.
    let nearest = at.checked_sub(1).map(|at| points[at]);
    let plateau = found.ladder.last().map(|step| step.iops);
    let expected_iops =
        nearest.map(|(smaller, iops)| iops * f64::from(smaller) / f64::from(size)).or(plateau);
    // Three I/Os more or less would be a slope.
    if points.len() >= LEAST_SIZES && expected_iops.is_some_and(|iops| !scout.can_count(iops)) {
        return Ok(());
    }
    let shape = Shape {
        purpose: "throughput over block size",
        block_bytes: size,
        queue_depth: depth(found, expected_iops),
        expected_iops,
        // Never more than of smaller ones.
        most_iops: nearest.map(|(_, iops)| iops).or(plateau).map(|iops| 1.2 * iops),
        ..Shape::default()
    };
    let seen = soak::measure(scout, target, shape, found)?;
    points.insert(at, (size, seen.iops()));
    let busy = Busy::of(&[seen], found.evidence.kernel_threads_share.unwrap_or(0.0));
    if busy.is_limit().is_some() {
        computed.push(size);
    }
    Ok(())
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
        let found = models(counted, &[]);
        assert!(found.fitted < found.points.len() && found.throttle.rms < 1e-9, "{found:?}");
        let device = models(points(|size| 1.0 / (16e-3 + size / 80e6)), &[]);
        assert_eq!(device.fitted, device.points.len(), "{device:?}");
    }

    #[test]
    fn sizes_that_were_computed_do_not_hide_a_limiter() {
        // 10 us for an I/O and 2 GB/s of copying, below a limit of 400 MB/s that binds from 32 KiB.
        let cpu = |size: f64| 1.0 / (15e-6 + size / 8e8);
        let points = points(|size| cpu(size).min(4e8 / size));
        let kept = models(points.clone(), &[]);
        assert!(kept.throttle.rms > FITS && kept.device.rms > FITS, "{kept:?}");
        let found = models(points.clone(), &[4096, 8192]);
        assert_eq!(found.cpu_bound, CpuBoundSizes { smallest: 2, largest: 0 });
        assert!(found.throttle.rms < 1e-9, "{found:?}");
        // With nothing much left there is no line to be told from a curve.
        let most: Vec<u32> = points.iter().map(|(size, _)| *size).take(7).collect();
        assert_eq!(models(points.clone(), &most).cpu_bound, CpuBoundSizes::default());
        assert_eq!(models(points, &[65_536]).cpu_bound, CpuBoundSizes::default(), "in the midst");
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
