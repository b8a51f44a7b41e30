//! The description of the API: paths by hand, bodies by reference to the published schemas.

mod bundled;
mod parameters;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use runtape_schemas::{SchemaKind, bundle, bundle_id};
use serde_json::{Map, Value, json};

use super::BASE;
use crate::cut::CUT_TEXTS;
use parameters::parameter;

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
        is_paged: true,
        ..path(
            "/runs/{run}/transcript",
            "A run to read; each entry has `seq`, its record",
            &["from"],
            Other(transcript_page()),
        )
    };
    let head = json!({
        "type": "object",
        "required": ["head", "databaseId", "removals"],
        "properties": {
            "head": {"anyOf": [definition("SealHead"), {"type": "null"}], "description": "The end of the chain of seals; null while nothing was sealed"},
            "databaseId": {"type": ["string", "null"]},
            "removals": {"type": "integer", "description": "Seals that no longer cover a run"},
        },
    });
    let steps = Path {
        is_paged: true,
        ..path(
            "/runs/{run}/steps",
            "The steps that ended, in order",
            &[],
            Other(list_of(&definition("StepInfo"))),
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
            "/commands",
            "Which shell commands ran, and what their words tell",
            &["failed"],
            List(SchemaKind::ToolCallInfo),
        ),
        filtered(
            "/network",
            "Which hosts tools fetched from, and which ones shell commands name; with `calls=1` each call",
            &["calls", "host", "class", "failed"],
            List(SchemaKind::HostUse),
        ),
        filtered(
            "/files",
            "Which files tools read or wrote, and which ones shell commands name",
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
            &["bundled"],
            Other(json!({"type": "object"})),
        ),
    ]
}

fn definition(name: &str) -> Value {
    json!({"$ref": format!("{}#/$defs/{name}", bundle_id())})
}

/// Refers to a kind by the name of its definition, which tools follow that know no anchors.
fn reference(kind: SchemaKind) -> Value {
    static NAMES: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let bundle = bundle();
        let definitions = bundle.get("$defs").and_then(Value::as_object);
        let named = definitions
            .into_iter()
            .flatten()
            .filter_map(|(name, definition)| {
                let anchor = definition.get("$dynamicAnchor")?.as_str()?;
                Some((anchor.to_owned(), name.clone()))
            });
        named.collect()
    });
    definition(names.get(kind.name()).map_or(kind.name(), String::as_str))
}

/// What the API adds to an object of a kind: where its texts were cut.
fn with_cuts(kind: SchemaKind) -> Value {
    let cuts = json!({"properties": {CUT_TEXTS: {"$ref": "#/components/schemas/Cuts"}}});
    json!({"allOf": [reference(kind), cuts]})
}

fn list_of(items: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {"type": "array", "items": items},
            "next": {"type": "string", "description": "The cursor of the next page; not there on the last one"},
        },
    })
}

/// A page of a transcript: entries in the published shape, with their places in the run.
fn transcript_page() -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    let added = json!({
        "required": ["seq", "index"],
        "properties": {
            "seq": {"type": "integer", "minimum": 0, "description": "The record that it is of"},
            "index": {"type": "integer", "minimum": 0, "description": "Which of the entries of that record it is"},
            "step": number,
            CUT_TEXTS: {"$ref": "#/components/schemas/Cuts"},
            "attachments": {"type": "array", "items": {"$ref": "#/components/schemas/Attachment"}},
        },
    });
    let entry = json!({"allOf": [reference(SchemaKind::TranscriptEntry), added]});
    let places = json!({
        "required": ["nextSeq", "records"],
        "properties": {
            "nextSeq": {"type": "integer", "minimum": 0, "description": "The record that `live` goes on with"},
            "records": {"type": "integer", "minimum": 0, "description": "Records of the run"},
        },
    });
    json!({"allOf": [list_of(&entry), places]})
}

