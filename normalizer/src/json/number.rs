//! Numbers that wire structs read with `as` (or serde's `deserialize_with`).
//!
//! JavaScript and Python do not agree on whether a count is `3` or `3.0`; both are three here.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde_json::Number;

/// The first float past `u64::MAX`.
const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;

/// Reads a count: an integer, or a float without a fraction, that is not negative.
///
/// Null is `None`. Anything else, a string of digits too, is an error, so that it shows as a fault.
pub fn opt_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    if let Some(count) = number.as_u64() {
        return Ok(Some(count));
    }
    if let Some(integer) = number.as_i64() {
        return Err(refuse_count(Unexpected::Signed(integer)));
    }
    match number.as_f64() {
        Some(float) if float.fract() == 0.0 && (0.0..TWO_TO_THE_64).contains(&float) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "whole and in range, by the guard"
            )]
            let count = float as u64;
            Ok(Some(count))
        }
        float => Err(refuse_count(Unexpected::Float(float.unwrap_or(f64::NAN)))),
    }
}

/// Reads an amount: any number. Null is `None`; anything else is an error.
pub fn opt_f64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<Number>::deserialize(deserializer)?.and_then(|number| number.as_f64()))
}

fn refuse_count<E: Error>(unexpected: Unexpected<'_>) -> E {
    E::invalid_value(unexpected, &"a whole number, zero or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_whole_and_not_negative() {
        let table = [
            ("3", Some(Some(3))),
            ("3.0", Some(Some(3))),
            ("1e3", Some(Some(1000))),
            ("-0.0", Some(Some(0))),
            ("18446744073709551615", Some(Some(u64::MAX))),
            ("null", Some(None)),
            ("18446744073709551616", None),
            ("3.5", None),
            ("-3", None),
            ("-3.0", None),
            ("\"3\"", None),
            ("true", None),
            ("[]", None),
        ];
        for (input, expected) in table {
            let count = opt_u64(&mut serde_json::Deserializer::from_str(input)).ok();
            assert_eq!(count, expected, "{input}");
        }
    }

    #[test]
    fn an_amount_is_any_number() {
        let table = [
            ("3", Some(Some(3.0))),
            ("-0.25", Some(Some(-0.25))),
            ("null", Some(None)),
            ("\"3\"", None),
            ("{}", None),
        ];
        for (input, expected) in table {
            let amount = opt_f64(&mut serde_json::Deserializer::from_str(input)).ok();
            assert_eq!(amount, expected, "{input}");
        }
    }
}
