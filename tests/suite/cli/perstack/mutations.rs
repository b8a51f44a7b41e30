//! Proof that the checker can fail: trees with one fault each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::checker::Checker;
use super::{contents, corpus};
use crate::harness::Runtape;

/// A change to a tree that the checker must see, and a word of what it says.
struct Mutation {
    name: &'static str,
    said: &'static str,
    change: fn(&mut Tree),
}

/// A tree in memory.
struct Tree {
    files: BTreeMap<String, Value>,
}

impl Tree {
    /// Finds a file; which comes first depends on ids, so one of a run that was asked something
    /// is preferred.
    fn find(&self, piece: &str) -> String {
        let paths = || self.files.keys().filter(|path| path.contains(piece));
        let is_asked = |path: &&String| {
            let value = &self.files[*path];
            let inputs = value["inputMessages"].as_array();
            inputs.is_some_and(|inputs| !inputs.is_empty())
        };
        let found = paths().find(is_asked).or_else(|| paths().next());
        found.unwrap_or_else(|| panic!("no {piece}")).clone()
    }

    fn file(&mut self, piece: &str) -> &mut Value {
        let path = self.find(piece);
        self.files.get_mut(&path).unwrap()
    }

    fn rename(&mut self, piece: &str, from: &str, to: &str) {
        let path = self.find(piece);
        let value = self.files.remove(&path).unwrap();
        self.files.insert(path.replace(from, to), value);
    }

    fn remove(&mut self, piece: &str) {
        let path = self.find(piece);
        self.files.remove(&path);
    }

    /// Returns the checkpoint file with a status.
    fn checkpoint(&mut self, status: &str) -> &mut Value {
        let is_it = |path: &String, value: &Value| {
            path.contains("/checkpoints/") && value["status"] == status
        };
        let all = || self.files.iter().filter(|(path, value)| is_it(path, value));
        let is_asked =
            |(_, value): &(&String, &Value)| value["messages"][0]["type"] == "userMessage";
        let found = all().find(is_asked).or_else(|| all().next());
        let path = found.unwrap().0.clone();
        self.files.get_mut(&path).unwrap()
    }

    fn write(&self, base: &Path) {
        for (path, value) in &self.files {
            let path = base.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let is_job = path.ends_with("job.json");
            let text = if is_job {
                serde_json::to_string_pretty(value)
            } else {
                serde_json::to_string(value)
            };
            fs::write(path, text.unwrap()).unwrap();
        }
    }
}

/// Returns the tree of a job with a child run, tool calls and reasoning, as it was exported.
fn sample() -> BTreeMap<String, Value> {
    let (runtape, tree) = corpus();
    let all = contents(tree);
    let has = |job: &str, piece: &str| {
        let mut paths = all.keys().map(|path| path.to_str().unwrap());
        paths.any(|path| path.contains(job) && path.contains(piece))
    };
    let jobs = runtape.json(&["jobs", "--limit", "0"]);
    let jobs = jobs.iter().map(|job| job["jobId"].as_str().unwrap());
    let mut jobs =
        jobs.filter(|job| has(job, "completeStreamingReasoning") && has(job, "finishToolCall"));
    let mut sample: BTreeMap<String, Value> = BTreeMap::new();
    let take = |job: &str, sample: &mut BTreeMap<String, Value>| {
        for (path, text) in &all {
            let path = path.to_str().unwrap();
            if path.contains(job) {
                sample.insert(path.to_owned(), serde_json::from_str(text).unwrap());
            }
        }
    };
    // One job that thinks before it calls, and one with a child.
    let thinks = |job: &&str| {
        let calls = all
            .iter()
            .filter(|(path, _)| path.to_str().unwrap().contains(job));
        calls.into_iter().any(|(path, text)| {
            path.to_str().unwrap().contains("-callTools") && text.contains("thinkingPart")
        })
    };
    // One that was asked for something: not every runtime prints that, and the order of jobs is that
    // of their files.
    let is_asked = |job: &&str| {
        let mut files = all.iter();
        files.any(|(path, text)| {
            let path = path.to_str().unwrap();
            path.contains(job)
                && path.ends_with("run-setting.json")
                && text.contains("\"input\":{\"text\"")
        })
    };
    let thinking = jobs.find(|job| thinks(job) && is_asked(job)).unwrap();
    take(thinking, &mut sample);
    let delegated = all.iter().find(|(path, text)| {
        let path = path.to_str().unwrap();
        path.contains("checkpoints") && text.contains("\"delegatedBy\"") && !path.contains(thinking)
    });
    let (path, _) = delegated.unwrap();
    take(path.iter().nth(2).unwrap().to_str().unwrap(), &mut sample);
    sample
}

