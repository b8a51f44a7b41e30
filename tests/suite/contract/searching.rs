//! One grammar for searches, whatever the index.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use runtape_core::{CheckpointStatus, Message, RecordKind};
use runtape_store::{RunFilter, Search, SearchHit, SearchMode, SearchRole, Store};
use runtape_tests::runs::{Made, Plan};
use serde_json::{Value, json};

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
        telling("b", "notes on md", "rm build", "panic(now) 100% snake_case"),
        telling(
            "c",
            "Größe naïve, 全文検索は速い",
            "git notes",
            "a:b said: nothing AND more * C:\\Users\\me 🎉",
        ),
    ];
    for made in &runs {
        made.store(store);
    }
}

/// Queries, and the runs in which each finds something.
const GRAMMAR: &[(&str, &[&str])] = &[
    ("notes", &["a", "b", "c"]),
    ("NOTES", &["a", "b", "c"]),
    ("note*", &["a", "b", "c"]),
    ("\"rm build\"", &["b"]),
    ("\"rm bui\"*", &["b"]),
    ("rm AND rf", &["a"]),
    ("rf OR git", &["a", "c"]),
    ("notes NOT on", &["a", "c"]),
    ("(rf OR git) notes", &["a", "c"]),
    ("(rf OR git) NOT build", &["c"]),
    ("naive", &["c"]),
    ("grosse OR groβe OR größe", &["c"]),
    // What is none of that is looked for as it stands.
    ("notes.md", &["a"]),
    ("otes.m", &["a"]),
    ("rm -rf", &["a"]),
    ("don't", &["a"]),
    ("panic(", &["b"]),
    ("panic(now)", &["b"]),
    ("a:b", &["c"]),
    ("said: nothing", &[]),
    ("AND", &["c"]),
    ("AND more", &["c"]),
    ("more AND", &[]),
    ("\"notes", &[]),
    ("C:\\Users\\me", &["c"]),
    ("snake_case", &["b"]),
    ("%", &["b"]),
    ("_", &["b"]),
    ("*", &["c"]),
    ("🎉", &["c"]),
    ("検索", &["c"]),
    ("速い", &["c"]),
    ("索検", &[]),
    ("", &[]),
    (" ", &[]),
    ("-- ( ) *", &[]),
    // Where no whole word is found, parts of words are.
    ("otes", &["a", "b", "c"]),
    ("anic uil", &[]),
    ("ote NOT fir", &["b", "c"]),
    ("not OR oth", &["a", "b", "c"]),
];

fn runs_with(store: &Store, query: &str) -> BTreeSet<String> {
    let mut filter = RunFilter::default();
    filter.text = Some(query.to_owned());
    let runs = store.runs(&filter, None, 10).unwrap().items;
    runs.iter().map(|run| run.run_id.to_string()).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

pub(crate) fn the_grammar_is_the_same_everywhere<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    // First where nothing is indexed and nothing can be, then where all is.
    for store in [&home.open_to_read(), &store, &home.open_to_read()] {
        for (query, expected) in GRAMMAR {
            assert_eq!(hits(store, query), set(expected), "{query}");
            assert_eq!(runs_with(store, query), set(expected), "{query}");
        }
    }
}

fn found(store: &Store, text: &str, mode: SearchMode) -> Vec<SearchHit> {
    let search = Search::new(text, mode).unwrap();
    let mut found = Vec::new();
    let end = store.each_hit(&search, &RunFilter::default(), |hit| {
        found.push(hit);
        true
    });
    assert_eq!(end.unwrap().is_found, !found.is_empty());
    found
}

fn runs_of(hits: &[SearchHit]) -> BTreeSet<String> {
    hits.iter().map(|hit| hit.run_id.to_string()).collect()
}

pub(crate) fn parts_of_words_and_patterns_are_found<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let cases: &[(&str, SearchMode, &[&str])] = &[
        ("not", SearchMode::Parts, &["a", "b", "c"]),
        ("ANI", SearchMode::Parts, &["a", "b"]),
        ("roß", SearchMode::Parts, &["c"]),
        ("文検", SearchMode::Parts, &["c"]),
        ("ild NOT rf", SearchMode::Parts, &["b"]),
        ("input:uil", SearchMode::Parts, &["a", "b"]),
        ("said:uil", SearchMode::Parts, &[]),
        (r"notes?\.\w+", SearchMode::Pattern, &["a"]),
        (r"^rm\b", SearchMode::Pattern, &["a", "b"]),
        (r"NOTES", SearchMode::Pattern, &[]),
        (r"(?i)NOTES", SearchMode::Pattern, &["a", "b", "c"]),
        (r"\d+%", SearchMode::Pattern, &["b"]),
    ];
    for store in [&store, &home.open_to_read()] {
        for (text, mode, expected) in cases {
            assert_eq!(runs_of(&found(store, text, *mode)), set(expected), "{text}");
        }
    }
    assert!(Search::new("(", SearchMode::Pattern).is_err());
    let search = Search::new("ote", SearchMode::Words).unwrap();
    let end = store.each_hit(&search, &RunFilter::default(), |_| false);
    assert!(end.unwrap().are_parts);
}

