//! How deep JSON is nested.
//!
//! Reading, comparing and dropping a value take some stack for each level, so what is stored must
//! not decide how much.

/// Deepest nesting of a record. Runtimes print at most half of it, for the normalizer reads no
/// more, and a record adds a few levels.
pub(crate) const DEEPEST: usize = 256;

/// Tells whether arrays and objects are nested too deep to be read. What is no JSON is not
/// refused here; a reader stops at the first byte that is none.
pub(crate) fn is_too_deep(json: &[u8]) -> bool {
    // Most records have fewer brackets altogether.
    if memchr::memchr2_iter(b'[', b'{', json)
        .nth(DEEPEST)
        .is_none()
    {
        return false;
    }
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in json {
        if in_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_and_width_and_text_do_not() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(!is_too_deep(nested(DEEPEST).as_bytes()));
        assert!(is_too_deep(nested(DEEPEST + 1).as_bytes()));
        assert!(is_too_deep("{\"a\":".repeat(DEEPEST + 1).as_bytes()));
        assert!(!is_too_deep("[[],".repeat(200).as_bytes()));
        let wide = format!("[{}1]", "[],{},".repeat(5000));
        assert!(!is_too_deep(wide.as_bytes()));
        let text = format!("[\"{}\\\"{}\"]", "[".repeat(5000), "{".repeat(5000));
        assert!(!is_too_deep(text.as_bytes()));
    }
}
