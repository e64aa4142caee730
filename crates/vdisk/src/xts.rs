//! AES-XTS-256 through AWS-LC, which picks the widest AES instructions this CPU has.
//!
//! The only place that calls the C library: `aws-lc-rs`, its safe Rust interface, does not offer
//! XTS. Sectors share one key schedule: only the tweak is set per sector.

use std::ptr::{self, NonNull};

use aws_lc_sys as ffi;
use zeroize::Zeroizing;

/// Two 256-bit keys: for the data and for the tweak.
pub(crate) type Key = Zeroizing<[u8; 64]>;

/// Tweaks count units of this size whatever the sector size, as dm-crypt's `plain64` does without
/// `iv_large_sectors`.
const TWEAK_UNIT_BYTES: u64 = 512;

/// Fills `bytes` from the library's generator, which is seeded by the system.
pub(crate) fn random(bytes: &mut [u8]) {
    // SAFETY: the pointer and the length are those of a live, writable slice.
    let done = unsafe { ffi::RAND_bytes(bytes.as_mut_ptr(), bytes.len()) };
    assert_eq!(done, 1, "RAND_bytes aborts instead of failing");
}

pub(crate) fn random_key() -> Key {
    let mut key = Zeroizing::new([0; 64]);
    random(key.as_mut_slice());
    key
}

/// Which way a [`Cipher`] goes.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Encrypt,
    Decrypt,
}

/// A keyed context for one direction, used by one thread at a time.
pub(crate) struct Cipher {
    context: NonNull<ffi::EVP_CIPHER_CTX>,
    sector_bytes: usize,
}

// SAFETY: a context has no ties to the thread that made it; the library only requires that one
// thread at a time uses it, which `&mut self` on every use guarantees.
unsafe impl Send for Cipher {}

impl Cipher {
    /// `sector_bytes` must be a positive multiple of 512. The key is copied into the context,
    /// expanded, and wiped when it is dropped.
    pub(crate) fn new(key: &Key, direction: Direction, sector_bytes: usize) -> Self {
        assert!(sector_bytes > 0 && sector_bytes.is_multiple_of(512));
        // SAFETY: takes nothing, returns an owned context or null.
        let context = unsafe { ffi::EVP_CIPHER_CTX_new() };
        let context = NonNull::new(context).expect("there is enough memory for a cipher context");
        let encrypt = match direction {
            Direction::Encrypt => 1,
            Direction::Decrypt => 0,
        };
        // SAFETY: the context is live; the key has the 64 bytes that EVP_aes_256_xts reads; no
        // engine and no tweak yet (null) is allowed.
        let done = unsafe {
            ffi::EVP_CipherInit_ex(
                context.as_ptr(),
                ffi::EVP_aes_256_xts(),
                ptr::null_mut(),
                key.as_ptr(),
                ptr::null(),
                encrypt,
            )
        };
        // Owned from here on, so that it is freed even if the assertion fails.
        let cipher = Self { context, sector_bytes };
        assert_eq!(done, 1, "XTS rejects a key only if its two halves are equal");
        cipher
    }

    /// Transforms the sectors of `source`, which starts at `offset` on the device, into `target`
    /// of the same length, a multiple of the sector size.
    pub(crate) fn transform(&mut self, offset: u64, source: &[u8], target: &mut [u8]) {
        assert_eq!(source.len(), target.len());
        // SAFETY: both are slices of this length, and nothing overlaps what is borrowed mutably.
        unsafe { self.transform_raw(offset, source.as_ptr(), target.as_mut_ptr(), source.len()) }
    }

    /// As [`Cipher::transform`], from `bytes` to `bytes`.
    pub(crate) fn transform_in_place(&mut self, offset: u64, bytes: &mut [u8]) {
        let (bytes, len) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: a slice of this length, which is source and target.
        unsafe { self.transform_raw(offset, bytes, bytes, len) }
    }

    /// # Safety
    /// `source` must be readable and `target` writable for `len` bytes; they are the same or do not
    /// overlap.
    unsafe fn transform_raw(
        &mut self,
        offset: u64,
        source: *const u8,
        target: *mut u8,
        len: usize,
    ) {
        assert!(len.is_multiple_of(self.sector_bytes));
        let mut tweak = [0_u8; 16];
        for start in (0..len).step_by(self.sector_bytes) {
            let unit = (offset + start as u64) / TWEAK_UNIT_BYTES;
            tweak[..8].copy_from_slice(&unit.to_le_bytes());
            // SAFETY: the context is live and keyed; the tweak has the 16 bytes XTS reads; null
            // for cipher, engine and key, and -1 for the direction, keep what is set.
            let tweaked = unsafe {
                ffi::EVP_CipherInit_ex(
                    self.context.as_ptr(),
                    ptr::null(),
                    ptr::null_mut(),
                    ptr::null(),
                    tweak.as_ptr(),
                    -1,
                )
            };
            // SAFETY: start + sector_bytes <= len by the loop and the assertion above, so both
            // ranges lie in the caller's buffers; the library allows them to be the same.
            let done = unsafe {
                ffi::EVP_Cipher(
                    self.context.as_ptr(),
                    target.add(start),
                    source.add(start),
                    self.sector_bytes,
                )
            };
            assert!(tweaked == 1 && done > 0, "XTS needs at least 16 bytes and a key");
        }
    }
}

