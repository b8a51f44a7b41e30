//! Arguments that are mostly one of a few words: shells complete these, and others are told what was expected.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

/// Reads a word with a function of its own, and names those that a shell should complete.
#[derive(Clone)]
pub(crate) struct WordParser<T: 'static> {
    read: fn(&str) -> Result<T, String>,
    known: fn() -> Vec<&'static str>,
}

impl<T> WordParser<T> {
    pub(crate) fn new(
        read: fn(&str) -> Result<T, String>,
        known: fn() -> Vec<&'static str>,
    ) -> Self {
        Self { read, known }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for WordParser<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let text = StringValueParser::new().parse_ref(command, arg, value)?;
        (self.read)(&text).map_err(|expected| {
            let name = arg.map(ToString::to_string).unwrap_or_default();
            let message = format!(
                "invalid value '{text}' for '{name}': {expected}\n\n\
                 For more information, try '--help'.\n"
            );
            Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = (self.known)().into_iter();
        Some(Box::new(known.map(PossibleValue::new)))
    }
}
