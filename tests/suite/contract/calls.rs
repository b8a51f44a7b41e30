//! Calls of tools: by class, name and result, and what they touched.

use std::sync::Arc;

use runtape_core::record::CallNote;
use runtape_core::report::{FileAccess, KnownBy};
use runtape_core::{ExpertPart, Message, Metadata, RecordKind, ToolClass, ToolName};
use runtape_store::{
    CallFilter, CallSubject, FileChoice, NamePattern, PathPattern, RunFilter, Store,
};
use runtape_tests::runs::{Made, Plan, child, run_id};

use crate::Backend;

/// What a call is, in place of one that [`Plan`] makes: its tool, and what is known of it.
type MadeCall = (&'static str, Option<ToolClass>, fn(&mut CallNote));

fn command(text: &str) -> impl Fn(&mut CallNote) {
    let text = text.to_owned();
    move |note| note.command = Some(text.clone())
}

fn paths(note: &mut CallNote, paths: &[&str]) {
    note.paths = paths.iter().map(|path| (*path).to_owned()).collect();
}

/// The calls of a run, step by step. The seventh fails.
const CALLS: &[MadeCall] = &[
    ("Bash", Some(ToolClass::Shell), |note| {
        command("curl https://api.example.com/x && ssh box")(note);
    }),
    ("Read", Some(ToolClass::Read), |note| {
        paths(note, &["src/a.rs"]);
    }),
    ("Edit", Some(ToolClass::Write), |note| {
        paths(note, &["./src/../src/a.rs", "/etc/b.conf"]);
    }),
    ("Grep", Some(ToolClass::Search), |note| {
        paths(note, &["src"]);
    }),
    ("WebFetch", Some(ToolClass::Network), |note| {
        note.url = Some("https://docs.example.com:8443/page".to_owned());
    }),
    ("WebSearch", Some(ToolClass::Network), |_| {}),
    ("mcp__notes__read", Some(ToolClass::Mcp), |_| {}),
    ("Bash", None, command_of_old),
    ("BashOutput", Some(ToolClass::Shell), |_| {}),
    ("Odd[1]", Some(ToolClass::Other), |note| paths(note, &["c"])),
];

fn command_of_old(note: &mut CallNote) {
    let command = "cd out && make > make.log && rm old $OTHER";
    note.command = Some(command.to_owned());
}

/// Makes a run whose calls are those of [`CALLS`].
fn made(name: &str, at: i64) -> Made {
    let plan = Plan {
        at,
        ..Plan::new(name, CALLS.len() as u64)
    };
    let mut made = plan.make();
    for record in &mut made.records {
        let RecordKind::Message(message) = &mut record.kind else {
            continue;
        };
        let step = usize::try_from(message.step).unwrap();
        let Some((tool, class, tell)) = step.checked_sub(1).and_then(|step| CALLS.get(step)) else {
            continue;
        };
        for note in &mut message.calls {
            (note.class, note.command) = (*class, None);
            note.paths = Vec::new();
            tell(note);
        }
        if let Message::ExpertMessage(expert) = &mut message.message {
            for part in &mut Arc::make_mut(expert).contents {
                if let ExpertPart::ToolCallPart(call) = part {
                    call.tool_name = ToolName::from_printed(tool);
                }
            }
        }
    }
    made
}

fn fill(store: &mut Store) {
    made("early", 1_790_000_000_000).store(store);
    made("late", 1_790_000_900_000).store(store);
}

pub(crate) fn calls_are_chosen_by_class_name_and_result<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let tools = |filter: &CallFilter| -> Vec<String> {
        let calls = store.tool_calls(filter, usize::MAX).unwrap();
        let counted: u64 = store
            .tools(filter, usize::MAX)
            .unwrap()
            .iter()
            .map(|tool| tool.calls)
            .sum();
        assert_eq!(counted, calls.len() as u64, "{filter:?}");
        let of_the_last = calls.iter().filter(|call| call.run_id == run_id("late"));
        let mut tools: Vec<String> = of_the_last.map(|call| call.tool.clone()).collect();
        assert_eq!(tools.len() * 2, calls.len(), "{filter:?}");
        tools.reverse();
        tools
    };
    let class = |class| {
        let mut filter = CallFilter::default();
        filter.class = Some(class);
        filter
    };
    let named = |name: &str| {
        let mut filter = RunFilter::default();
        filter.tool = Some(name.to_owned());
        CallFilter::from(filter)
    };
    let about = |subject| {
        let mut filter = CallFilter::default();
        filter.subject = Some(subject);
        filter
    };
    assert_eq!(tools(&CallFilter::default()).len(), CALLS.len());
    assert_eq!(tools(&class(ToolClass::Shell)), ["Bash", "BashOutput"]);
    assert_eq!(tools(&class(ToolClass::Network)), ["WebFetch", "WebSearch"]);
    assert_eq!(tools(&class(ToolClass::Delegate)), [""; 0]);
    assert_eq!(tools(&named("mcp*")), ["mcp__notes__read"]);
    assert_eq!(tools(&named("*ash*")), ["Bash", "Bash", "BashOutput"]);
    assert_eq!(tools(&named("Web?????")), ["WebFetch"]);
    assert_eq!(tools(&named("Odd[1]")), ["Odd[1]"]);
    assert_eq!(tools(&named("Odd[1]*")), ["Odd[1]"]);
    assert_eq!(tools(&named("bash")), [""; 0]);
    let mut failed = CallFilter::default();
    failed.failed_only = true;
    assert_eq!(tools(&failed), ["mcp__notes__read"]);
    // One from before there were classes ran a command all the same.
    assert_eq!(tools(&about(CallSubject::Command)), ["Bash", "Bash"]);
    assert_eq!(tools(&about(CallSubject::UntoldCommand)), ["BashOutput"]);
    let runs = store.runs(&named("mcp*").runs, None, 10).unwrap();
    assert_eq!(runs.items.len(), 2);
    assert!(
        store
            .runs(&named("nmcp*").runs, None, 10)
            .unwrap()
            .items
            .is_empty()
    );
}

