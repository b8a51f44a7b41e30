#![no_main]

use runtape_core::Runtime;

libfuzzer_sys::fuzz_target!(|data: &[u8]| runtape_normalizer_fuzz::check(Runtime::Generic, data));
