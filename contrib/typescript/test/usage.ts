// Compiled with `tsc --strict`, never run: what these types let a program say, and what they do not.

import { isKnown, parse, validate, type Checkpoint, type Event, type KnownRunEvent, type Message, type RunInfo } from "../index.js";

/** Every event has an id, whatever its type. */
export function idOf(event: Event): string {
  return event.id;
}

/** A known type narrows to its variant, with all of its fields. */
export function describe(event: KnownRunEvent): string {
  switch (event.type) {
    case "callTools":
      return event.toolCalls.map((call) => call.toolName).join(", ");
    case "completeRun":
      return `${event.text} (${event.usage.totalTokens} tokens, run ${event.runId})`;
    case "stopRunByError":
      return event.error.message;
    default:
      return event.type;
  }
}

export function texts(checkpoint: Checkpoint): string[] {
  return checkpoint.messages.flatMap((message: Message) =>
    message.contents.flatMap((part) => (part.type === "textPart" ? [part.text] : [])),
  );
}

export function read(line: string): string {
  const value: unknown = JSON.parse(line);
  if (isKnown("run-event", value)) {
    return value.type === "streamReasoning" ? value.delta : value.id;
  }
  const result = validate("run-event", value);
  return result.verdict === "invalid" ? (result.faults[0]?.message ?? "") : result.verdict;
}

export const run: RunInfo = parse("run-info", "{}");

// @ts-expect-error: a known type has no other name
export const wrong: KnownRunEvent["type"] = "callMoon";

export function missing(event: KnownRunEvent): unknown {
  // @ts-expect-error: not every event has the calls
  return event.toolCalls.length;
}
