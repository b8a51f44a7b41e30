//! Numbers that wire structs read with `as` (or serde's `deserialize_with`).
//!
//! JavaScript and Python do not agree on whether a count is `3` or `3.0`; both are three here.

use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde_json::Number;

/// Reads a count: an integer, or a float without a fraction, that is not negative.
///
/// Null is `None`, and what is beyond 64 bits is as large as can be: whether that is believed is
/// not decided here. Anything else, a string of digits too, is an error, so that it shows as a
/// fault.
pub fn opt_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    match whole(&number) {
        Some(count) => Ok(Some(count)),
        None => Err(refuse_count(unexpected(&number))),
    }
}

/// Returns a number that is whole and not negative; one beyond 64 bits is as large as can be.
pub(crate) fn whole(number: &Number) -> Option<u64> {
    if let Some(count) = number.as_u64() {
        return Some(count);
    }
    let float = number
        .as_f64()
        .filter(|float| float.fract() == 0.0 && *float >= 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and not negative; what is too large saturates"
    )]
    Some(float as u64)
}

/// Reads an amount: any number that is not negative. Null is `None`; anything else is an error.
pub fn opt_amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    match number.as_f64() {
        Some(amount) if amount >= 0.0 => Ok(Some(amount)),
        _ => Err(D::Error::invalid_value(
            unexpected(&number),
            &"a number, zero or more",
        )),
    }
}

fn unexpected(number: &Number) -> Unexpected<'static> {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => Unexpected::Signed(integer),
        (None, float) => Unexpected::Float(float.unwrap_or(f64::NAN)),
    }
}

/// Reads any number. Null is `None`; anything else is an error.
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
            ("18446744073709551616", Some(Some(u64::MAX))),
            ("1e308", Some(Some(u64::MAX))),
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
    fn an_amount_that_is_spent_is_not_negative() {
        let table = [
            ("3", Some(Some(3.0))),
            ("0", Some(Some(0.0))),
            ("1e308", Some(Some(1e308))),
            ("null", Some(None)),
            ("-0.25", None),
            ("\"3\"", None),
        ];
        for (input, expected) in table {
            let amount = opt_amount(&mut serde_json::Deserializer::from_str(input)).ok();
            assert_eq!(amount, expected, "{input}");
        }
    }

    #[test]
    fn a_number_is_any_number() {
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