pub(crate) fn files_are_told_once_with_their_reads_and_writes<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let every = CallFilter::default();
    let found = |choice: &FileChoice| -> Vec<(String, [u64; 4], String)> {
        let files = store.files(&every, choice, usize::MAX).unwrap();
        assert!(files.is_sorted_by(|a, b| a.last_at >= b.last_at));
        let files = files.into_iter().map(|file| {
            assert_eq!(file.run_id, run_id("late"));
            let counts = [file.calls, file.reads, file.writes, file.runs];
            (file.path, counts, file.tools.join(" "))
        });
        files.collect()
    };
    let row = |path: &str, counts, tools: &str| (path.to_owned(), counts, tools.to_owned());
    let write = Some(FileAccess::Write);
    let source = "/home/someone/project/src/a.rs";
    let odd = row("/home/someone/project/c", [2, 0, 0, 2], "Odd[1]");
    let compiled = row("/home/someone/project/out/make.log", [2, 0, 2, 2], "Bash");
    let deleted = row("/home/someone/project/out/old", [2, 0, 2, 2], "Bash");
    let configured = row("/etc/b.conf", [2, 0, 2, 2], "Edit");
    let edited = row(source, [2, 0, 2, 2], "Edit");
    // One call named it in one way, and one in another.
    let whole = row(source, [4, 2, 2, 2], "Edit Read");
    let all = [
        odd.clone(),
        compiled.clone(),
        deleted.clone(),
        configured.clone(),
        whole,
    ];
    assert_eq!(found(&FileChoice::default()), all);
    let mut written = FileChoice::default();
    written.written_only = true;
    assert_eq!(
        found(&written),
        [compiled, deleted, configured, edited.clone()]
    );
    written.pattern = Some(PathPattern::new("a.rs", "/"));
    assert_eq!(found(&written), [edited]);
    let mut directories = FileChoice::default();
    directories.directories = true;
    let searched = row("/home/someone/project/src", [2, 0, 0, 2], "Grep");
    assert_eq!(found(&directories), [searched]);
    let mut pattern = FileChoice::default();
    pattern.pattern = Some(PathPattern::new("/home/*/c", "/"));
    assert_eq!(found(&pattern), [odd]);
    // How each is known, and how many commands do what their words do not tell.
    let files = store
        .files(&every, &FileChoice::default(), usize::MAX)
        .unwrap();
    for file in files {
        let known_by = match file.tools.join(" ").as_str() {
            "Bash" => Some(KnownBy::Shell),
            "Odd[1]" => Some(KnownBy::Guess),
            _ => None,
        };
        assert_eq!(file.known_by, known_by, "{}", file.path);
    }
    let untold = store.untold_commands(&every).unwrap();
    assert_eq!((untold.files, untold.hosts), (2, 0));
    // Each call by itself, the latest first, until nobody wants more.
    let calls = |choice: &FileChoice, most: usize| {
        let mut calls = Vec::new();
        let each = store.each_file_call(&every, choice, |file| {
            calls.push(file);
            calls.len() < most
        });
        each.unwrap();
        calls
    };
    let touched = calls(&FileChoice::default(), usize::MAX);
    let sums = store.files(&every, &FileChoice::default(), usize::MAX);
    let expected: u64 = sums.unwrap().iter().map(|file| file.calls).sum();
    assert_eq!(touched.len() as u64, expected);
    assert!(touched.is_sorted_by(|a, b| a.call.at >= b.call.at));
    assert!(
        touched
            .iter()
            .any(|file| file.call.run_id != run_id("late"))
    );
    assert_eq!(calls(&FileChoice::default(), 3), touched[..3]);
    let written = calls(&written, usize::MAX);
    assert_eq!(written.len(), 2);
    assert!(
        written
            .iter()
            .all(|file| file.path == source && file.access == write)
    );
    assert_eq!(
        store
            .files(&every, &FileChoice::default(), 2)
            .unwrap()
            .len(),
        2
    );
}