fn schema(path: &Path) -> Value {
    match &path.body {
        // A part of a long text has a shape of its own.
        Body::One(kind) if path.parameters.contains(&"part") => {
            json!({"anyOf": [with_cuts(*kind), {"$ref": "#/components/schemas/TextPiece"}]})
        }
        Body::One(kind) => reference(*kind),
        Body::List(kind) => {
            let items = match path.address {
                "/tools" => {
                    json!({"anyOf": [reference(*kind), reference(SchemaKind::ToolCallInfo)]})
                }
                "/network" => {
                    json!({"anyOf": [reference(*kind), reference(SchemaKind::NetworkCall)]})
                }
                "/runs/{run}/events" => with_cuts(*kind),
                _ => reference(*kind),
            };
            let list = list_of(&items);
            if !matches!(path.address, "/files" | "/network") {
                return list;
            }
            let untold = json!({
                "type": "integer",
                "minimum": 0,
                "description": "How many shell commands do what their words do not tell",
            });
            json!({"allOf": [list, {"properties": {"untoldCommands": untold}}]})
        }
        Body::Other(schema) => schema.clone(),
    }
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
            parameters.push(parameter(name, "path", true));
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

/// Returns the document, with the published schemas in it or referring to them.
pub(super) fn document(is_bundled: bool) -> Value {
    if is_bundled {
        bundled::bundled(referring(), &bundle(), &bundle_id())
    } else {
        referring()
    }
}

fn schemas() -> Value {
    json!({
        "Problem": {
            "type": "object",
            "required": ["title", "status", "detail"],
            "properties": {
                "title": {"type": "string"},
                "status": {"type": "integer"},
                "detail": {"type": "string", "description": "What is wrong, in the words of the command line"},
            },
        },
        "TextPiece": {
            "type": "object",
            "required": ["from", "length", "text"],
            "properties": {
                "from": {"type": "integer", "minimum": 0},
                "length": {"type": "integer", "minimum": 0, "description": "Bytes of the whole text"},
                "text": {"type": "string"},
                "next": {"type": "integer", "description": "The byte that the next piece begins with"},
            },
        },
        "Cuts": {
            "type": "array",
            "description": "Texts that go on elsewhere",
            "items": {
                "type": "object",
                "required": ["pointer", "length", "rest"],
                "properties": {
                    "pointer": {"type": "string", "description": "Where in the object the text is, as a JSON pointer"},
                    "length": {"type": "integer", "minimum": 0, "description": "Bytes of the whole text"},
                    "rest": {"type": "string", "description": "The address of what follows"},
                },
            },
        },
        "Attachment": {
            "type": "object",
            "description": "An image or a file that came with what was said",
            "required": ["mimeType", "bytes"],
            "properties": {
                "mimeType": {"type": "string"},
                "bytes": {"type": "integer", "minimum": 0},
                "width": {"type": "integer", "minimum": 0},
                "height": {"type": "integer", "minimum": 0},
                "data": {"type": "string", "description": "The address of its base64, for png, jpeg, gif and webp of a reasonable size"},
                "notShown": {"type": "string", "description": "Why it has no such address"},
            },
        },
    })
}

fn referring() -> Value {
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
            "schemas": schemas(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_described_and_every_parameter_has_words() {
        let document = document(false);
        for (path, _) in super::super::ENDPOINTS {
            let described = &document["paths"][format!("{BASE}{path}")]["get"];
            assert!(described.is_object(), "{path}");
            for parameter in described["parameters"].as_array().unwrap() {
                assert_ne!(parameter["description"], "", "{path}: {parameter}");
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
        let bundle = bundle();
        for is_bundled in [false, true] {
            let document = document(is_bundled);
            let mut found = Vec::new();
            references(&document, &mut found);
            assert!(found.len() > 20);
            for reference in found {
                let (address, pointer) = reference.split_once('#').unwrap();
                let whole = if address.is_empty() {
                    &document
                } else {
                    assert_eq!((address, is_bundled), (bundle_id().as_str(), false));
                    &bundle
                };
                assert!(whole.pointer(pointer).is_some(), "{reference}");
            }
        }
    }
}
