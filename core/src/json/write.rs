//! Writes JSON just as `serde_json` does, in half the time: long texts are not looked at byte by
//! byte.

use serde::ser::{self, Error as _, Impossible, Serialize};
use serde_json::Error;

use super::scan::{find_special, is_plain};

type Result<T = ()> = std::result::Result<T, Error>;

/// Appends a value to `out`, byte for byte what [`serde_json::to_writer`] writes.
///
/// Keys of maps must be strings.
pub fn append<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result {
    value.serialize(Writer(out))
}

/// Appends a string with its quotes.
fn append_string(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.push(b'"');
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        append_special(out, bytes);
    }
    out.push(b'"');
}

#[inline(never)]
fn append_special(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut from = 0;
    loop {
        let at = find_special(bytes, from);
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        let Some(special) = bytes.get(at) else {
            break;
        };
        append_escaped(out, *special);
        from = at + 1;
    }
}

fn append_escaped(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\t' => b't',
        b'\r' => b'r',
        0x8 => b'b',
        0xC => b'f',
        _ => {
            let digit = |half: u8| match half {
                0..10 => b'0' + half,
                _ => b'a' + half - 10,
            };
            let [high, low] = [byte >> 4, byte & 15].map(digit);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

struct Writer<'a>(&'a mut Vec<u8>);

impl<'a> Writer<'a> {
    /// Writes what has no strings in it.
    fn plain<T: Serialize>(self, value: T) -> Result {
        serde_json::to_writer(self.0, &value)
    }

    fn open(self, opening: u8, closing: &'static [u8]) -> Inside<'a> {
        self.0.push(opening);
        Inside {
            out: self.0,
            is_first: true,
            closing,
        }
    }

    /// Begins an object that has a variant's name as its only key.
    fn variant(self, name: &str) -> Self {
        self.0.push(b'{');
        append_string(self.0, name);
        self.0.push(b':');
        self
    }
}

/// The inside of an array or object.
struct Inside<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    closing: &'static [u8],
}

impl Inside<'_> {
    fn next(&mut self) {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.next();
        append(self.out, value)
    }

    fn named<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        self.next();
        append_string(self.out, key);
        self.out.push(b':');
        append(self.out, value)
    }

    fn close(self) {
        self.out.extend_from_slice(self.closing);
    }
}

