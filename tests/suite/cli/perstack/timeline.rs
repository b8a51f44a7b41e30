//! The events of a run in order, and what the terminal UI makes of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use super::checker::{Checker, JobFiles, JsonFile, RunFiles, is_orphan, list, number, parts, text};

/// Events after which a run is over, and the status that goes with each.
const ENDS: [(&str, &str); 5] = [
    ("completeRun", "completed"),
    ("stopRunByError", "stoppedByError"),
    ("stopRunByExceededMaxSteps", "stoppedByExceededMaxSteps"),
    ("stopRunByInteractiveTool", "stoppedByInteractiveTool"),
    ("stopRunByDelegate", "stoppedByDelegate"),
];

fn is_end(tag: &str) -> bool {
    ENDS.iter().any(|(end, _)| *end == tag)
}

/// Where the reading of a run's events stands.
#[derive(Default)]
struct TimelineState {
    step: i64,
    /// Whether the model was asked in this step.
    is_asked: bool,
    /// The checkpoint that the step began with.
    begun_with: String,
    /// Results that no message holds yet.
    results: Vec<String>,
    /// Checkpoints of steps that ended.
    ended: HashSet<String>,
}

impl Checker {
    /// The events of a run come in the order of a run of Perstack's own.
    pub(crate) fn order(&mut self, run: &str, found: &RunFiles, files: &JobFiles) {
        let tags: Vec<&str> = found
            .events
            .iter()
            .map(|file| text(&file.value, "type"))
            .collect();
        let starts = tags.iter().filter(|tag| **tag == "startRun").count();
        if tags.first() != Some(&"startRun") || starts != 1 {
            self.fault(run, "startRun is not the first event, once");
        }
        let job = files.job.as_ref();
        let is_running = job.is_some_and(|job| text(&job.value, "status") == "running");
        let ends = tags.iter().filter(|tag| is_end(tag)).count();
        let is_last = tags.last().is_some_and(|tag| is_end(tag));
        if !is_running && (ends != 1 || !is_last) {
            self.fault(run, "the end of the run is not the last event, once");
        }
        let all = files.checkpoints.iter().map(|file| &file.value);
        let own = all.filter(|checkpoint| text(checkpoint, "runId") == run);
        let own: HashMap<&str, &Value> = own
            .map(|checkpoint| (text(checkpoint, "id"), checkpoint))
            .collect();
        let mut place = TimelineState::default();
        for file in &found.events {
            self.event(file, &mut place);
            self.step_end(file, &own, &mut place);
        }
        if own.keys().any(|id| !place.ended.contains(*id)) {
            self.fault(run, "a checkpoint that no event made");
        }
    }

    fn event(&mut self, file: &JsonFile, place: &mut TimelineState) {
        let (name, event) = (file.name(), &file.value);
        if number(event, "stepNumber") < place.step {
            self.fault(&name, "/stepNumber: the run goes back");
        }
        place.step = number(event, "stepNumber");
        let ids = |values: &[Value], key: &str| -> Vec<String> {
            values
                .iter()
                .map(|value| text(value, key).to_owned())
                .collect()
        };
        match text(event, "type") {
            "startRun" => {
                let initial = &event["initialCheckpoint"];
                let is_first = number(initial, "stepNumber") == place.step;
                if text(initial, "status") != "init" || !is_first {
                    self.fault(
                        &name,
                        "/initialCheckpoint: not the state before the first step",
                    );
                }
                text(initial, "id").clone_into(&mut place.begun_with);
            }
            "startGeneration" => place.is_asked = true,
            "callTools" => {
                if !place.is_asked {
                    self.fault(&name, "the model was not asked");
                }
                let message = std::slice::from_ref(&event["newMessage"]);
                let said = parts(message, "toolCallPart").map(|part| text(part, "toolCallId"));
                if said.collect::<Vec<_>>() != ids(list(event, "toolCalls"), "id") {
                    self.fault(&name, "/toolCalls: not those of the message");
                }
            }
            "resolveToolResults" => place.results = ids(list(event, "toolResults"), "id"),
            "finishToolCall" => {
                let messages = list(event, "newMessages");
                let put = parts(messages, "toolResultPart").map(|part| text(part, "toolCallId"));
                if put.collect::<Vec<_>>() != place.results || messages.len() != 1 {
                    self.fault(&name, "/newMessages: not one message with the results");
                }
            }
            _ => {}
        }
    }

