//! The page's files: a fixed table, so that no request can name a file on disk.

use std::sync::OnceLock;

use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::IF_NONE_MATCH;
use axum::routing::get;

use crate::answer;

/// A file of the page.
struct Asset {
    path: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
    tag: OnceLock<String>,
}

macro_rules! assets {
    ($($path:literal $content_type:literal $file:literal)*) => {
        const COUNT: usize = [$($path),*].len();
        static ASSETS: [Asset; COUNT] = [$(Asset {
            path: $path,
            content_type: $content_type,
            bytes: include_bytes!(concat!("../assets/", $file)),
            tag: OnceLock::new(),
        }),*];
    };
}

assets! {
    "/" "text/html; charset=utf-8" "index.html"
    "/style.css" "text/css; charset=utf-8" "style.css"
    "/icon.svg" "image/svg+xml" "icon.svg"
    "/app.js" "text/javascript; charset=utf-8" "app.js"
    "/api.js" "text/javascript; charset=utf-8" "api.js"
    "/audit.js" "text/javascript; charset=utf-8" "audit.js"
    "/chart.js" "text/javascript; charset=utf-8" "chart.js"
    "/dom.js" "text/javascript; charset=utf-8" "dom.js"
    "/drift.js" "text/javascript; charset=utf-8" "drift.js"
    "/entries.js" "text/javascript; charset=utf-8" "entries.js"
    "/format.js" "text/javascript; charset=utf-8" "format.js"
    "/list.js" "text/javascript; charset=utf-8" "list.js"
    "/live.js" "text/javascript; charset=utf-8" "live.js"
    "/run.js" "text/javascript; charset=utf-8" "run.js"
    "/runs.js" "text/javascript; charset=utf-8" "runs.js"
    "/search.js" "text/javascript; charset=utf-8" "search.js"
    "/table.js" "text/javascript; charset=utf-8" "table.js"
    "/text.js" "text/javascript; charset=utf-8" "text.js"
}

impl Asset {
    fn tag(&self) -> &str {
        self.tag
            .get_or_init(|| format!("\"{}\"", blake3::hash(self.bytes).to_hex()))
    }
}

/// Adds the page to a router.
pub(crate) fn add(mut router: Router) -> Router {
    for asset in &ASSETS {
        let handler = move |headers: HeaderMap| async move {
            let known = headers.get(IF_NONE_MATCH);
            if known.is_some_and(|known| known.as_bytes() == asset.tag().as_bytes()) {
                return answer::unchanged(asset.tag());
            }
            answer::file(asset.content_type, asset.bytes, asset.tag())
        };
        router = router.route(asset.path, get(handler));
    }
    router
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_file_of_the_page_is_in_the_table_and_names_only_those() {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        for file in fs::read_dir(directory).unwrap() {
            let name = file.unwrap().file_name().into_string().unwrap();
            let path = if name == "index.html" {
                "/".to_owned()
            } else {
                format!("/{name}")
            };
            assert!(ASSETS.iter().any(|asset| asset.path == path), "{name}");
        }
        for asset in &ASSETS {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            for import in text.split("from \"./").skip(1) {
                let name = import.split('"').next().unwrap();
                assert!(
                    ASSETS.iter().any(|asset| asset.path == format!("/{name}")),
                    "{name}"
                );
            }
            // What is not made as a text node could be more than a text.
            for word in [
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "srcdoc",
            ] {
                assert!(!text.contains(word), "{}: {word}", asset.path);
            }
        }
    }

    #[test]
    fn tags_are_of_the_content() {
        let tags: std::collections::BTreeSet<&str> = ASSETS.iter().map(Asset::tag).collect();
        assert_eq!(tags.len(), ASSETS.len());
    }
}
