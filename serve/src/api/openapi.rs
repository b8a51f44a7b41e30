//! The description of the API: paths by hand, bodies by reference to the published schemas.

use runtape_schemas::{SchemaKind, bundle_id};
use serde_json::{Map, Value, json};

use super::BASE;

/// What an address answers with.
enum Body {
    /// An object of this kind.
    One(SchemaKind),
    /// A list of such objects.
    List(SchemaKind),
    /// Something that no command prints.
    Other(Value),
}

/// An address.
struct Path {
    address: &'static str,
    summary: &'static str,
    parameters: &'static [&'static str],
    has_filter: bool,
    is_paged: bool,
    body: Body,
}

const PARAMETERS: &[(&str, &str, &str)] = &[
    (
        "after",
        "string",
        "The cursor that came as `next` with the page before",
    ),
    (
        "limit",
        "integer",
        "How many at most: 1 to 500, 50 if it is not said",
    ),
    ("runtime", "string", "Only runs of this runtime"),
    (
        "status",
        "string",
        "Only runs that ended this way; `open` for those that go on",
    ),
    ("job", "string", "Only runs of this job"),
    ("expert", "string", "Only runs given to this expert"),
    ("model", "string", "Only runs with this model"),
    ("session", "string", "Only runs of this session"),
    (
        "tool",
        "string",
        "Only runs that called this tool; * and ? stand for any characters and any one",
    ),
    (
        "cwd",
        "string",
        "Only runs that worked in this directory or below",
    ),
    ("family", "string", "Only runs that failed this way"),
    (
        "label",
        "string",
        "Only runs with this label: NAME=VALUE, or NAME for any value",
    ),
    (
        "since",
        "string",
        "Only runs that began at this time or later: an age (2d), a date, or ISO 8601",
    ),
    ("until", "string", "Only runs that began before this time"),
    ("children", "string", "1: also runs that other runs started"),
    (
        "text",
        "string",
        "Only runs in which a full-text search finds this",
    ),
    ("q", "string", "What to look for"),
    (
        "by",
        "string",
        "What to add up by: day, week, month, runtime, model, job, session, cwd, label, label:NAME, or two of them",
    ),
    ("utc", "string", "1: days are those of UTC"),
    ("calls", "string", "1: each call"),
    ("class", "string", "Only tools of this class"),
    ("failed", "string", "1: only calls that failed"),
    (
        "path",
        "string",
        "Only this file, or what is below this directory; with * and ?, whatever fits",
    ),
    ("written", "string", "1: only files that were written"),
    (
        "directories",
        "string",
        "1: directories that were searched, instead of files",
    ),
    ("kind", "string", "Only notices of this kind"),
    ("seq", "integer", "The record"),
    (
        "part",
        "string",
        "A long text: a JSON pointer into the answer, or `entry:0/text` into a transcript entry",
    ),
    (
        "from",
        "integer",
        "The byte of the part, or the record of the transcript, to begin with",
    ),
    ("runs", "string", "RUN or RUN:RECORD, joined by commas"),
    ("list", "string", "1: also the runs that are open"),
];