pub(crate) fn files_of_a_child_are_those_of_the_directory_of_its_root<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    let mut made = Plan::new("root", 2).make();
    let mut children = child(&made, "small");
    for record in &mut children {
        // Nothing is said of where it works.
        if let RecordKind::Metadata(patch) = &mut record.kind {
            let mut set = Metadata::default();
            set.set("model", "model-1");
            patch.set = set;
        }
        if let RecordKind::Message(message) = &mut record.kind {
            for note in &mut message.calls {
                paths(note, &["./b.txt", "b.txt", "~/project/b.txt"]);
            }
        }
    }
    let middle = made.records.len() / 2;
    made.records.splice(middle..middle, children);
    made.store(&mut store);
    let files = store
        .files(&CallFilter::default(), &FileChoice::default(), 10)
        .unwrap();
    let named = files.iter().filter(|file| file.known_by.is_none());
    let files = named.map(|file| (file.path.as_str(), file.calls, file.runs));
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    let expected = [
        ("/home/someone/project/a.txt", 2, 1),
        ("/home/someone/project/b.txt", 4, 2),
    ];
    assert_eq!(files, expected);
    let calls = store.tool_calls(&CallFilter::default(), 10).unwrap();
    assert!(
        calls
            .iter()
            .all(|call| call.cwd.as_deref() == Some("/home/someone/project"))
    );
}

pub(crate) fn hosts_are_told_and_guesses_are_marked<B: Backend>() {
    let home = B::fresh();
    let mut store = home.open();
    fill(&mut store);
    let every = CallFilter::default();
    let hosts = |pattern: Option<&str>| -> Vec<(Option<String>, bool, u64, u64)> {
        let pattern = pattern.map(NamePattern::new);
        let hosts = store.hosts(&every, pattern.as_ref(), 10).unwrap();
        let hosts = hosts.into_iter();
        hosts
            .map(|host| (host.host, host.is_guessed, host.calls, host.runs))
            .collect()
    };
    let known = store.hosts(&every, None, 10).unwrap();
    let known: Vec<Option<KnownBy>> = known.into_iter().map(|host| host.known_by).collect();
    assert_eq!(
        known,
        [None, None, Some(KnownBy::Shell), Some(KnownBy::Shell)]
    );
    let named = |host: &str, is_guessed| (Some(host.to_owned()), is_guessed, 2, 2);
    let (docs, api) = (
        named("docs.example.com", false),
        named("api.example.com", true),
    );
    assert_eq!(
        hosts(None),
        [
            (None, false, 2, 2),
            docs.clone(),
            api.clone(),
            named("box", true)
        ]
    );
    assert_eq!(hosts(Some("*.EXAMPLE.com")), [docs.clone(), api]);
    assert_eq!(hosts(Some("docs.example.com")), [docs]);
    let mut calls = Vec::new();
    store
        .each_network_call(&every, None, |used| {
            calls.push((used.call.tool, used.host));
            calls.len() < 3
        })
        .unwrap();
    let call = |tool: &str, host: Option<&str>| (tool.to_owned(), host.map(str::to_owned));
    assert_eq!(
        calls,
        [
            call("WebSearch", None),
            call("WebFetch", Some("docs.example.com")),
            call("Bash", Some("api.example.com")),
        ]
    );
}
