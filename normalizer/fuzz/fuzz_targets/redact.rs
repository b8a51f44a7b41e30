#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| runtape_normalizer_fuzz::check_redaction(data));