fn is_of_expert(message: &Value) -> bool {
    message["type"] == "expertMessage"
}

const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "a counter is missing",
        said: "/usage/reasoningTokens: missing",
        change: |tree| {
            tree.checkpoint("completed")["usage"]
                .as_object_mut()
                .unwrap()
                .remove("reasoningTokens");
        },
    },
    Mutation {
        name: "a key that would be dropped",
        said: "/error/family: Perstack would drop it",
        change: |tree| {
            tree.checkpoint("completed")["error"] = json!({
                "name": "x", "message": "x", "isRetryable": false, "family": "auth"
            });
        },
    },
    Mutation {
        name: "a job that began after its first event",
        said: "/startedAt: not the time of the first event",
        change: |tree| {
            let job = tree.file("job.json");
            job["startedAt"] = (job["startedAt"].as_i64().unwrap() + 1).into();
        },
    },
    Mutation {
        name: "a job that ended before its last event",
        said: "/finishedAt: not the time of the last event",
        change: |tree| {
            let job = tree.file("job.json");
            job["finishedAt"] = (job["finishedAt"].as_i64().unwrap() - 1).into();
        },
    },
    Mutation {
        name: "a run with a time of its own",
        said: "/updatedAt: not that of the run's events",
        change: |tree| {
            tree.file("run-setting.json")["updatedAt"] = 1.into();
        },
    },
    Mutation {
        name: "null for an optional field",
        said: "/error: not an object",
        change: |tree| {
            tree.checkpoint("completed")["error"] = Value::Null;
        },
    },
    Mutation {
        name: "a runtime that is refused",
        said: "/metadata/runtime",
        change: |tree| {
            tree.checkpoint("completed")["metadata"]["runtime"] = "hermes".into();
        },
    },
    Mutation {
        name: "an unknown status",
        said: "/status",
        change: |tree| {
            tree.checkpoint("completed")["status"] = "done".into();
        },
    },
    Mutation {
        name: "a message without id",
        said: "/messages/0/id: missing",
        change: |tree| {
            tree.checkpoint("completed")["messages"][0]
                .as_object_mut()
                .unwrap()
                .remove("id");
        },
    },
    Mutation {
        name: "a part where it cannot stand",
        said: "cannot stand here",
        change: |tree| {
            // Nobody but a tool gives back results, whoever speaks first in the sample.
            tree.checkpoint("completed")["messages"][0]["contents"][0]["type"] =
                "toolResultPart".into();
        },
    },
    Mutation {
        name: "two ids alike",
        said: "is not the only one",
        change: |tree| {
            let id = tree.checkpoint("completed")["messages"][0]["id"].clone();
            tree.checkpoint("completed")["messages"][1]["id"] = id;
        },
    },
    Mutation {
        name: "a result without its call",
        said: "answers no call",
        change: |tree| {
            let messages = &mut tree.checkpoint("completed")["messages"];
            let messages = messages.as_array_mut().unwrap();
            let tool = messages
                .iter_mut()
                .find(|message| message["type"] == "toolMessage")
                .unwrap();
            tool["contents"][0]["toolCallId"] = "other".into();
        },
    },
    Mutation {
        name: "an answer that is no message",
        said: "the answer is no text",
        change: |tree| {
            let messages = &mut tree.checkpoint("completed")["messages"];
            let messages = messages.as_array_mut().unwrap();
            // An answer may follow another one.
            while messages.last().is_some_and(is_of_expert) {
                messages.pop();
            }
        },
    },
    Mutation {
        name: "a checkpoint under another name",
        said: "/id: not the file's name",
        change: |tree| {
            tree.rename("/checkpoints/", ".json", "x.json");
        },
    },
    Mutation {
        name: "a checkpoint that is gone",
        said: "not what its own file says",
        change: |tree| {
            tree.remove("/checkpoints/");
        },
    },
    Mutation {
        name: "a step number twice",
        said: "is missing or twice",
        change: |tree| {
            // Which checkpoint it is depends on ids, which derive from paths.
            let step = &mut tree.checkpoint("proceeding")["stepNumber"];
            *step = if *step == 2 { 1 } else { 2 }.into();
        },
    },
    Mutation {
        name: "a child with the highest step",
        said: "the highest is not the root run's",
        change: |tree| {
            let child = tree
                .files
                .values_mut()
                .find(|value| value.get("delegatedBy").is_some());
            child.unwrap()["stepNumber"] = 99.into();
        },
    },
    Mutation {
        name: "a delegation from nowhere",
        said: "that checkpoint has no such call",
        change: |tree| {
            let child = tree
                .files
                .values_mut()
                .find(|value| value.get("delegatedBy").is_some());
            child.unwrap()["delegatedBy"]["toolCallId"] = "other".into();
        },
    },
    Mutation {
        name: "a delegation without its run",
        said: "/delegatedBy/runId: missing",
        change: |tree| {
            let child = tree
                .files
                .values_mut()
                .find(|value| value.get("delegatedBy").is_some());
            child.unwrap()["delegatedBy"]
                .as_object_mut()
                .unwrap()
                .remove("runId");
        },
    },
    Mutation {
        name: "no job.json",
        said: "without job.json",
        change: |tree| tree.remove("job.json"),
    },
    Mutation {
        name: "a job with other steps",
        said: "/totalSteps",
        change: |tree| {
            tree.file("job.json")["totalSteps"] = 77.into();
        },
    },
    Mutation {
        name: "a job's status in a checkpoint's words",
        said: "/status",
        change: |tree| {
            tree.file("job.json")["status"] = "stoppedByExceededMaxSteps".into();
        },
    },
    Mutation {
        name: "a job that used less",
        said: "/usage: not that of the last",
        change: |tree| {
            tree.file("job.json")["usage"]["inputTokens"] = 1.into();
        },
    },
    Mutation {
        name: "no settings",
        said: "no run-setting.json",
        change: |tree| tree.remove("run-setting.json"),
    },
    Mutation {
        name: "a key that is none",
        said: "/expertKey: not a key",
        change: |tree| {
            tree.file("run-setting.json")["expertKey"] = "Test Expert".into();
        },
    },
    Mutation {
        name: "an unknown provider",
        said: "/providerConfig/providerName",
        change: |tree| {
            tree.file("run-setting.json")["providerConfig"]["providerName"] = "acme".into();
        },
    },
    Mutation {
        name: "a query that is not shown",
        said: "no query line shows it",
        change: |tree| {
            // Whichever run comes first may be a child, which nobody asked anything.
            let starts = tree.files.iter_mut();
            for (_, start) in starts.filter(|(path, _)| path.contains("-startRun.json")) {
                start["inputMessages"] = json!([]);
            }
        },
    },
    Mutation {
        name: "an event of another time",
        said: "it should be called",
        change: |tree| {
            tree.file("-callTools.json")["timestamp"] = 5.into();
        },
    },
    Mutation {
        name: "an event without its expert",
        said: "/expertKey: missing",
        change: |tree| {
            tree.file("-callTools.json")
                .as_object_mut()
                .unwrap()
                .remove("expertKey");
        },
    },
    Mutation {
        name: "an event of an unknown type",
        said: "cannot stand here",
        change: |tree| {
            tree.file("-startGeneration.json")["type"] = "think".into();
        },
    },
    Mutation {
        name: "no beginning",
        said: "startRun is not the first",
        change: |tree| tree.remove("-startRun.json"),
    },
    Mutation {
        name: "no end",
        said: "the end of the run is not the last",
        change: |tree| tree.remove("-completeRun.json"),
    },
    Mutation {
        name: "a model that was not asked",
        said: "the model was not asked",
        change: |tree| {
            tree.remove("-startGeneration.json");
        },
    },
    Mutation {
        name: "calls apart from the message",
        said: "/toolCalls: not those of the message",
        change: |tree| {
            tree.file("-callTools.json")["toolCalls"] = json!([]);
        },
    },
    Mutation {
        name: "a call id that fits no result",
        said: "so no line",
        change: |tree| {
            tree.file("-resolveToolResults.json")["toolResults"][0]["id"] = "other".into();
        },
    },
    Mutation {
        name: "arguments without a name",
        said: "/toolCalls/0/args",
        change: |tree| {
            tree.file("-callTools.json")["toolCalls"][0]["args"] = json!({"": 1});
        },
    },
    Mutation {
        name: "an empty tool name",
        said: "/toolCalls/0/toolName",
        change: |tree| {
            tree.file("-callTools.json")["toolCalls"][0]["toolName"] = "".into();
        },
    },
    Mutation {
        name: "results apart from their message",
        said: "not one message with the results",
        change: |tree| {
            tree.file("-finishToolCall.json")["newMessages"] = json!([]);
        },
    },
    Mutation {
        name: "reasoning that is not there",
        said: "its reasoning does not come before it",
        change: |tree| {
            while tree
                .files
                .keys()
                .any(|path| path.contains("-completeStreamingReasoning"))
            {
                tree.remove("-completeStreamingReasoning");
            }
        },
    },
    Mutation {
        name: "a next checkpoint with the old id",
        said: "/nextCheckpoint: not another one",
        change: |tree| {
            let event = tree.file("-continueToNextStep.json");
            event["nextCheckpoint"]["id"] = event["checkpoint"]["id"].clone();
        },
    },
    Mutation {
        name: "a step that never ended",
        said: "/step: not the step that ended",
        change: |tree| {
            tree.file("-completeRun.json")["step"]
                .as_object_mut()
                .unwrap()
                .remove("finishedAt");
        },
    },
    Mutation {
        name: "an answer that is missing",
        said: "/text: missing",
        change: |tree| {
            tree.file("-completeRun.json")
                .as_object_mut()
                .unwrap()
                .remove("text");
        },
    },
    Mutation {
        name: "a first state that is none",
        said: "not the state before the first step",
        change: |tree| {
            tree.file("-startRun.json")["initialCheckpoint"]["status"] = "proceeding".into();
        },
    },
    Mutation {
        name: "a stray file",
        said: "no such file is part of a run",
        change: |tree| {
            tree.rename("-callTools.json", "event-", "evening-");
        },
    },
];

#[test]
fn the_checker_sees_what_perstack_would_refuse_or_leave_out() {
    let runtape = Runtape::new();
    let sample = sample();
    let clean = runtape.path("clean");
    Tree {
        files: sample.clone(),
    }
    .write(&clean);
    assert_eq!(Checker::check(&clean).found, Vec::<String>::new());
    for (number, mutation) in MUTATIONS.iter().enumerate() {
        let mut tree = Tree {
            files: sample.clone(),
        };
        (mutation.change)(&mut tree);
        let base = runtape.path(&format!("mutation-{number}"));
        tree.write(&base);
        let found = Checker::check(&base).found;
        let is_seen = found.iter().any(|fault| fault.contains(mutation.said));
        assert!(is_seen, "{}: {found:#?}", mutation.name);
    }
    let text = fs::read_to_string(clean.join(sample.keys().next().unwrap())).unwrap();
    fs::write(
        clean.join(sample.keys().next().unwrap()),
        format!("{text}\n"),
    )
    .unwrap();
    let found = Checker::check(&clean).found;
    assert!(
        found
            .iter()
            .any(|fault| fault.contains("it ends in white space")),
        "{found:?}"
    );
}
