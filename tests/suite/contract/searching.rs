//! One grammar for searches, whatever the index.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use runtape_core::{Message, RecordKind};
use runtape_store::{RunFilter, Store};
use runtape_tests::runs::{Made, Plan};
use serde_json::Value;

use crate::Backend;

/// A run whose step says, runs and gives back texts of its own.
fn telling(run: &str, said: &str, input: &str, output: &str) -> Made {
    let mut made = Plan::new(run, 1).make();
    for record in &mut made.records {
        let RecordKind::Message(message) = &mut record.kind else {
            continue;
        };
        let mut value = serde_json::to_value(&message.message).unwrap();
        match &message.message {
            Message::ExpertMessage(_) => {
                put(&mut value, "text", &said.into());
                put(&mut value, "args", &serde_json::json!({"command": input}));
            }
            Message::ToolMessage(_) => put(&mut value, "text", &output.into()),
            _ => continue,
        }
        message.message = serde_json::from_value(value).unwrap();
    }
    made
}

/// Puts a value in the place of all that have a name.
fn put(value: &mut Value, name: &str, new: &Value) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                if key == name {
                    value.clone_from(new);
                } else {
                    put(value, name, new);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, name, new)),
        _ => {}
    }
}

fn hits(store: &Store, query: &str) -> BTreeSet<String> {
    let found = store.search(query, &RunFilter::default(), None, 100);
    let items = found.unwrap().items.into_iter();
    items.map(|hit| hit.run_id.to_string()).collect()
}

fn fill(store: &mut Store) {
    let runs = [
        telling("a", "read notes.md first", "rm -rf build", "don't panic"),
        telling("b", "notes on md", "rm build", "panic(now)"),
        telling(
            "c",
            "Größe naïve",
            "git notes",
            "a:b said: nothing AND more",
        ),
    ];
    for made in &runs {
        made.store(store);
    }
}

pub(crate) fn the_grammar_is_the_same_everywhere<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let cases: &[(&str, &[&str])] = &[
        ("notes", &["a", "b", "c"]),
        ("NOTES", &["a", "b", "c"]),
        ("note*", &["a", "b", "c"]),
        ("not", &[]),
        ("\"rm build\"", &["b"]),
        ("\"rm bui\"*", &["b"]),
        ("rm AND rf", &["a"]),
        ("rf OR git", &["a", "c"]),
        ("notes NOT on", &["a", "c"]),
        ("(rf OR git) notes", &["a", "c"]),
        ("(rf OR git) NOT first", &["c"]),
        ("naive", &["c"]),
        ("grosse OR groβe OR größe", &["c"]),
        // What is none of that is looked for as it stands.
        ("notes.md", &["a"]),
        ("rm -rf", &["a"]),
        ("don't", &["a"]),
        ("panic(", &["a", "b"]),
        ("panic(now)", &["b"]),
        ("a:b", &["c"]),
        ("said: nothing", &[]),
        ("AND", &["c"]),
        ("AND more", &["c"]),
        ("\"notes", &["a", "b", "c"]),
        ("", &[]),
        ("-- ( ) *", &[]),
    ];
    for (query, expected) in cases {
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(hits(&store, query), expected, "{query}");
        let mut filter = RunFilter::default();
        filter.text = Some((*query).to_owned());
        let runs = store.runs(&filter, None, 10).unwrap().items;
        let runs: BTreeSet<String> = runs.iter().map(|run| run.run_id.to_string()).collect();
        assert_eq!(runs, expected, "{query}");
    }
}

pub(crate) fn hits_are_those_of_the_fields<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let cases: &[(&str, &[&str])] = &[
        ("said:notes", &["a", "b"]),
        ("said: notes", &["a", "b"]),
        ("input:notes", &["c"]),
        ("output:panic", &["a", "b"]),
        ("output:(panic NOT now)", &["a"]),
        // A hit is one record: the call and what it gave back are two.
        ("input:rm output:now", &[]),
        ("input:git OR output:now", &["b", "c"]),
        ("said:\"notes on\"", &["b"]),
        ("input:bui*", &["a", "b"]),
        ("output:notes", &[]),
        ("said:(input:notes)", &[]),
    ];
    for (query, expected) in cases {
        let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(hits(&store, query), expected, "{query}");
    }
}

pub(crate) fn any_text_can_be_searched_for<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let reader = home.open_to_read();
    let grammar = "(notes|rm|AND|OR|NOT|NEAR|\"|\\(|\\)|\\*|:|said:|input:|-|\\^|\\+|\\{|\\}| |\\.|'|\\x00|é){0,12}";
    let any = prop_oneof![any::<String>(), grammar.prop_map(|text: String| text)];
    let mut runner = TestRunner::new(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    });
    runner
        .run(&any, |text| {
            for store in [&store, &reader] {
                let found = store.search(&text, &RunFilter::default(), None, 3);
                prop_assert!(found.is_ok(), "{:?}: {:?}", text, found);
                let mut filter = RunFilter::default();
                filter.text = Some(text.clone());
                let runs = store.runs(&filter, None, 3);
                prop_assert!(runs.is_ok(), "{:?}: {:?}", text, runs);
            }
            Ok(())
        })
        .unwrap();
}
