//! A required field that is dropped, and a field of a wrong type, are refused by the schema.
//!
//! Values are walked alongside their schema. Each rule of the schema (a required field, a field
//! whose type is named, a word of a list) is broken in several values. A rule that no value got
//! to break fails the test, so that nothing is passed over in silence.

use std::collections::{BTreeMap, BTreeSet};

use runtape_schemas::{SchemaKind, Validator};
use runtape_tests::strategies::UNKNOWN;
use serde_json::{Value, json};

use crate::samples::{Sampler, reread, samplers};

/// How often a rule is broken in the same way; more would only repeat.
const TIMES: usize = 2;
/// Values of each type that are drawn at least, and at most before a rule counts as never met.
const DRAWS: std::ops::Range<usize> = 2..3000;

/// Returns a value of every type that a schema can name.
fn value_of_each_type() -> [(&'static str, Value); 7] {
    [
        ("null", Value::Null),
        ("boolean", json!(true)),
        ("integer", json!(7)),
        ("number", json!(1.5)),
        ("string", json!("no such word")),
        ("array", json!([])),
        ("object", json!({})),
    ]
}

/// A way to break a rule of the schema in a value.
struct Mutation {
    /// The rule's place in the schema.
    rule: String,
    /// The value's place; for a dropped field that of its object.
    path: String,
    change: Change,
    /// Reading is more forgiving than the schema here: it takes null for what may be absent,
    /// absent for what is null when unknown, and any metadata.
    forgiven: bool,
}

enum Change {
    Drop(String),
    Replace(&'static str, Value),
}

/// Walks values of one kind.
struct Walk {
    root: &'static Value,
    mutations: Vec<Mutation>,
}

impl Walk {
    /// Returns what a schema refers to, be it with a description or without.
    fn resolve(&self, schema: &'static Value) -> Option<(String, &'static Value)> {
        let described = schema.pointer("/allOf/0/$ref");
        let reference = schema.get("$ref").or(described)?;
        let pointer = reference.as_str()?.strip_prefix('#')?;
        Some((pointer.to_owned(), self.root.pointer(pointer).unwrap()))
    }

    /// Returns the types that a schema names, `None` if it names none.
    fn types(&self, schema: &'static Value) -> Option<BTreeSet<&'static str>> {
        let mut sets: Vec<BTreeSet<&str>> = Vec::new();
        match schema.get("type") {
            Some(Value::String(name)) => sets.push([name.as_str()].into()),
            Some(Value::Array(names)) => {
                sets.push(names.iter().filter_map(Value::as_str).collect());
            }
            _ => {}
        }
        sets.extend(
            self.resolve(schema)
                .and_then(|(_, target)| self.types(target)),
        );
        for branches in unions(schema).map(|(_, branches)| branches) {
            let types: Option<Vec<_>> = branches.iter().map(|branch| self.types(branch)).collect();
            sets.extend(types.map(|types| types.into_iter().flatten().collect()));
        }
        sets.into_iter()
            .reduce(|some, others| some.intersection(&others).copied().collect())
    }

    /// Returns every schema that applies to a value, with its place: itself, what it refers to,
    /// and the branch that is meant.
    fn applying(
        &self,
        place: String,
        schema: &'static Value,
        value: &Value,
    ) -> Vec<(String, &'static Value)> {
        let mut all = Vec::new();
        if let Some((place, target)) = self.resolve(schema) {
            all.extend(self.applying(place, target, value));
        }
        for (keyword, branches) in unions(schema) {
            let meant = branches
                .iter()
                .position(|branch| self.is_meant(branch, value));
            let at = meant.unwrap_or_else(|| panic!("{place}/{keyword}: no branch for {value}"));
            all.extend(self.applying(format!("{place}/{keyword}/{at}"), &branches[at], value));
        }
        all.push((place, schema));
        all
    }

    fn walk(
        &mut self,
        path: &str,
        place: String,
        schema: &'static Value,
        value: &Value,
        forgiven: bool,
    ) {
        for (place, schema) in self.applying(place, schema, value) {
            let required = required(schema);
            for name in &required {
                assert!(value.get(name).is_some(), "{path} lacks {name}");
                let types = schema.pointer(&format!("/properties/{name}"));
                let types = types.and_then(|rule| self.types(rule));
                self.mutations.push(Mutation {
                    rule: format!("{place}/required/{name}"),
                    path: path.to_owned(),
                    change: Change::Drop((*name).to_owned()),
                    forgiven: forgiven || types.is_some_and(|types| types.contains("null")),
                });
            }
            for (name, rule) in members(schema, "properties") {
                let Some(member) = value.get(name) else {
                    continue;
                };
                let path = format!("{path}/{name}");
                let place = format!("{place}/properties/{name}");
                let open =
                    name == "metadata" || place.ends_with("/MetadataPatchRecord/properties/set");
                let absent = !required.contains(&name.as_str());
                self.break_rule(&path, &place, rule, absent, forgiven);
                self.walk(&path, place, rule, member, forgiven || open);
            }
            if let (Some(items), Value::Array(values)) = (schema.get("items"), value) {
                let place = format!("{place}/items");
                for (at, member) in values.iter().enumerate() {
                    let path = format!("{path}/{at}");
                    self.break_rule(&path, &place, items, false, forgiven);
                    self.walk(&path, place.clone(), items, member, forgiven);
                }
            }
        }
    }

    /// Adds values of every type that the rule does not name, and a word that it does not.
    fn break_rule(
        &mut self,
        path: &str,
        place: &str,
        rule: &'static Value,
        absent: bool,
        forgiven: bool,
    ) {
        let Some(types) = self.types(rule) else {
            return;
        };
        for (name, value) in value_of_each_type() {
            if types.contains(name) || (name == "integer" && types.contains("number")) {
                continue;
            }
            self.mutations.push(Mutation {
                rule: place.to_owned(),
                path: path.to_owned(),
                change: Change::Replace(name, value),
                forgiven: forgiven || (name == "null" && absent),
            });
        }
        for place in self.words(place.to_owned(), rule) {
            self.mutations.push(Mutation {
                path: path.to_owned(),
                change: Change::Replace("word", json!("no such word")),
                // A family of errors or a class of tools that a newer version knows is read as `other`.
                forgiven: forgiven
                    || ["/ErrorFamily/", "/ToolClass/"]
                        .iter()
                        .any(|name| place.contains(name)),
                rule: place,
            });
        }
    }

    /// Returns the places of the lists of words that a rule allows.
    fn words(&self, place: String, rule: &'static Value) -> Vec<String> {
        let (place, rule) = self.resolve(rule).unwrap_or((place, rule));
        let mut places = Vec::new();
        for (keyword, branches) in unions(rule) {
            let place = format!("{place}/{keyword}");
            if are_words(branches) {
                places.push(place);
                continue;
            }
            for (at, branch) in branches.iter().enumerate() {
                places.extend(self.words(format!("{place}/{at}"), branch));
            }
        }
        places
    }

    /// Tells whether a branch of a union may be the one that a valid value is meant for.
    fn is_meant(&self, branch: &'static Value, value: &Value) -> bool {
        if let Some(constant) = branch.get("const") {
            return constant == value;
        }
        let Some((place, target)) = self.resolve(branch) else {
            return branch
                .get("type")
                .is_none_or(|name| is_of_type(name, value));
        };
        // What an unknown one is comes after all that are known.
        if place.starts_with("/$defs/Unknown") {
            return required(target)
                .iter()
                .all(|name| value.get(name).is_some());
        }
        if place.starts_with("/$defs/Known") {
            let mut variants = unions(target).flat_map(|(_, branches)| branches);
            return variants.any(|variant| self.is_meant(variant, value));
        }
        let constants = ["type", "kind"].into_iter().find_map(|key| {
            let constant = target.pointer(&format!("/properties/{key}/const"))?;
            Some(value.get(key) == Some(constant))
        });
        constants.unwrap_or(!value.is_null())
    }

    /// Lists the places of all rules that can be broken.
    fn rules(&self, place: &str, schema: &'static Value, found: &mut BTreeSet<String>) {
        for name in required(schema) {
            found.insert(format!("{place}/required/{name}"));
        }
        for (name, member) in members(schema, "properties") {
            let place = format!("{place}/properties/{name}");
            if self.types(member).is_some() {
                found.insert(place.clone());
            }
            self.rules(&place, member, found);
        }
        for (name, member) in members(schema, "$defs") {
            self.rules(&format!("{place}/$defs/{name}"), member, found);
        }
        if let Some(items) = schema.get("items") {
            let place = format!("{place}/items");
            found.insert(place.clone());
            self.rules(&place, items, found);
        }
        for (keyword, branches) in unions(schema) {
            if are_words(branches) {
                found.insert(format!("{place}/{keyword}"));
            }
            for (at, branch) in branches.iter().enumerate() {
                self.rules(&format!("{place}/{keyword}/{at}"), branch, found);
            }
        }
    }
}

fn required(schema: &'static Value) -> Vec<&'static str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn members(
    schema: &'static Value,
    keyword: &str,
) -> impl Iterator<Item = (&'static String, &'static Value)> {
    schema
        .get(keyword)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn unions(schema: &'static Value) -> impl Iterator<Item = (&'static str, &'static Vec<Value>)> {
    ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|keyword| Some((keyword, schema.get(keyword)?.as_array()?)))
}

fn are_words(branches: &[Value]) -> bool {
    branches.iter().all(|branch| branch.get("const").is_some())
}

/// Tells whether a value has the type that a schema names.
fn is_of_type(name: &Value, value: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => value.is_number(),
    }
}

/// Makes the change and returns what was there.
fn apply(value: &mut Value, mutation: &Mutation) -> Value {
    let place = value.pointer_mut(&mutation.path).unwrap();
    match &mutation.change {
        Change::Replace(_, other) => std::mem::replace(place, other.clone()),
        Change::Drop(name) => {
            let before = place.clone();
            place.as_object_mut().unwrap().shift_remove(name).unwrap();
            before
        }
    }
}

fn refused(kind: SchemaKind, sampler: &Sampler, mutation: &Mutation, value: &Value) {
    let validator = Validator::for_kind(kind);
    let what = || {
        let change = match &mutation.change {
            Change::Drop(name) => format!("dropped {name}"),
            Change::Replace(name, _) => format!("replaced by {name}"),
        };
        format!(
            "{kind} {:?} {}: {change}\n{value}",
            sampler.tag, mutation.path
        )
    };
    let drops = |field: &str| matches!(&mutation.change, Change::Drop(name) if name == field);
    if kind == SchemaKind::Event
        && sampler.tag == Some(UNKNOWN)
        && mutation.path.is_empty()
        && drops("expertKey")
    {
        // Without an expert an unknown event is one around a run.
        assert!(!validator.validate(value).is_invalid(), "{}", what());
        return;
    }
    assert!(!validator.accepts(value), "accepted: {}", what());
    let verdict = validator.validate(value);
    let faults = verdict.faults();
    assert!(
        faults.iter().any(|fault| fault.path == mutation.path),
        "imprecise: {}\n{faults:#?}",
        what()
    );
    for fault in faults {
        let rule = kind.schema().pointer(&fault.schema_path);
        assert!(
            !fault.schema_path.is_empty() && rule.is_some(),
            "{fault:?}: {}",
            what()
        );
    }
    assert!(
        mutation.forgiven || reread(kind, value).is_err(),
        "read: {}",
        what()
    );
}

/// The published documents, as any validator reads them: without our decisions.
struct Published {
    kind: SchemaKind,
    file: jsonschema::Validator,
    bundle: jsonschema::Validator,
}

impl Published {
    fn of(kind: SchemaKind) -> Self {
        let mut bundle = runtape_schemas::bundle();
        bundle.as_object_mut().unwrap().shift_remove("anyOf");
        bundle["$ref"] = format!("#{kind}").into();
        Self {
            kind,
            file: jsonschema::draft202012::new(kind.schema()).unwrap(),
            bundle: jsonschema::draft202012::new(&bundle).unwrap(),
        }
    }

    fn agrees(&self, value: &Value) {
        let accepted = Validator::for_kind(self.kind).accepts(value);
        assert_eq!(
            (self.file.is_valid(value), self.bundle.is_valid(value)),
            (accepted, accepted),
            "{}: the file, the bundle and our validator disagree on {value}",
            self.kind
        );
    }
}

/// Breaks every rule of a kind's schema and returns how many mutations that took.
fn breaks_every_rule(kind: SchemaKind) -> usize {
    let schema = kind.schema();
    let mut walk = Walk {
        root: schema,
        mutations: Vec::new(),
    };
    let mut open = BTreeSet::new();
    walk.rules("", schema, &mut open);
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut total = 0;
    let published = Published::of(kind);
    let samplers = samplers(kind);
    let mut draws: Vec<_> = samplers
        .iter()
        .map(|sampler| (sampler, sampler.draw()))
        .collect();
    for round in 0..DRAWS.end {
        if round >= DRAWS.start && open.is_empty() {
            break;
        }
        for (sampler, values) in &mut draws {
            let mut value = values.next().unwrap();
            published.agrees(&value);
            walk.walk("", String::new(), schema, &value, false);
            for mutation in walk.mutations.drain(..) {
                let change = match &mutation.change {
                    Change::Drop(_) => "dropped",
                    Change::Replace(name, _) => name,
                };
                let times = times
                    .entry(format!("{} {change}", mutation.rule))
                    .or_default();
                if *times == TIMES {
                    continue;
                }
                *times += 1;
                total += 1;
                open.remove(&mutation.rule);
                let before = apply(&mut value, &mutation);
                published.agrees(&value);
                refused(kind, sampler, &mutation, &value);
                *value.pointer_mut(&mutation.path).unwrap() = before;
            }
        }
    }
    assert!(open.is_empty(), "{kind}: never broken: {open:#?}");
    total
}

/// Returns values of a kind, valid ones and broken ones, and whether our validator accepts them.
pub(crate) fn judged(kind: SchemaKind) -> Vec<(bool, Value)> {
    /// Of so many ways to break a value one is taken.
    const EVERY: usize = 7;
    let schema = kind.schema();
    let mut walk = Walk {
        root: schema,
        mutations: Vec::new(),
    };
    let mut values = Vec::new();
    for sampler in samplers(kind) {
        for mut value in sampler.draw().take(DRAWS.start) {
            walk.walk("", String::new(), schema, &value, false);
            values.push(value.clone());
            for mutation in walk.mutations.drain(..).step_by(EVERY) {
                let before = apply(&mut value, &mutation);
                values.push(value.clone());
                *value.pointer_mut(&mutation.path).unwrap() = before;
            }
        }
    }
    let validator = Validator::for_kind(kind);
    let judge = |value| (validator.accepts(&value), value);
    values.into_iter().map(judge).collect()
}

macro_rules! kinds {
    ($($test:ident $kind:ident at_least $floor:literal;)*) => {
        $(
            #[test]
            fn $test() {
                let total = breaks_every_rule(SchemaKind::$kind);
                println!("{}: {total} mutations", SchemaKind::$kind);
                assert!(($floor..).contains(&total), "only {total} mutations");
            }
        )*

        #[test]
        fn no_kind_is_left_out() {
            assert_eq!(SchemaKind::ALL, [$(SchemaKind::$kind),*]);
        }
    };
}

kinds! {
    run_event RunEvent at_least 3000;
    runtime_event RuntimeEvent at_least 1500;
    event Event at_least 4500;
    checkpoint Checkpoint at_least 1700;
    job Job at_least 150;
    step Step at_least 1200;
    message Message at_least 800;
    usage Usage at_least 70;
    transcript_entry TranscriptEntry at_least 450;
    record Record at_least 3200;
    summary Summary at_least 500;
    // Few rules, and which of them a sample can break is chance: far below what is usual.
    run_info RunInfo at_least 130;
    run_detail RunDetail at_least 255;
    job_info JobInfo at_least 50;
    job_detail JobDetail at_least 100;
    search_hit SearchHit at_least 35;
    searched_run SearchedRun at_least 35;
    usage_group UsageGroup at_least 30;
    ledger_entry LedgerEntry at_least 50;
    model_price ModelPrice at_least 30;
    tool_use ToolUse at_least 30;
    tool_call_info ToolCallInfo at_least 50;
    file_use FileUse at_least 20;
    file_call FileCall at_least 50;
    network_call NetworkCall at_least 50;
    host_use HostUse at_least 30;
    notice_info NoticeInfo at_least 30;
    failure_sum FailureSum at_least 25;
    drift Drift at_least 40;
    checkpoint_diff CheckpointDiff at_least 40;
    session_answer SessionAnswer at_least 20;
    session_info SessionInfo at_least 60;
    raw_output RawOutput at_least 20;
    sql_row SqlRow at_least 0;
    ingest_line IngestLine at_least 165;
    sync_line SyncLine at_least 40;
    imported_run ImportedRun at_least 5;
    copy_line CopyLine at_least 20;
    exported_file ExportedFile at_least 10;
    tree_line TreeLine at_least 15;
    exported_tree ExportedTree at_least 15;
    record_report RecordReport at_least 110;
    recovered_run RecoveredRun at_least 40;
    renormalized_run RenormalizedRun at_least 15;
    verify_report VerifyReport at_least 105;
    store_stats StoreStats at_least 50;
    gc_report GcReport at_least 20;
    scan_line ScanLine at_least 20;
    redact_line RedactLine at_least 15;
    config_info ConfigInfo at_least 5;
    rebuilt_run RebuiltRun at_least 20;
    backup_report BackupReport at_least 5;
    database_status DatabaseStatus at_least 30;
    migration_report MigrationReport at_least 5;
    doctor_report DoctorReport at_least 30;
    adapter_session AdapterSession at_least 5;
    adapter_environment AdapterEnvironment at_least 5;
    adapter_command AdapterCommand at_least 10;
    runtime_info RuntimeInfo at_least 20;
    schema_info SchemaInfo at_least 5;
    validation_line ValidationLine at_least 40;
    serve_info ServeInfo at_least 5;
    document Document at_least 5;
}