#[expect(clippy::too_many_lines, reason = "a table of all addresses")]
fn paths() -> Vec<Path> {
    use Body::{List, One, Other};
    let path = |address, summary, parameters, body| Path {
        address,
        summary,
        parameters,
        has_filter: false,
        is_paged: matches!(body, List(_)),
        body,
    };
    let filtered = |name, summary, parameters, body| Path {
        has_filter: true,
        ..path(name, summary, parameters, body)
    };
    let tree = Path {
        is_paged: false,
        ..path(
            "/runs/{run}/tree",
            "The run and all that it started",
            &[],
            List(SchemaKind::RunInfo),
        )
    };
    let transcript = Path {
        parameters: &["from"],
        ..path(
            "/runs/{run}/transcript",
            "A run to read; each entry has `seq`, its record",
            &[],
            List(SchemaKind::TranscriptEntry),
        )
    };
    let head = json!({
        "type": "object",
        "required": ["head", "databaseId", "removals"],
        "properties": {
            "head": {"type": ["object", "null"], "description": "The end of the chain of seals; null while nothing was sealed"},
            "databaseId": {"type": ["string", "null"]},
            "removals": {"type": "integer", "description": "Seals that no longer cover a run"},
        },
    });
    let step = json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {"type": "array", "items": {"$ref": format!("{}#/$defs/StepInfo", bundle_id())}},
            "next": {"type": "string"},
        },
    });
    let steps = Path {
        is_paged: true,
        ..path(
            "/runs/{run}/steps",
            "The steps that ended, in order",
            &[],
            Other(step),
        )
    };
    vec![
        filtered(
            "/runs",
            "Runs, those that began last first; each has `prompt`, too",
            &["children", "text"],
            List(SchemaKind::RunInfo),
        ),
        path(
            "/runs/{run}",
            "What is known of a run",
            &["part", "from"],
            One(SchemaKind::RunDetail),
        ),
        tree,
        steps,
        transcript,
        path(
            "/runs/{run}/records/{seq}",
            "A record, or a piece of a long text of it",
            &["part", "from"],
            One(SchemaKind::Record),
        ),
        path(
            "/runs/{run}/raw",
            "The output that a record was made from",
            &["seq", "part", "from"],
            One(SchemaKind::RawOutput),
        ),
        path(
            "/runs/{run}/events",
            "Full events in Perstack's shape",
            &[],
            List(SchemaKind::Event),
        ),
        filtered(
            "/jobs",
            "Jobs, those that began last first",
            &[],
            List(SchemaKind::JobInfo),
        ),
        path("/jobs/{job}", "A job", &[], One(SchemaKind::JobInfo)),
        filtered(
            "/search",
            "Records in which a text is found, the best first",
            &["q"],
            List(SchemaKind::SearchHit),
        ),
        filtered(
            "/usage",
            "Tokens and cost, added up",
            &["by", "utc"],
            List(SchemaKind::UsageGroup),
        ),
        filtered(
            "/tools",
            "Which tools were called; with `calls=1` each call",
            &["calls", "class", "failed"],
            List(SchemaKind::ToolUse),
        ),
        filtered(
            "/files",
            "Which files tools read or wrote",
            &["path", "written", "directories", "class", "failed"],
            List(SchemaKind::FileUse),
        ),
        filtered(
            "/errors",
            "Which runs failed, and why",
            &[],
            List(SchemaKind::RunInfo),
        ),
        filtered(
            "/notices",
            "What runtimes reported besides",
            &["kind"],
            List(SchemaKind::NoticeInfo),
        ),
        filtered(
            "/drift",
            "Output that was not understood, by kind",
            &[],
            List(SchemaKind::Drift),
        ),
        path("/head", "The end of the chain of seals", &[], Other(head)),
        path(
            "/openapi.json",
            "This document",
            &[],
            Other(json!({"type": "object"})),
        ),
    ]
}

fn reference(kind: SchemaKind) -> Value {
    json!({"$ref": format!("{}#{}", bundle_id(), kind.name())})
}

fn schema(path: &Path) -> Value {
    match &path.body {
        // A part of a long text has a shape of its own.
        Body::One(kind) if path.parameters.contains(&"part") => {
            json!({"anyOf": [reference(*kind), {"$ref": "#/components/schemas/TextPart"}]})
        }
        Body::One(kind) => reference(*kind),
        Body::List(kind) => {
            let items = match path.address {
                "/tools" => {
                    json!({"anyOf": [reference(*kind), reference(SchemaKind::ToolCallInfo)]})
                }
                _ => reference(*kind),
            };
            json!({
                "type": "object",
                "required": ["items"],
                "properties": {
                    "items": {"type": "array", "items": items},
                    "next": {"type": "string", "description": "The cursor of the next page; not there on the last one"},
                },
            })
        }
        Body::Other(schema) => schema.clone(),
    }
}

fn parameter(name: &str, place: &str, required: bool) -> Value {
    let known = PARAMETERS.iter().find(|(known, ..)| *known == name);
    let (kind, description) = known.map_or(("string", ""), |(_, kind, text)| (*kind, *text));
    let mut schema = json!({"type": kind});
    if let (Value::Object(schema), "integer") = (&mut schema, kind) {
        schema.insert("minimum".to_owned(), 0.into());
    }
    json!({"name": name, "in": place, "required": required, "description": description, "schema": schema})
}

fn responses(content_type: &str, schema: &Value) -> Value {
    let problem = json!({
        "description": "Why there is no answer",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    });
    json!({
        "200": {"description": "The answer", "content": {content_type: {"schema": schema}}},
        "4XX": problem.clone(),
        "5XX": problem,
    })
}