pub(crate) fn errors_and_notices_are_found<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut made = Plan::new("a", 1).make();
    let last = made.records.last_mut().unwrap();
    let RecordKind::Checkpoint(head) = &mut last.kind else {
        panic!("a run ends with a checkpoint");
    };
    head.status = CheckpointStatus::StoppedByError;
    let error =
        json!({"name": "ApiError", "message": "the quota is used up", "isRetryable": false});
    head.error = Some(serde_json::from_value(error).unwrap());
    made.store(&mut store);
    for query in ["quota", "notice:quota", "ApiError", "a is use"] {
        let hits = store
            .search(query, &RunFilter::default(), None, 10)
            .unwrap()
            .items;
        assert_eq!(hits.len(), 1, "{query}");
        assert_eq!(hits[0].role, SearchRole::Error, "{query}");
        assert_eq!(hits[0].reference, format!("a#{}", hits[0].seq));
    }
    assert_eq!(hits(&store, "said:quota"), set(&[]));
}

pub(crate) fn the_latest_come_first_in_any_way<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    // Enough that the records lie in many blocks, that several threads read them, and that the index names more than is
    // asked for at first.
    for number in 0..100_u32 {
        let mut plan = Plan::new(&format!("r{number}"), 3);
        plan.at += i64::from(number) * 60_000;
        plan.make().store(&mut store);
    }
    let place = |hit: &SearchHit| {
        let number: u64 = hit.run_id.as_str().trim_start_matches('r').parse().unwrap();
        (number, hit.seq)
    };
    let reader = home.open_to_read();
    let mut answers = Vec::new();
    for (store, mode) in [
        (&reader, SearchMode::Words),
        (&store, SearchMode::Words),
        (&store, SearchMode::Parts),
        (&store, SearchMode::Pattern),
    ] {
        let hits = found(store, "cat", mode);
        let places: Vec<_> = hits.iter().map(place).collect();
        assert!(places.is_sorted_by(|a, b| a > b), "{mode:?}");
        assert!(places.len() >= 100 * 3);
        answers.push(places);
    }
    assert_eq!(answers[0], answers[1]);
    let (mut paged, mut mark) = (Vec::new(), None);
    loop {
        let page = store.search("cat", &RunFilter::default(), mark.as_ref(), 50);
        let page = page.unwrap();
        paged.extend(page.items.iter().map(place));
        mark = page.next;
        if mark.is_none() {
            break;
        }
    }
    assert_eq!(paged, answers[0]);
    // Whoever has enough is not kept waiting.
    let search = Search::new("cat", SearchMode::Pattern).unwrap();
    let mut count = 0;
    let end = store.each_hit(&search, &RunFilter::default(), |_| {
        count += 1;
        count < 100
    });
    assert!(end.unwrap().is_found);
    assert_eq!(count, 100);
}

pub(crate) fn an_index_is_completed_in_pieces<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut made = Plan::new("a", 40).make();
    for record in &mut made.records {
        if let RecordKind::Message(message) = &mut record.kind {
            let mut value = serde_json::to_value(&message.message).unwrap();
            let text = format!("word{} {}", record.seq, "filler text ".repeat(22_000));
            put(&mut value, "text", &text.into());
            message.message = serde_json::from_value(value).unwrap();
        }
    }
    made.store(&mut store);
    let mut pieces = Vec::new();
    let stopped = store.complete_search_with(|progress| {
        pieces.push(progress);
        false
    });
    stopped.unwrap();
    assert!(pieces[0].records > 0 && pieces[0].records < pieces[0].of);
    // What the index does not know is read.
    let told = made.records.iter().filter_map(|record| match &record.kind {
        RecordKind::Message(message) if matches!(message.message, Message::ExpertMessage(_)) => {
            Some(format!("word{}", record.seq))
        }
        _ => None,
    });
    let told: Vec<String> = told.collect();
    let (first, last) = (told.first().unwrap(), told.last().unwrap());
    for word in [first, last] {
        assert_eq!(hits(&home.open_to_read(), word), set(&["a"]), "{word}");
    }
    // And the next one goes on.
    let before = pieces[0];
    store
        .complete_search_with(|progress| {
            assert_eq!(progress.of, before.of - before.records);
            false
        })
        .unwrap();
    store.complete_search().unwrap();
    for word in [first, last] {
        assert_eq!(hits(&store, word), set(&["a"]), "{word}");
    }
    store
        .complete_search_with(|_| panic!("there is nothing left"))
        .unwrap();
    assert!(store.verify().unwrap().is_intact());
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
        ("notice:notes", &[]),
        ("said:(input:notes)", &[]),
    ];
    for (query, expected) in cases {
        assert_eq!(hits(&store, query), set(expected), "{query}");
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
