//! Images and files that came with a message: which of them are shown, and which are only named.
//!
//! Shown are png, jpeg, gif and webp, by what their bytes say and not by what they are called, and only from
//! the data that was recorded: an address would have to be fetched, and an SVG is a document that can act.
//! What is too large, as it is or unpacked, is only named. The page and the file ask here, so that neither
//! has an opinion of its own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use imagesize::{ImageType, blob_size, image_type};
use runtape_core::{Message, Record, RecordKind, ToolMessagePart, ToolResultContent, UserPart};

use crate::cut::beginning;

/// Bytes of an image that is shown, at most.
pub(crate) const LARGEST_IMAGE: usize = 4 << 20;

/// Pixels of an image that is shown, at most: a few bytes can unpack to gigabytes.
const MOST_PIXELS: usize = 50_000_000;

/// Bytes of what an attachment is called, or of the address that it is at.
const LONGEST_NAME: usize = 200;

/// Something that came with a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attachment<'a> {
    /// Where in the record its data is, as a JSON pointer.
    pub(crate) pointer: String,
    /// What it was called.
    pub(crate) mime_type: &'a str,
    /// Bytes of it; 0 if it is elsewhere.
    pub(crate) bytes: usize,
    /// What is shown, or why nothing is.
    pub(crate) image: Result<Image<'a>, String>,
}

/// An image that can be shown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Image<'a> {
    /// What its bytes say that it is.
    pub(crate) mime_type: &'static str,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) base64: &'a str,
}

/// Returns what came with the entry of this number that a record makes.
pub(crate) fn of_entry(record: &Record, number: usize) -> Vec<Attachment<'_>> {
    let RecordKind::Message(message) = &record.kind else {
        return Vec::new();
    };
    match &message.message {
        // One entry is made of all that a user said.
        Message::UserMessage(user) if number == 0 => {
            let parts = user.contents.iter().enumerate();
            parts
                .filter_map(|(at, part)| of_user(part, format!("/message/contents/{at}")))
                .collect()
        }
        Message::ToolMessage(tools) => {
            let Some(ToolMessagePart::ToolResultPart(result)) = tools.contents.get(number) else {
                return Vec::new();
            };
            let parts = result.contents.iter().enumerate();
            parts
                .filter_map(|(at, part)| {
                    let pointer = format!("/message/contents/{number}/contents/{at}");
                    of_result(part, pointer)
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn of_result(part: &ToolResultContent, pointer: String) -> Option<Attachment<'_>> {
    match part {
        ToolResultContent::ImageInlinePart(part) => {
            Some(inline(pointer, &part.mime_type, &part.encoded_data))
        }
        ToolResultContent::FileInlinePart(part) => {
            Some(file(pointer, &part.mime_type, &part.encoded_data))
        }
        ToolResultContent::TextPart(_) => None,
    }
}

fn of_user(part: &UserPart, pointer: String) -> Option<Attachment<'_>> {
    Some(match part {
        UserPart::TextPart(_) => return None,
        UserPart::ImageInlinePart(part) => inline(pointer, &part.mime_type, &part.encoded_data),
        UserPart::FileInlinePart(part) => file(pointer, &part.mime_type, &part.encoded_data),
        UserPart::ImageUrlPart(part) => elsewhere(pointer, &part.mime_type, part.url.as_str()),
        UserPart::FileUrlPart(part) => elsewhere(pointer, &part.mime_type, part.url.as_str()),
        UserPart::ImageBinaryPart(part) => as_bytes(pointer, &part.mime_type, &part.data),
        UserPart::FileBinaryPart(part) => as_bytes(pointer, &part.mime_type, &part.data),
    })
}

fn elsewhere<'a>(pointer: String, mime_type: &'a str, url: &str) -> Attachment<'a> {
    let url = beginning(url, LONGEST_NAME);
    Attachment {
        pointer: pointer + "/url",
        mime_type: beginning(mime_type, LONGEST_NAME),
        bytes: 0,
        image: Err(format!("it is elsewhere: {url}")),
    }
}

