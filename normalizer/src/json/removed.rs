//! Taking faulty fields out of a value, and naming them by where they were.

use serde_json::Value;
use serde_path_to_error::Segment;

/// The list items taken out so far: the path of each one's list, and its index there at first.
///
/// Taking one out moves those after it, and a fault should be named by where it was on the line.
#[derive(Default)]
pub(super) struct Removed(Vec<(String, usize)>);

impl Removed {
    /// Takes what is at `path` out of `value`; false if that is `value` itself.
    ///
    /// A path may end in what is no place of its own, such as a variant without content. Then
    /// the nearest place above it goes.
    pub(super) fn take_out(&mut self, value: &mut Value, path: &[&Segment]) -> bool {
        let mut path = path;
        while let Some((last, parents)) = path.split_last() {
            let parent = parents
                .iter()
                .try_fold(&mut *value, |value, segment| child(value, segment));
            match (last, parent) {
                (Segment::Seq { index }, Some(Value::Array(items))) if *index < items.len() => {
                    items.remove(*index);
                    let list = self.original_path(parents);
                    let index = self.original_index(&list, *index);
                    self.0.push((list, index));
                    return true;
                }
                (
                    Segment::Map { key } | Segment::Enum { variant: key },
                    Some(Value::Object(fields)),
                ) if fields.contains_key(key) => {
                    fields.shift_remove(key);
                    return true;
                }
                _ => path = parents,
            }
        }
        false
    }

    /// Writes `path`, which leads into the value as it is now, as it was in the beginning.
    ///
    /// Nothing is written for the value itself.
    pub(super) fn original_path(&self, path: &[&Segment]) -> String {
        let mut written = String::new();
        for segment in path {
            if let Segment::Seq { index } = segment {
                let index = self.original_index(&written, *index);
                written.push_str(&Segment::Seq { index }.to_string());
            } else {
                if !written.is_empty() {
                    written.push('.');
                }
                written.push_str(&segment.to_string());
            }
        }
        written
    }

    fn original_index(&self, list: &str, index: usize) -> usize {
        let mut gone: Vec<usize> = self
            .0
            .iter()
            .filter_map(|(of, index)| (of == list).then_some(*index))
            .collect();
        gone.sort_unstable();
        gone.into_iter().fold(index, |index, earlier| {
            index + usize::from(earlier <= index)
        })
    }
}

fn child<'v>(value: &'v mut Value, segment: &Segment) -> Option<&'v mut Value> {
    match (segment, value) {
        (Segment::Seq { index }, Value::Array(items)) => items.get_mut(*index),
        (Segment::Map { key } | Segment::Enum { variant: key }, Value::Object(fields)) => {
            fields.get_mut(key)
        }
        _ => None,
    }
}