macro_rules! plain {
    ($($method:ident($type:ty);)*) => {$(
        fn $method(self, value: $type) -> Result {
            self.plain(value)
        }
    )*};
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Inside<'a>;
    type SerializeTuple = Inside<'a>;
    type SerializeTupleStruct = Inside<'a>;
    type SerializeTupleVariant = Inside<'a>;
    type SerializeMap = Inside<'a>;
    type SerializeStruct = Inside<'a>;
    type SerializeStructVariant = Inside<'a>;

    plain! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_bytes(&[u8]);
    }

    fn serialize_char(self, value: char) -> Result {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result {
        append_string(self.0, value);
        Ok(())
    }

    fn serialize_none(self) -> Result {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result {
        let inside = self.variant(variant);
        append(inside.0, value)?;
        inside.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'a>> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside<'a>> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside<'a>> {
        Ok(self.open(b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>> {
        Ok(self.variant(variant).open(b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'a>> {
        Ok(self.open(b'{', b"}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside<'a>> {
        Ok(self.open(b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>> {
        Ok(self.variant(variant).open(b'{', b"}}"))
    }
}

macro_rules! elements {
    ($($trait:ident::$method:ident;)*) => {$(
        impl ser::$trait for Inside<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
                self.element(value)
            }

            fn end(self) -> Result {
                self.close();
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

macro_rules! fields {
    ($($trait:ident;)*) => {$(
        impl ser::$trait for Inside<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result {
                self.named(key, value)
            }

            fn end(self) -> Result {
                self.close();
                Ok(())
            }
        }
    )*};
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}

impl ser::SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        self.next();
        key.serialize(Key(self.out))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.out.push(b':');
        append(self.out, value)
    }

    fn end(self) -> Result {
        self.close();
        Ok(())
    }
}

/// The key of a map.
struct Key<'a>(&'a mut Vec<u8>);

macro_rules! no_keys {
    ($($method:ident($($type:ty),*) -> $result:ty;)*) => {$(
        fn $method(self, $(_: $type),*) -> Result<$result> {
            Err(no_key())
        }
    )*};
}

fn no_key() -> Error {
    Error::custom("the key of a map must be a string")
}

type No = Impossible<(), Error>;

impl ser::Serializer for Key<'_> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = No;
    type SerializeTuple = No;
    type SerializeTupleStruct = No;
    type SerializeTupleVariant = No;
    type SerializeMap = No;
    type SerializeStruct = No;
    type SerializeStructVariant = No;

    fn serialize_str(self, key: &str) -> Result {
        append_string(self.0, key);
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    no_keys! {
        serialize_bool(bool) -> ();
        serialize_i8(i8) -> ();
        serialize_i16(i16) -> ();
        serialize_i32(i32) -> ();
        serialize_i64(i64) -> ();
        serialize_u8(u8) -> ();
        serialize_u16(u16) -> ();
        serialize_u32(u32) -> ();
        serialize_u64(u64) -> ();
        serialize_f32(f32) -> ();
        serialize_f64(f64) -> ();
        serialize_char(char) -> ();
        serialize_bytes(&[u8]) -> ();
        serialize_none() -> ();
        serialize_unit() -> ();
        serialize_unit_struct(&'static str) -> ();
        serialize_seq(Option<usize>) -> No;
        serialize_tuple(usize) -> No;
        serialize_tuple_struct(&'static str, usize) -> No;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> No;
        serialize_map(Option<usize>) -> No;
        serialize_struct(&'static str, usize) -> No;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> No;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result {
        Err(no_key())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result {
        Err(no_key())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[ -~\\x00-\\x1f\u{7f}-\u{ffff}]{0,200}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let members = prop::collection::vec((any::<String>(), inner.clone()), 0..6);
            prop_oneof![
                prop::collection::vec(inner, 0..6).prop_map(Value::from),
                members.prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    #[derive(serde::Serialize)]
    enum Kind {
        Unit,
        One(char),
        Two(u8, i128),
        Named { some: Option<f32>, none: Option<()> },
    }

    #[derive(serde::Serialize)]
    struct Unit;

    #[derive(serde::Serialize)]
    struct Pair(Unit, &'static str);

    fn written<T: Serialize>(value: &T) -> String {
        let mut out = b"before ".to_vec();
        append(&mut out, value).unwrap();
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn values_are_written_as_serde_json_writes_them(value in values()) {
            prop_assert_eq!(written(&value), format!("before {value}"));
        }
    }

    #[test]
    fn every_shape_is_written_as_serde_json_writes_it() {
        let one = Kind::Named {
            some: Some(0.1),
            none: None,
        };
        let shapes = (
            [Kind::Unit, Kind::One('\u{1}'), Kind::Two(1, -2), one],
            (Unit, Pair(Unit, "\u{7f}\u{8}\u{c}/")),
            BTreeMap::from([("a\"b\\", f64::NAN), ("", 1e300)]),
            bytes(),
        );
        let expected = serde_json::to_string(&shapes).unwrap();
        assert_eq!(written(&shapes), format!("before {expected}"));
    }

    fn bytes() -> impl Serialize {
        struct Bytes;
        impl Serialize for Bytes {
            fn serialize<S: ser::Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_bytes(&[1, 2])
            }
        }
        Bytes
    }

    #[test]
    fn a_key_that_is_no_string_is_refused() {
        let error = append(&mut Vec::new(), &BTreeMap::from([(1, 2)])).unwrap_err();
        assert!(error.to_string().contains("must be a string"), "{error}");
    }
}