fn as_bytes<'a>(pointer: String, mime_type: &'a str, data: &str) -> Attachment<'a> {
    Attachment {
        pointer: pointer + "/data",
        mime_type: beginning(mime_type, LONGEST_NAME),
        bytes: data.len(),
        image: Err("it is no base64".to_owned()),
    }
}

/// Returns how many bytes base64 stands for.
fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() / 4 * 3 + base64.trim_end_matches('=').len() % 4 * 3 / 4
}

fn inline<'a>(pointer: String, mime_type: &'a str, base64: &'a str) -> Attachment<'a> {
    Attachment {
        pointer: pointer + "/encodedData",
        mime_type: beginning(mime_type, LONGEST_NAME),
        bytes: decoded_length(base64),
        image: image(base64),
    }
}

fn file<'a>(pointer: String, mime_type: &'a str, base64: &str) -> Attachment<'a> {
    Attachment {
        pointer: pointer + "/encodedData",
        mime_type: beginning(mime_type, LONGEST_NAME),
        bytes: decoded_length(base64),
        image: Err("it is a file".to_owned()),
    }
}

/// Reads an image, or says why it is not shown.
fn image(base64: &str) -> Result<Image<'_>, String> {
    if decoded_length(base64) > LARGEST_IMAGE {
        return Err(format!("it is larger than {} MiB", LARGEST_IMAGE >> 20));
    }
    let bytes = STANDARD.decode(base64);
    let bytes = bytes.map_err(|_| "it is no base64".to_owned())?;
    let mime_type = match image_type(&bytes) {
        Ok(ImageType::Png) => "image/png",
        Ok(ImageType::Jpeg) => "image/jpeg",
        Ok(ImageType::Gif) => "image/gif",
        Ok(ImageType::Webp) => "image/webp",
        _ => return Err("it is no png, jpeg, gif or webp".to_owned()),
    };
    let size = blob_size(&bytes).map_err(|_| "it is broken".to_owned())?;
    if size.width.saturating_mul(size.height) > MOST_PIXELS {
        return Err(format!(
            "it has more than {} million pixels",
            MOST_PIXELS / 1_000_000
        ));
    }
    Ok(Image {
        mime_type,
        width: size.width,
        height: size.height,
        base64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One red dot.
    const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = STANDARD.decode(DOT).unwrap();
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        bytes
    }

    #[test]
    fn images_are_known_by_their_bytes() {
        let dot = inline("/x".to_owned(), "image/svg+xml", DOT);
        assert_eq!((dot.pointer.as_str(), dot.bytes), ("/x/encodedData", 70));
        let image = dot.image.unwrap();
        assert_eq!(
            (image.mime_type, image.width, image.height),
            ("image/png", 1, 1)
        );
        let gif = STANDARD.encode(b"GIF89a\x03\0\x02\0\x80\0\0");
        assert_eq!(super::image(&gif).unwrap().mime_type, "image/gif");
    }

    #[test]
    fn what_could_act_or_fill_the_memory_is_only_named() {
        for (bytes, reason) in [
            (
                b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".to_vec(),
                "png, jpeg",
            ),
            (b"<html><script>alert(1)</script>".to_vec(), "png, jpeg"),
            (b"BM\0\0\0\0".to_vec(), "png, jpeg"),
            (Vec::new(), "png, jpeg"),
            (png(65_535, 65_535), "pixels"),
            (png(u32::MAX, u32::MAX), "pixels"),
            (b"\x89PNG\r\n\x1a\n\0\0\0\r".to_vec(), "broken"),
            (vec![0; LARGEST_IMAGE + 1], "larger than 4 MiB"),
        ] {
            let told = image(&STANDARD.encode(&bytes)).unwrap_err();
            assert!(told.contains(reason), "{told}, not {reason}");
        }
        for text in ["\"><script>", "aGk", "aGk=\" onerror=\"alert(1)", "é"] {
            assert_eq!(image(text).unwrap_err(), "it is no base64", "{text}");
        }
    }

    #[test]
    fn the_length_is_that_of_the_bytes() {
        for length in 0..20 {
            assert_eq!(decoded_length(&STANDARD.encode(vec![7; length])), length);
        }
    }
}