impl Drop for Cipher {
    fn drop(&mut self) {
        // SAFETY: the context is live, owned, and not used again. The library wipes the key
        // schedule before it frees it.
        unsafe { ffi::EVP_CIPHER_CTX_free(self.context.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors 10 to 14 of IEEE 1619-2007, annex B, have this key and this plaintext.
    fn vector(unit: u64) -> Vec<u8> {
        let mut key = random_key();
        let halves = concat!(
            "2718281828459045235360287471352662497757247093699959574966967627",
            "3141592653589793238462643383279502884197169399375105820974944592",
        );
        key.copy_from_slice(&bytes(halves));
        let plain: Vec<u8> = (0..=255).cycle().take(512).collect();
        let mut coded = vec![0; 512];
        let offset = unit * TWEAK_UNIT_BYTES;
        Cipher::new(&key, Direction::Encrypt, 512).transform(offset, &plain, &mut coded);
        let mut decoded = coded.clone();
        Cipher::new(&key, Direction::Decrypt, 512).transform_in_place(offset, &mut decoded);
        assert_eq!(decoded, plain);
        coded
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(pair).collect()
    }

    #[test]
    fn ieee_1619_vector_10() {
        let expected = "
            1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b
            5d31e276f8fe4a8d66b317f9ac683f44680a86ac35adfc3345befecb4bb188fd
            5776926c49a3095eb108fd1098baec70aaa66999a72a82f27d848b21d4a741b0
            c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf1000020887891429ca
            2a3e7a7d7df7b10355165c8b9a6d0a7de8b062c4500dc4cd120c0f7418dae3d0
            b5781c34803fa75421c790dfe1de1834f280d7667b327f6c8cd7557e12ac3a0f
            93ec05c52e0493ef31a12d3d9260f79a289d6a379bc70c50841473d1a8cc81ec
            583e9645e07b8d9670655ba5bbcfecc6dc3966380ad8fecb17b6ba02469a020a
            84e18e8f84252070c13e9f1f289be54fbc481457778f616015e1327a02b140f1
            505eb309326d68378f8374595c849d84f4c333ec4423885143cb47bd71c5edae
            9be69a2ffeceb1bec9de244fbe15992b11b77c040f12bd8f6a975a44a0f90c29
            a9abc3d4d893927284c58754cce294529f8614dcd2aba991925fedc4ae74ffac
            6e333b93eb4aff0479da9a410e4450e0dd7ae4c6e2910900575da401fc07059f
            645e8b7e9bfdef33943054ff84011493c27b3429eaedb4ed5376441a77ed4385
            1ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa
            773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151";
        assert_eq!(vector(0xff), bytes(expected));
    }

    #[test]
    fn ieee_1619_vector_14_a_sector_beyond_32_bits() {
        let expected = "
            64497e5a831e4a932c09be3e5393376daa599548b816031d224bbf50a818ed23
            50eae7e96087c8a0db51ad290bd00c1ac1620857635bf246c176ab463be30b80
            8da548081ac847b158e1264be25bb0910bbc92647108089415d45fab1b3d2604
            e8a8eff1ae4020cfa39936b66827b23f371b92200be90251e6d73c5f86de5fd4
            a950781933d79a28272b782a2ec313efdfcc0628f43d744c2dc2ff3dcb66999b
            50c7ca895b0c64791eeaa5f29499fb1c026f84ce5b5c72ba1083cddb5ce45434
            631665c333b60b11593fb253c5179a2c8db813782a004856a1653011e93fb6d8
            76c18366dd8683f53412c0c180f9c848592d593f8609ca736317d356e13e2bff
            3a9f59cd9aeb19cd482593d8c46128bb32423b37a9adfb482b99453fbe25a41b
            f6feb4aa0bef5ed24bf73c762978025482c13115e4015aac992e5613a3b5c2f6
            85b84795cb6e9b2656d8c88157e52c42f978d8634c43d06fea928f2822e465aa
            6576e9bf419384506cc3ce3c54ac1a6f67dc66f3b30191e698380bc999b05abc
            e19dc0c6dcc2dd001ec535ba18deb2df1a101023108318c75dc98611a09dc48a
            0acdec676fabdf222f07e026f059b672b56e5cbc8e1d21bbd867dd9272120546
            81d70ea737134cdfce93b6f82ae22423274e58a0821cc5502e2d0ab4585e94de
            6975be5e0b4efce51cd3e70c25a1fbbbd609d273ad5b0d59631c531f6a0a57b9";
        assert_eq!(vector(0xff_ffff_ffff), bytes(expected));
    }

    #[test]
    fn consecutive_sectors_have_consecutive_tweaks_and_are_independent() {
        let key = random_key();
        let plain = [7_u8; 4096];
        let mut whole = [0; 4096];
        let mut cipher = Cipher::new(&key, Direction::Encrypt, 512);
        cipher.transform(1 << 20, &plain, &mut whole);
        for (index, coded) in whole.chunks(512).enumerate() {
            let mut sector = [7_u8; 512];
            cipher.transform_in_place((1 << 20) + index as u64 * 512, &mut sector);
            assert_eq!(coded, sector);
        }
        assert_ne!(whole[..512], whole[512..1024]);
    }
}