fn operation(path: &Path) -> Value {
    let mut parameters: Vec<Value> = Vec::new();
    for name in ["run", "job", "seq"] {
        if path.address.contains(&format!("{{{name}}}")) {
            let mut parameter = parameter(name, "path", true);
            if let (Some(schema), false) = (parameter.get_mut("schema"), name == "seq") {
                *schema = json!({"type": "string"});
            }
            parameters.push(parameter);
        }
    }
    let required = |name: &str| {
        matches!(
            (path.address, name),
            ("/search", "q") | ("/runs/{run}/raw", "seq")
        )
    };
    let own = path.parameters.iter().copied();
    parameters.extend(own.map(|name| parameter(name, "query", required(name))));
    if path.has_filter {
        let words = crate::question::FILTER.iter();
        parameters.extend(words.map(|name| parameter(name, "query", false)));
    }
    if path.is_paged {
        let words = crate::question::PAGING.iter();
        parameters.extend(words.map(|name| parameter(name, "query", false)));
    }
    json!({
        "summary": path.summary,
        "parameters": parameters,
        "responses": responses("application/json", &schema(path)),
    })
}

/// Returns the document.
pub(super) fn document() -> Value {
    let mut described = Map::new();
    for path in paths() {
        described.insert(
            format!("{BASE}{}", path.address),
            json!({"get": operation(&path)}),
        );
    }
    let live = json!({"type": "string", "description": "Server-sent events: record (id RUN.SEQ), run, listed, resync"});
    described.insert(
        format!("{BASE}/live"),
        json!({"get": {
            "summary": "What happens now, as server-sent events",
            "parameters": [parameter("runs", "query", false), parameter("list", "query", false)],
            "responses": responses("text/event-stream", &live),
        }}),
    );
    let token = json!({"type": "object", "required": ["token"], "properties": {"token": {"type": "string"}}});
    described.insert(
        format!("{BASE}/token"),
        json!({"get": {
            "summary": "The token, also for the code that `--open` gives a browser, once",
            "responses": responses("application/json", &token),
        }}),
    );
    described.insert(
        format!("{BASE}/verify"),
        json!({"post": {
            "summary": "Prove that nothing was changed since it was written, or name what was",
            "responses": responses("application/json", &reference(SchemaKind::VerifyReport)),
        }}),
    );
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "runtape serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "What was recorded, as the commands print it with --json. Every request needs the token.",
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "security": [{"token": []}],
        "paths": described,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Problem": {
                    "type": "object",
                    "required": ["title", "status", "detail"],
                    "properties": {
                        "title": {"type": "string"},
                        "status": {"type": "integer"},
                        "detail": {"type": "string", "description": "What is wrong, in the words of the command line"},
                    },
                },
                "TextPart": {
                    "type": "object",
                    "required": ["from", "length", "text"],
                    "properties": {
                        "from": {"type": "integer"},
                        "length": {"type": "integer", "description": "Bytes of the whole text"},
                        "text": {"type": "string"},
                        "next": {"type": "integer", "description": "The byte that the next piece begins with"},
                    },
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_described_and_every_parameter_has_words() {
        let document = document();
        for (path, _) in super::super::ENDPOINTS {
            let described = &document["paths"][format!("{BASE}{path}")]["get"];
            assert!(described.is_object(), "{path}");
            for parameter in described["parameters"].as_array().unwrap() {
                let is_described = parameter["in"] == "path" || parameter["description"] != "";
                assert!(is_described, "{path}: {parameter}");
            }
        }
        // `live`, `token` and `verify` are the others.
        let paths = document["paths"].as_object().unwrap().len();
        assert_eq!(paths, super::super::ENDPOINTS.len() + 3);
    }

    #[test]
    fn every_reference_leads_to_a_schema() {
        fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
            match value {
                Value::Array(items) => items.iter().for_each(|item| references(item, found)),
                Value::Object(fields) => {
                    found.extend(fields.get("$ref").and_then(Value::as_str));
                    fields.values().for_each(|field| references(field, found));
                }
                _ => {}
            }
        }
        let (document, bundle) = (document(), runtape_schemas::bundle());
        let anchors: Vec<&str> = SchemaKind::ALL.iter().map(|kind| kind.name()).collect();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 20);
        for reference in found {
            let (address, fragment) = reference.split_once('#').unwrap();
            match (address, fragment.starts_with('/')) {
                ("", _) => assert!(document.pointer(fragment).is_some(), "{reference}"),
                (_, true) => assert!(bundle.pointer(fragment).is_some(), "{reference}"),
                (_, false) => assert!(anchors.contains(&fragment), "{reference}"),
            }
        }
    }
}
