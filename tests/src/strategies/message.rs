//! Messages, their parts, tool calls and results.

use proptest::prelude::*;
use runtape_core::{
    AnswerMessage, ExpertMessage, ExpertPart, FileBinaryPart, FileInlinePart, FileUrlPart,
    ImageBinaryPart, ImageInlinePart, ImageUrlPart, InputMessage, InstructionMessage,
    InstructionPart, Message, MessagePart, RetryMessage, SpokenMessage, TextPart, ThinkingPart,
    ToolCall, ToolCallPart, ToolMessage, ToolMessagePart, ToolResult, ToolResultContent,
    ToolResultPart, UserMessage, UserPart,
};

use super::leaf::{
    json, media_url, message_id, named_object, part_id, signed, text, tool_call_id, tool_name,
};
use super::{build, maybe, some};

fn text_part() -> BoxedStrategy<TextPart> {
    build!(TextPart {
        id: part_id(),
        text: text()
    })
}

fn image_url_part() -> BoxedStrategy<ImageUrlPart> {
    build!(ImageUrlPart {
        id: part_id(),
        url: media_url(),
        mime_type: text()
    })
}

fn image_inline_part() -> BoxedStrategy<ImageInlinePart> {
    build!(ImageInlinePart {
        id: part_id(),
        encoded_data: text(),
        mime_type: text()
    })
}

fn image_binary_part() -> BoxedStrategy<ImageBinaryPart> {
    build!(ImageBinaryPart {
        id: part_id(),
        data: text(),
        mime_type: text()
    })
}

fn file_url_part() -> BoxedStrategy<FileUrlPart> {
    build!(FileUrlPart {
        id: part_id(),
        url: media_url(),
        mime_type: text()
    })
}

fn file_inline_part() -> BoxedStrategy<FileInlinePart> {
    build!(FileInlinePart {
        id: part_id(),
        encoded_data: text(),
        mime_type: text()
    })
}

fn file_binary_part() -> BoxedStrategy<FileBinaryPart> {
    build!(FileBinaryPart {
        id: part_id(),
        data: text(),
        mime_type: text()
    })
}

fn thinking_part() -> BoxedStrategy<ThinkingPart> {
    build!(ThinkingPart {
        id: part_id(),
        thinking: text(),
        signature: maybe(text())
    })
}

fn tool_call_part() -> BoxedStrategy<ToolCallPart> {
    build!(ToolCallPart {
        id: part_id(),
        tool_call_id: tool_call_id(),
        tool_name: tool_name(),
        args: json(),
    })
}

fn tool_result_part() -> BoxedStrategy<ToolResultPart> {
    let content = prop_oneof![
        text_part().prop_map(ToolResultContent::from),
        image_inline_part().prop_map(ToolResultContent::from),
        file_inline_part().prop_map(ToolResultContent::from),
    ];
    build!(ToolResultPart {
        id: part_id(),
        tool_call_id: tool_call_id(),
        tool_name: tool_name(),
        contents: some(content),
        is_error: maybe(any::<bool>()),
    })
}

/// Any part of a message.
pub fn message_part() -> BoxedStrategy<MessagePart> {
    prop_oneof![
        text_part().prop_map(MessagePart::from),
        image_url_part().prop_map(MessagePart::from),
        image_inline_part().prop_map(MessagePart::from),
        image_binary_part().prop_map(MessagePart::from),
        file_url_part().prop_map(MessagePart::from),
        file_inline_part().prop_map(MessagePart::from),
        file_binary_part().prop_map(MessagePart::from),
        tool_call_part().prop_map(MessagePart::from),
        tool_result_part().prop_map(MessagePart::from),
        thinking_part().prop_map(MessagePart::from),
    ]
    .boxed()
}

fn instruction_message() -> BoxedStrategy<InstructionMessage> {
    build!(InstructionMessage {
        id: message_id(),
        contents: some(text_part().prop_map(InstructionPart::from)),
        cache: maybe(any::<bool>()),
        timestamp: maybe(signed()),
    })
}

fn user_message() -> BoxedStrategy<UserMessage> {
    let part = prop_oneof![
        text_part().prop_map(UserPart::from),
        image_url_part().prop_map(UserPart::from),
        image_inline_part().prop_map(UserPart::from),
        image_binary_part().prop_map(UserPart::from),
        file_url_part().prop_map(UserPart::from),
        file_inline_part().prop_map(UserPart::from),
        file_binary_part().prop_map(UserPart::from),
    ];
    build!(UserMessage {
        id: message_id(),
        contents: some(part),
        cache: maybe(any::<bool>()),
        timestamp: maybe(signed()),
    })
}

fn expert_message() -> BoxedStrategy<ExpertMessage> {
    let part = prop_oneof![
        text_part().prop_map(ExpertPart::from),
        tool_call_part().prop_map(ExpertPart::from),
        thinking_part().prop_map(ExpertPart::from),
    ];
    build!(ExpertMessage {
        id: message_id(),
        contents: some(part),
        cache: maybe(any::<bool>()),
        timestamp: maybe(signed()),
    })
}

fn tool_message() -> BoxedStrategy<ToolMessage> {
    build!(ToolMessage {
        id: message_id(),
        contents: some(tool_result_part().prop_map(ToolMessagePart::from)),
        cache: maybe(any::<bool>()),
        timestamp: maybe(signed()),
    })
}

/// Any message.
pub fn message() -> BoxedStrategy<Message> {
    prop_oneof![
        instruction_message().prop_map(Message::from),
        user_message().prop_map(Message::from),
        expert_message().prop_map(Message::from),
        tool_message().prop_map(Message::from),
    ]
    .boxed()
}

pub(super) fn input_message() -> BoxedStrategy<InputMessage> {
    prop_oneof![
        instruction_message().prop_map(InputMessage::from),
        user_message().prop_map(InputMessage::from),
        tool_message().prop_map(InputMessage::from),
    ]
    .boxed()
}

pub(super) fn retry_message() -> BoxedStrategy<RetryMessage> {
    prop_oneof![
        user_message().prop_map(RetryMessage::from),
        expert_message().prop_map(RetryMessage::from),
        tool_message().prop_map(RetryMessage::from),
    ]
    .boxed()
}

pub(super) fn answer_message() -> BoxedStrategy<AnswerMessage> {
    prop_oneof![
        user_message().prop_map(AnswerMessage::from),
        tool_message().prop_map(AnswerMessage::from),
    ]
    .boxed()
}

pub(super) fn spoken_message() -> BoxedStrategy<SpokenMessage> {
    expert_message().prop_map(SpokenMessage::from).boxed()
}

pub(super) fn tool_call() -> BoxedStrategy<ToolCall> {
    build!(ToolCall {
        id: tool_call_id(),
        skill_name: tool_name(),
        tool_name: tool_name(),
        args: named_object(),
    })
}

pub(super) fn tool_result() -> BoxedStrategy<ToolResult> {
    build!(ToolResult {
        id: tool_call_id(),
        skill_name: tool_name(),
        tool_name: tool_name(),
        result: some(message_part()),
    })
}