    /// A step ends with a checkpoint of its own, which has a file.
    fn step_end(
        &mut self,
        file: &JsonFile,
        own: &HashMap<&str, &Value>,
        place: &mut TimelineState,
    ) {
        let (name, event) = (file.name(), &file.value);
        let Some(checkpoint) = event.get("checkpoint") else {
            return;
        };
        place.is_asked = false;
        let id = text(checkpoint, "id");
        place.ended.insert(id.to_owned());
        if own.get(id) != Some(&checkpoint) {
            self.fault(&name, "/checkpoint: not what its own file says");
        }
        if place.begun_with != id {
            self.fault(&name, "/checkpoint/id: not the one the step began with");
        }
        let step = &event["step"];
        let numbers = [number(checkpoint, "stepNumber"), number(step, "stepNumber")];
        if numbers != [place.step; 2] || !step["finishedAt"].is_number() {
            self.fault(&name, "/step: not the step that ended");
        }
        let end = ENDS.iter().find(|(end, _)| *end == text(event, "type"));
        let status = end.map_or("proceeding", |(_, status)| status);
        if text(checkpoint, "status") != status {
            self.fault(&name, format!("/checkpoint/status: not {status}"));
        }
        if let Some(next) = event.get("nextCheckpoint") {
            if text(next, "id") == id || number(next, "stepNumber") <= place.step {
                self.fault(&name, "/nextCheckpoint: not another one");
            }
            text(next, "id").clone_into(&mut place.begun_with);
        }
    }

    /// What the terminal UI makes of a run's events, and what it would leave out.
    pub(crate) fn screen(&mut self, found: &RunFiles) {
        let mut calls: HashMap<&str, bool> = HashMap::new();
        let mut reasoning: Option<&str> = None;
        let mut before = "";
        for file in &found.events {
            let (name, event) = (file.name(), &file.value);
            let tag = text(event, "type");
            match tag {
                "startRun" => {
                    let mut users = list(event, "inputMessages").iter();
                    let user = users.find(|message| text(message, "type") == "userMessage");
                    let query =
                        user.and_then(|user| parts(std::slice::from_ref(user), "textPart").next());
                    if query.is_some_and(|query| !text(query, "text").is_empty()) {
                        show(&mut self.lines, "query");
                    }
                }
                "completeStreamingReasoning" => {
                    if before == tag {
                        self.fault(&name, "it hides the reasoning before it");
                    }
                    reasoning = Some(text(event, "text"));
                }
                "callTools" => {
                    let message = std::slice::from_ref(&event["newMessage"]);
                    for part in parts(message, "thinkingPart") {
                        if !reasoning
                            .unwrap_or_default()
                            .contains(text(part, "thinking"))
                        {
                            self.fault(&name, "its reasoning does not come before it");
                        }
                    }
                    for call in list(event, "toolCalls") {
                        calls.entry(text(call, "id")).or_insert(false);
                    }
                }
                "resolveToolResults" => {
                    for result in list(event, "toolResults") {
                        let id = text(result, "id");
                        let mut ends = found.events.iter().map(|file| &file.value["checkpoint"]);
                        match calls.get_mut(id) {
                            Some(true) => self.fault(&name, "/toolResults: a result comes twice"),
                            Some(shown) => {
                                *shown = true;
                                reasoning = None;
                                show(&mut self.lines, "tool");
                            }
                            None if ends.any(|checkpoint| is_orphan(checkpoint, id)) => {}
                            None => {
                                self.fault(&name, "/toolResults: no call has that id, so no line");
                            }
                        }
                    }
                }
                "completeRun" => show(&mut self.lines, "complete"),
                "stopRunByError" => show(&mut self.lines, "error"),
                "stopRunByExceededMaxSteps" => show(&mut self.lines, "limit"),
                _ => {}
            }
            if tag != "startStreamingReasoning" {
                before = tag;
            }
        }
    }
}

fn show(lines: &mut BTreeMap<&'static str, usize>, kind: &'static str) {
    *lines.entry(kind).or_insert(0) += 1;
}
