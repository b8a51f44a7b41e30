// Generated from schemas/v1 by `.ci/generate typescript`; changes are lost.

/**
 * Where an agent CLI takes its prompt from.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "PromptPlace".
 */
export type PromptPlace = "stdin" | "argument";
/**
 * A message that answers the model's calls.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AnswerMessage".
 */
export type AnswerMessage = UserMessage | ToolMessage;
/**
 * Names a message.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "MessageId".
 */
export type MessageId = string;
/**
 * A part of what a user said.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UserPart".
 */
export type UserPart =
  TextPart | ImageUrlPart | ImageInlinePart | ImageBinaryPart | FileUrlPart | FileInlinePart | FileBinaryPart;
/**
 * Names one part of a message.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "PartId".
 */
export type PartId = string;
/**
 * An absolute URL: a scheme and something behind it, without white space; for http, https, ws, wss and ftp with a host.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "MediaUrl".
 */
export type MediaUrl = string;
/**
 * A part of a tool message: one result.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolMessagePart".
 */
export type ToolMessagePart = ToolResultPart;
/**
 * Names a tool call; its result carries the same id.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolCallId".
 */
export type ToolCallId = string;
/**
 * The name of a tool, or of the skill that offers it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolName".
 */
export type ToolName = string;
/**
 * A piece of a tool's result.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolResultContent".
 */
export type ToolResultContent = TextPart | ImageInlinePart | FileInlinePart;
/**
 * Names an event.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "EventId".
 */
export type EventId = string;
/**
 * Names a job, a set of runs that belong together. Safe as a path name.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "JobId".
 */
export type JobId = string;
/**
 * Names a run, one execution of one expert on one runtime. Safe as a path name.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunId".
 */
export type RunId = string;
/**
 * Any part of a message.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "MessagePart".
 */
export type MessagePart =
  | TextPart
  | ImageUrlPart
  | ImageInlinePart
  | ImageBinaryPart
  | FileUrlPart
  | FileInlinePart
  | FileBinaryPart
  | ToolCallPart
  | ToolResultPart
  | ThinkingPart;
/**
 * How far the build of a container is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "BuildStage".
 */
export type BuildStage = "pulling" | "building" | "complete" | "error";
/**
 * A message of the model, where no other can stand.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SpokenMessage".
 */
export type SpokenMessage = ExpertMessage;
/**
 * A part of what the model said, in the order the runtime gave it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExpertPart".
 */
export type ExpertPart = TextPart | ToolCallPart | ThinkingPart;
/**
 * What a tool is for: the same words for every runtime, whatever it calls its tools.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolClass".
 */
export type ToolClass =
  "shell" | "read" | "write" | "search" | "network" | "delegate" | "publish" | "schedule" | "mcp" | "other";
/**
 * How much a check matters.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CheckLevel".
 */
export type CheckLevel = "info" | "warn" | "error";
/**
 * Names a checkpoint, the state at the end of a step. Safe as a path name.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CheckpointId".
 */
export type CheckpointId = string;
/**
 * Where a run stands.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CheckpointStatus".
 */
export type CheckpointStatus =
  | "init"
  | "proceeding"
  | "completed"
  | "stoppedByInteractiveTool"
  | "stoppedByDelegate"
  | "stoppedByExceededMaxSteps"
  | "stoppedByError";
/**
 * One message of a conversation.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Message".
 */
export type Message = InstructionMessage | UserMessage | ExpertMessage | ToolMessage;
/**
 * A part of an instruction.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InstructionPart".
 */
export type InstructionPart = TextPart;
/**
 * The program that did the work. Names beyond the examples may be added.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Runtime".
 */
export type Runtime = string;
/**
 * What kind of failure it was, so that a program can decide what to do next.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ErrorFamily".
 */
export type ErrorFamily =
  | "auth"
  | "rateLimit"
  | "billing"
  | "overload"
  | "contextOverflow"
  | "refusal"
  | "unknownSession"
  | "modelNotFound"
  | "network"
  | "turnLimit"
  | "budget"
  | "process"
  | "other";
/**
 * A stream on the tape.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Stream".
 */
export type Stream = "stdout" | "stderr" | "stdin" | "history";
/**
 * A message that a run or step begins with.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InputMessage".
 */
export type InputMessage = InstructionMessage | UserMessage | ToolMessage;
/**
 * The state of a container.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ContainerStatus".
 */
export type ContainerStatus = "starting" | "running" | "healthy" | "unhealthy" | "stopped" | "error";
/**
 * What became of a run that was to be copied.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CopyOutcome".
 */
export type CopyOutcome = "stored" | "skipped" | "open" | "differs" | "failed";
/**
 * A line of what `push` and `pull` print: one for each run, and a summary at the end.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CopyLine".
 */
export type CopyLine = CopiedRun | CopySummary;
/**
 * What all checks together come to.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DoctorStatus".
 */
export type DoctorStatus = "pass" | "warn" | "fail";
/**
 * A time as ISO 8601 in UTC, to the millisecond.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Time".
 */
export type Time = string;
/**
 * What was not understood.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DriftKind".
 */
export type DriftKind = "line" | "key";
/**
 * An event of either kind.
 *
 * A known type tells which kind it is. Of an unknown type, an event with an `expertKey` is a run event: that is how Perstack's readers tell them apart.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Event".
 */
export type Event = KnownRunEvent | KnownRuntimeEvent | UnknownRunEvent | UnknownRuntimeEvent;
/**
 * One event of a run, in Perstack's shape. Of a type that this version of the schema knows.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "KnownRunEvent".
 */
export type KnownRunEvent =
  | StartRunEvent
  | StartGenerationEvent
  | RetryEvent
  | CallToolsEvent
  | CallInteractiveToolEvent
  | CallDelegateEvent
  | ResolveToolResultsEvent
  | AttemptCompletionEvent
  | FinishToolCallEvent
  | ResumeToolCallsEvent
  | FinishAllToolCallsEvent
  | ContinueToNextStepEvent
  | StopRunByInteractiveToolEvent
  | StopRunByDelegateEvent
  | StopRunByExceededMaxStepsEvent
  | StopRunByErrorEvent
  | CompleteRunEvent
  | StartStreamingReasoningEvent
  | StreamReasoningEvent
  | CompleteStreamingReasoningEvent
  | StartStreamingRunResultEvent
  | StreamRunResultEvent
  | CompleteStreamingRunResultEvent;
/**
 * A message that a retry adds.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RetryMessage".
 */
export type RetryMessage = UserMessage | ExpertMessage | ToolMessage;
/**
 * One event around a run, in Perstack's shape. Of a type that this version of the schema knows.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "KnownRuntimeEvent".
 */
export type KnownRuntimeEvent =
  | InitializeRuntimeEvent
  | SkillStartingEvent
  | SkillConnectedEvent
  | SkillStderrEvent
  | SkillDisconnectedEvent
  | DockerBuildProgressEvent
  | DockerContainerStatusEvent
  | ProxyAccessEvent
  | ApiRetryEvent
  | RateLimitEvent
  | PermissionDeniedEvent
  | CompactionEvent
  | HookEvent
  | ModelFallbackEvent
  | TaskEvent
  | ConnectionEvent
  | InteractionEvent
  | WarningEvent
  | EarlierResultEvent
  | ExitMismatchEvent
  | HistoryMismatchEvent
  | ProcessExitEvent
  | StderrTextEvent
  | StdoutTextEvent
  | InfoEvent
  | UnparsedOutputEvent
  | StreamTextEvent
  | StreamToolCallEvent
  | StreamToolResultEvent;
/**
 * What a proxy did with a request.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ProxyAction".
 */
export type ProxyAction = "allowed" | "blocked";
/**
 * What a streamed piece belongs to.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamChannel".
 */
export type StreamChannel = "text" | "thinking";
/**
 * What happened around a run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RuntimeEventKind".
 */
export type RuntimeEventKind = KnownRuntimeEventKind | UnknownRuntimeEventKind;
/**
 * What happened around a run. Of a type that this version of the schema knows.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "KnownRuntimeEventKind".
 */
export type KnownRuntimeEventKind =
  | InitializeRuntime
  | SkillStarting
  | SkillConnected
  | SkillStderr
  | SkillDisconnected
  | DockerBuildProgress
  | DockerContainerStatus
  | ProxyAccess
  | ApiRetry
  | RateLimit
  | PermissionDenied
  | Compaction
  | Hook
  | ModelFallback
  | Task
  | Connection
  | Interaction
  | Warning
  | EarlierResult
  | ExitMismatch
  | HistoryMismatch
  | ProcessExit
  | StderrText
  | StdoutText
  | Info
  | UnparsedOutput
  | StreamText
  | StreamToolCall
  | StreamToolResult;
/**
 * A place in the database.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlace".
 */
export type FaultPlace =
  FaultPlaceFile | FaultPlaceRun | FaultPlaceRecord | FaultPlaceTape | FaultPlaceRow | FaultPlaceSeal;
/**
 * What a tool did with a file, as far as its class tells.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FileAccess".
 */
export type FileAccess = "read" | "write" | "delete" | "search";
/**
 * How it is known what a call touched, where the call does not say it itself.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "KnownBy".
 */
export type KnownBy = "shell" | "guess";
/**
 * Where in a run something was found.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SecretPlace".
 */
export type SecretPlace = SecretPlaceContext | SecretPlaceRecord | SecretPlaceTape;
/**
 * What became of one file or run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "IngestOutcome".
 */
export type IngestOutcome = "stored" | "skipped" | "unusable";
/**
 * How a run went.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Outcome".
 */
export type Outcome = "running" | "completed" | "failed" | "limit" | "interrupted" | "unfinished";
/**
 * A line of what `ingest` prints: one for each file, and a summary at the end.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "IngestLine".
 */
export type IngestLine = IngestedFile | IngestSummary;
/**
 * Where a job stands.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "JobStatus".
 */
export type JobStatus = "running" | "completed" | "stoppedByMaxSteps" | "stoppedByInteractiveTool" | "stoppedByError";
/**
 * One kept record of a run. Of a type that this version of the schema knows.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "KnownRecord".
 */
export type KnownRecord =
  | RunOpenedRecord
  | MetadataPatchRecord
  | InitializeRecord
  | StartRecord
  | MessageRecord
  | UsageEntryRecord
  | CheckpointHeadRecord
  | EventRecord;
/**
 * Where a number of tokens comes from.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UsageSource".
 */
export type UsageSource = "response" | "total" | "remainder";
/**
 * One entry of a transcript. Of a type that this version of the schema knows.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "KnownTranscriptEntry".
 */
export type KnownTranscriptEntry =
  | TranscriptAssistantEntry
  | TranscriptThinkingEntry
  | TranscriptUserEntry
  | TranscriptToolCallEntry
  | TranscriptToolResultEntry
  | TranscriptInitEntry
  | TranscriptRunResultEntry
  | TranscriptStderrEntry
  | TranscriptSystemEntry
  | TranscriptStdoutEntry
  | TranscriptDiffEntry;
/**
 * One kept record of a run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Record".
 */
export type Record = KnownRecord | UnknownRecord;
/**
 * Where a recovered run came from.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RecoverySource".
 */
export type RecoverySource = "tape" | "spool";
/**
 * A line of what `redact` prints.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RedactLine".
 */
export type RedactLine = RedactedRun | FoundMarker | RedactSummary;
/**
 * Why a seal no longer covers a run: it was deleted, its records were made again from its tape, its tape was dropped, a new seal covers more of it, or secrets were taken out of it. Names beyond the examples may be added.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RemovalReason".
 */
export type RemovalReason = string;
/**
 * One event of a run, in Perstack's shape.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunEvent".
 */
export type RunEvent = KnownRunEvent | UnknownRunEvent;
/**
 * One event around a run, in Perstack's shape.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RuntimeEvent".
 */
export type RuntimeEvent = KnownRuntimeEvent | UnknownRuntimeEvent;
/**
 * A line of what `scan` prints.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ScanLine".
 */
export type ScanLine = FoundSecret | ScanSummary;
/**
 * Who a record comes from.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SearchRole".
 */
export type SearchRole = "user" | "instruction" | "expert" | "tool" | "error" | "notice";
/**
 * A line of what `sync` prints: one for each session that was read or could not be, and a summary at the end.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SyncLine".
 */
export type SyncLine = SyncedSource | SyncSummary;
/**
 * One entry of a transcript.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptEntry".
 */
export type TranscriptEntry = KnownTranscriptEntry | UnknownTranscriptEntry;
/**
 * A line of what `import` prints of job trees.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TreeLine".
 */
export type TreeLine = TreeRun | TreeFault;
/**
 * What became of a run of a job tree.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TreeOutcome".
 */
export type TreeOutcome = "stored" | "skipped" | "differs";
/**
 * Which version of Perstack wrote a job tree, as far as its files tell.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TreeVintage".
 */
export type TreeVintage = "seed" | "epic" | "head";
/**
 * What verifying could not see.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Unseen".
 */
export type Unseen = "cutOffTail" | "newHashes";
/**
 * A line of what `validate` prints: what is wrong or unknown, and how many lines there were.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ValidationLine".
 */
export type ValidationLine = ValidationFault | ValidationUnknown | ValidationCounts;

/**
 * What Paperclip's host may do with a runtime.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AdapterCapabilities".
 */
export interface AdapterCapabilities {
  /**
   * Whether the host makes a token for the agent to call it back with.
   */
  supportsLocalAgentJwt: boolean;
  /**
   * Whether the host keeps the agent's instructions.
   */
  supportsInstructionsBundle: boolean;
  /**
   * The configuration key that holds the path of the instructions; null if the host does not keep them.
   */
  instructionsPathKey: string | null;
  /**
   * Whether skills must be written to disk before a run.
   */
  requiresMaterializedRuntimeSkills: boolean;
  [k: string]: unknown;
}
/**
 * The command line of an agent CLI.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AdapterCommand".
 */
export interface AdapterCommand {
  /**
   * The program.
   */
  program: string;
  /**
   * Its arguments, each a word of its own: no shell sees them.
   */
  arguments: string[];
  /**
   * What may be logged of them: prompt and secrets replaced.
   */
  loggedArguments: string[];
  /**
   * Where the prompt goes.
   */
  prompt: PromptPlace;
  /**
   * Why the CLI must not be started; null if it can be.
   */
  fault: AdapterFault | null;
  [k: string]: unknown;
}
/**
 * What is wrong with a configuration or a request.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AdapterFault".
 */
export interface AdapterFault {
  /**
   * For programs, in lower case with underscores.
   */
  code: string;
  /**
   * For people.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * The environment of an agent CLI.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AdapterEnvironment".
 */
export interface AdapterEnvironment {
  /**
   * Every variable with its value, and no other: secrets are among them.
   */
  variables: {
    [k: string]: unknown;
  };
  /**
   * What may be logged: the variables that the adapter set, secrets replaced.
   */
  logged: {
    [k: string]: unknown;
  };
  /**
   * The names of the server's variables that were kept from the agent, sorted.
   */
  withheld: string[];
  /**
   * The directory in which the CLI looks for skills; null if its command line names one.
   */
  skillsHome: string | null;
  [k: string]: unknown;
}
/**
 * Whether the next run goes on with a stored session.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AdapterSession".
 */
export interface AdapterSession {
  /**
   * The session to resume; null for a new one.
   */
  resume: string | null;
  /**
   * Why there is none to resume: `no_session`, `other_directory`, `other_runtime` …; null if there is one. More may be added.
   */
  reason: string | null;
  /**
   * The same for people; null if there is a session, or never was one.
   */
  message: string | null;
  [k: string]: unknown;
}
/**
 * What a user said.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UserMessage".
 */
export interface UserMessage {
  /**
   * Tells that it is this: `userMessage`.
   */
  type: "userMessage";
  /**
   * Names this message.
   */
  id: MessageId;
  /**
   * What it is made of.
   */
  contents: UserPart[];
  /**
   * Whether a provider may cache the prompt up to here.
   */
  cache?: boolean;
  /**
   * When it was said, in milliseconds since 1970.
   */
  timestamp?: number;
  [k: string]: unknown;
}
/**
 * Plain text.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TextPart".
 */
export interface TextPart {
  /**
   * Tells that it is this: `textPart`.
   */
  type: "textPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The text, exactly as it was given.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * An image to be found at a URL.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ImageUrlPart".
 */
export interface ImageUrlPart {
  /**
   * Tells that it is this: `imageUrlPart`.
   */
  type: "imageUrlPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * Where the image is.
   */
  url: MediaUrl;
  /**
   * The image's media type.
   */
  mimeType: string;
  [k: string]: unknown;
}
/**
 * An image carried in the message as base64.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ImageInlinePart".
 */
export interface ImageInlinePart {
  /**
   * Tells that it is this: `imageInlinePart`.
   */
  type: "imageInlinePart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The image, base64.
   */
  encodedData: string;
  /**
   * The image's media type.
   */
  mimeType: string;
  [k: string]: unknown;
}
/**
 * An image carried in the message as a string of bytes.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ImageBinaryPart".
 */
export interface ImageBinaryPart {
  /**
   * Tells that it is this: `imageBinaryPart`.
   */
  type: "imageBinaryPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The image's bytes.
   */
  data: string;
  /**
   * The image's media type.
   */
  mimeType: string;
  [k: string]: unknown;
}
/**
 * A file to be found at a URL.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FileUrlPart".
 */
export interface FileUrlPart {
  /**
   * Tells that it is this: `fileUrlPart`.
   */
  type: "fileUrlPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * Where the file is.
   */
  url: MediaUrl;
  /**
   * The file's media type.
   */
  mimeType: string;
  [k: string]: unknown;
}
/**
 * A file carried in the message as base64.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FileInlinePart".
 */
export interface FileInlinePart {
  /**
   * Tells that it is this: `fileInlinePart`.
   */
  type: "fileInlinePart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The file, base64.
   */
  encodedData: string;
  /**
   * The file's media type.
   */
  mimeType: string;
  [k: string]: unknown;
}
/**
 * A file carried in the message as a string of bytes.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FileBinaryPart".
 */
export interface FileBinaryPart {
  /**
   * Tells that it is this: `fileBinaryPart`.
   */
  type: "fileBinaryPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The file's bytes.
   */
  data: string;
  /**
   * The file's media type.
   */
  mimeType: string;
  [k: string]: unknown;
}
/**
 * What the tools gave back.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolMessage".
 */
export interface ToolMessage {
  /**
   * Tells that it is this: `toolMessage`.
   */
  type: "toolMessage";
  /**
   * Names this message.
   */
  id: MessageId;
  /**
   * What it is made of.
   */
  contents: ToolMessagePart[];
  /**
   * Whether a provider may cache the prompt up to here.
   */
  cache?: boolean;
  /**
   * When it was said, in milliseconds since 1970.
   */
  timestamp?: number;
  [k: string]: unknown;
}
/**
 * What a tool gave back.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolResultPart".
 */
export interface ToolResultPart {
  /**
   * Tells that it is this: `toolResultPart`.
   */
  type: "toolResultPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The call this answers.
   */
  toolCallId: ToolCallId;
  /**
   * The tool's name.
   */
  toolName: ToolName;
  /**
   * The result, empty if the runtime printed none.
   */
  contents: ToolResultContent[];
  /**
   * Whether the call failed; absent when the runtime did not tell.
   */
  isError?: boolean;
  [k: string]: unknown;
}
/**
 * The runtime tries a model request again.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ApiRetry".
 */
export interface ApiRetry {
  /**
   * Tells that it is this: `apiRetry`.
   */
  type: "apiRetry";
  /**
   * Which try failed, counted from 1.
   */
  attempt?: number;
  /**
   * How many tries there will be at the most.
   */
  maxAttempts?: number;
  /**
   * Milliseconds until the next try.
   */
  delayMs?: number;
  /**
   * The HTTP status that made it necessary.
   */
  statusCode?: number;
  /**
   * What the runtime said about it.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * The runtime tries a model request again.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ApiRetryEvent".
 */
export interface ApiRetryEvent {
  /**
   * Tells that it is this: `apiRetry`.
   */
  type: "apiRetry";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Which try failed, counted from 1.
   */
  attempt?: number;
  /**
   * How many tries there will be at the most.
   */
  maxAttempts?: number;
  /**
   * Milliseconds until the next try.
   */
  delayMs?: number;
  /**
   * The HTTP status that made it necessary.
   */
  statusCode?: number;
  /**
   * What the runtime said about it.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * By which rules secrets were taken out of what is kept of a run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AppliedRules".
 */
export interface AppliedRules {
  /**
   * What was looked for: `off`, `definite` or `broad`. Names may be added.
   */
  tier: string;
  /**
   * The name and version of the rule set; not there if nothing was looked for.
   */
  rules?: string;
  /**
   * The digest of all rules that were applied, those of the user included.
   */
  digest?: string;
  /**
   * The key under which markers tell the same secret from another; not there if they do not.
   */
  keyId?: string;
  [k: string]: unknown;
}
/**
 * The model said that it is done.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "AttemptCompletionEvent".
 */
export interface AttemptCompletionEvent {
  /**
   * Tells that it is this: `attemptCompletion`.
   */
  type: "attemptCompletion";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The result of the call by which it said so.
   */
  toolResult: ToolResult;
  [k: string]: unknown;
}
/**
 * What a tool gave back.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolResult".
 */
export interface ToolResult {
  /**
   * The call this answers.
   */
  id: ToolCallId;
  /**
   * The skill that offers the tool.
   */
  skillName: ToolName;
  /**
   * The tool's name.
   */
  toolName: ToolName;
  /**
   * The result's parts.
   */
  result: MessagePart[];
  [k: string]: unknown;
}
/**
 * The model asks for a tool to be run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolCallPart".
 */
export interface ToolCallPart {
  /**
   * Tells that it is this: `toolCallPart`.
   */
  type: "toolCallPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * Names the call; the result carries the same id.
   */
  toolCallId: ToolCallId;
  /**
   * The tool's name.
   */
  toolName: ToolName;
  /**
   * The tool's arguments as the runtime printed them; null when it printed none.
   */
  args: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The model's reasoning.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ThinkingPart".
 */
export interface ThinkingPart {
  /**
   * Tells that it is this: `thinkingPart`.
   */
  type: "thinkingPart";
  /**
   * Names this part.
   */
  id: PartId;
  /**
   * The reasoning; empty where the model's maker withholds it.
   */
  thinking: string;
  /**
   * The model maker's signature or encrypted form of the reasoning.
   */
  signature?: string;
  [k: string]: unknown;
}
/**
 * A copy of the database that was written.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "BackupReport".
 */
export interface BackupReport {
  /**
   * The file.
   */
  file: string;
  /**
   * Its bytes.
   */
  bytes: number;
  [k: string]: unknown;
}
/**
 * The model handed work to other experts.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CallDelegateEvent".
 */
export interface CallDelegateEvent {
  /**
   * Tells that it is this: `callDelegate`.
   */
  type: "callDelegate";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * What the model said, calls included.
   */
  newMessage: SpokenMessage;
  /**
   * The calls.
   */
  toolCalls: ToolCall[];
  /**
   * What this turn of the model used.
   */
  usage: Usage;
  [k: string]: unknown;
}
/**
 * What the model said: thinking, text and tool calls.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExpertMessage".
 */
export interface ExpertMessage {
  /**
   * Tells that it is this: `expertMessage`.
   */
  type: "expertMessage";
  /**
   * Names this message.
   */
  id: MessageId;
  /**
   * What it is made of.
   */
  contents: ExpertPart[];
  /**
   * Whether a provider may cache the prompt up to here.
   */
  cache?: boolean;
  /**
   * When it was said, in milliseconds since 1970.
   */
  timestamp?: number;
  [k: string]: unknown;
}
/**
 * A request of the model to run a tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolCall".
 */
export interface ToolCall {
  /**
   * Names the call.
   */
  id: ToolCallId;
  /**
   * The skill that offers the tool; for an agent CLI's own tools the runtime's name.
   */
  skillName: ToolName;
  /**
   * The tool's name.
   */
  toolName: ToolName;
  /**
   * The tool's arguments by name. What is not such an object is wrapped under `input`.
   */
  args: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * Tokens used, in Perstack's five counters.
 *
 * The same meaning for every runtime: a prompt token is counted under exactly one of `inputTokens` and `cachedInputTokens`, a generated one under `outputTokens`.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Usage".
 */
export interface Usage {
  /**
   * Prompt tokens that were not read from a cache; cache writes are included.
   */
  inputTokens: number;
  /**
   * All generated tokens, reasoning included.
   */
  outputTokens: number;
  /**
   * The part of the generated tokens that was reasoning.
   */
  reasoningTokens: number;
  /**
   * Input, cached input and output tokens together.
   */
  totalTokens: number;
  /**
   * Prompt tokens that were read from a cache.
   */
  cachedInputTokens: number;
  [k: string]: unknown;
}
/**
 * The model called a tool that a person has to answer.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CallInteractiveToolEvent".
 */
export interface CallInteractiveToolEvent {
  /**
   * Tells that it is this: `callInteractiveTool`.
   */
  type: "callInteractiveTool";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * What the model said, the call included.
   */
  newMessage: SpokenMessage;
  /**
   * The call.
   */
  toolCall: ToolCall;
  /**
   * What this turn of the model used.
   */
  usage: Usage;
  [k: string]: unknown;
}
/**
 * What is known of a tool call beyond its arguments.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CallNote".
 */
export interface CallNote {
  /**
   * The call.
   */
  toolCallId: ToolCallId;
  /**
   * The id as the runtime printed it, where it was too long to be one.
   */
  printedId?: string;
  /**
   * What the tool is for; absent in records from before classes were known.
   */
  class?: ToolClass;
  /**
   * The shell command it runs.
   */
  command?: string;
  /**
   * The files it reads or writes.
   */
  paths?: string[];
  /**
   * The URL it fetches.
   */
  url?: string;
  [k: string]: unknown;
}
/**
 * The model called tools, all calls of one turn together.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CallToolsEvent".
 */
export interface CallToolsEvent {
  /**
   * Tells that it is this: `callTools`.
   */
  type: "callTools";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * What the model said, calls included.
   */
  newMessage: SpokenMessage;
  /**
   * The calls.
   */
  toolCalls: ToolCall[];
  /**
   * What this turn of the model used.
   */
  usage: Usage;
  [k: string]: unknown;
}
/**
 * The state of a run at the end of a step.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Checkpoint".
 */
export interface Checkpoint {
  /**
   * Names the checkpoint; each step has its own.
   */
  id: CheckpointId;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Where the run stands.
   */
  status: CheckpointStatus;
  /**
   * The step that ended here.
   */
  stepNumber: number;
  /**
   * All messages of the run so far.
   */
  messages: Message[];
  /**
   * The expert that the run was given to.
   */
  expert: Expert;
  /**
   * Work handed to other experts that the run waits for.
   */
  delegateTo?: DelegationTarget[];
  /**
   * Where a child run came from.
   */
  delegatedBy?: DelegatedBy;
  /**
   * What the run used so far.
   */
  usage: Usage;
  /**
   * The model's context window in tokens.
   */
  contextWindow?: number;
  /**
   * How much of the context window is used, from 0 to 1.
   */
  contextWindowUsage?: number;
  /**
   * Calls without a result.
   */
  pendingToolCalls?: ToolCall[];
  /**
   * Results of some of the calls, while others are pending.
   */
  partialToolResults?: ToolResult[];
  /**
   * What is known beyond Perstack's fields; open.
   */
  metadata?: Metadata;
  /**
   * Why the run failed.
   */
  error?: RunError;
  /**
   * How often the step was tried again.
   */
  retryCount?: number;
  [k: string]: unknown;
}
/**
 * What the expert is told to be.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InstructionMessage".
 */
export interface InstructionMessage {
  /**
   * Tells that it is this: `instructionMessage`.
   */
  type: "instructionMessage";
  /**
   * Names this message.
   */
  id: MessageId;
  /**
   * What it is made of.
   */
  contents: InstructionPart[];
  /**
   * Whether a provider may cache the prompt up to here.
   */
  cache?: boolean;
  /**
   * When it was said, in milliseconds since 1970.
   */
  timestamp?: number;
  [k: string]: unknown;
}
/**
 * The expert that a run was given to.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Expert".
 */
export interface Expert {
  /**
   * Names the expert.
   */
  key: string;
  /**
   * The name for people.
   */
  name: string;
  /**
   * The expert's version; for an agent CLI without an expert the CLI's.
   */
  version: string;
  [k: string]: unknown;
}
/**
 * A piece of work handed to another expert.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DelegationTarget".
 */
export interface DelegationTarget {
  /**
   * The expert that is to do it.
   */
  expert: Expert;
  /**
   * The call that hands it over.
   */
  toolCallId: ToolCallId;
  /**
   * The tool's name.
   */
  toolName: ToolName;
  /**
   * What is asked for.
   */
  query: string;
  [k: string]: unknown;
}
/**
 * Where a child run came from.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DelegatedBy".
 */
export interface DelegatedBy {
  /**
   * The expert of the parent run.
   */
  expert: Expert;
  /**
   * The parent's call that started the child.
   */
  toolCallId: ToolCallId;
  /**
   * The tool's name.
   */
  toolName: ToolName;
  /**
   * The parent's checkpoint of the step that made the call.
   */
  checkpointId: CheckpointId;
  /**
   * The parent run.
   */
  runId: RunId;
  [k: string]: unknown;
}
/**
 * What is known of a run beyond Perstack's fields. Open: other keys may be present.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Metadata".
 */
export interface Metadata {
  runtime?: Runtime;
  /**
   * An agent CLI did the work, rather than Perstack itself.
   */
  externalExecution?: boolean;
  /**
   * The session to resume.
   */
  sessionId?: string;
  /**
   * The model's name as the runtime gave it.
   */
  model?: string;
  /**
   * The agent CLI's version.
   */
  cliVersion?: string;
  /**
   * The directory it worked in.
   */
  cwd?: string;
  /**
   * The command line.
   */
  argv?: string[];
  /**
   * The machine it ran on.
   */
  host?: string;
  /**
   * The user it ran as.
   */
  user?: string;
  /**
   * What the agent may do without asking, by the runtime's own word for it.
   */
  permissionMode?: string;
  /**
   * The commit that the working directory was at when the run began.
   */
  gitCommit?: string;
  /**
   * The branch that the working directory was on when the run began.
   */
  gitBranch?: string;
  /**
   * Labels that whoever started the run gave it: an object of texts.
   */
  labels?: {
    [k: string]: unknown;
  };
  /**
   * The exit code of the process.
   */
  exitCode?: number;
  /**
   * The exit code is not known.
   */
  exitUnknown?: boolean;
  /**
   * The signal that ended the process.
   */
  signal?: string;
  /**
   * When the process began, in milliseconds since 1970, by the clock of the recorder that ran it.
   */
  startedAt?: number;
  /**
   * When the process ended, in milliseconds since 1970, by the clock of the recorder that ran it.
   */
  finishedAt?: number;
  /**
   * How long the run took, in milliseconds, as the runtime reported it.
   */
  durationMs?: number;
  /**
   * What the run cost in US dollars, as reported.
   */
  costUsd?: number;
  /**
   * The usage objects as the runtime printed them.
   */
  rawUsage?: {
    [k: string]: unknown;
  };
  /**
   * Usage counters that are 0 only because nobody reported them.
   */
  usageUnknown?: string[];
  /**
   * The output format that was read.
   */
  outputFormat?: string;
  /**
   * The version of the parser that made the records.
   */
  parserVersion?: string;
  /**
   * How many lines no parser understood.
   */
  unparsedLines?: number;
  /**
   * Where times come from; `file` means a file's modification time.
   */
  timeSource?: string;
  [k: string]: unknown;
}
/**
 * Why a run failed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunError".
 */
export interface RunError {
  /**
   * `ApiError` for what the model's API refused; `TruncatedOutput`, `NonZeroExit`, `KilledBySignal`, `TimedOut`, `RecorderLost`, `ParentEnded`; `Unfinished` where history stops without proof of an end; `UnclearResult` where a result does not say in the runtime's documented way how the run went; else the runtime's own name.
   */
  name: string;
  /**
   * What went wrong, for people.
   */
  message: string;
  /**
   * The HTTP status of the model's API.
   */
  statusCode?: number;
  /**
   * Whether the same run may succeed later.
   */
  isRetryable: boolean;
  /**
   * What kind of failure it was.
   */
  family?: ErrorFamily;
  /**
   * Not before this time, in milliseconds since 1970, where the runtime gave one.
   */
  retryAt?: number;
  [k: string]: unknown;
}
/**
 * What changed between two checkpoints.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CheckpointDiff".
 */
export interface CheckpointDiff {
  /**
   * The first checkpoint.
   */
  from: CheckpointId;
  /**
   * The second checkpoint.
   */
  to: CheckpointId;
  /**
   * The fields that differ, messages left out.
   */
  changes: FieldChange[];
  /**
   * How many messages both begin with.
   */
  sameMessages: number;
  /**
   * The messages of the first checkpoint after those, without ids.
   */
  removedMessages: {
    [k: string]: unknown;
  }[];
  /**
   * The messages of the second checkpoint after those, without ids.
   */
  addedMessages: {
    [k: string]: unknown;
  }[];
  [k: string]: unknown;
}
/**
 * A field that differs.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FieldChange".
 */
export interface FieldChange {
  /**
   * The field, as a JSON pointer into the checkpoint.
   */
  path: string;
  /**
   * Its value in the first checkpoint; null if it is not there.
   */
  from: {
    [k: string]: unknown;
  };
  /**
   * Its value in the second checkpoint; null if it is not there.
   */
  to: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The state at the end of a step, without what other records hold.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CheckpointHeadRecord".
 */
export interface CheckpointHeadRecord {
  /**
   * Tells that it is this: `checkpoint`.
   */
  type: "checkpoint";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * The step that ended.
   */
  step: number;
  /**
   * Where the run stands; a terminal status ends it.
   */
  status: CheckpointStatus;
  /**
   * How many messages the run has so far.
   */
  messages: number;
  /**
   * What the run used so far.
   */
  usage: TokenCounts;
  /**
   * What the step used.
   */
  stepUsage: TokenCounts;
  /**
   * When the step began, in milliseconds since 1970.
   */
  startedAt: number;
  /**
   * Calls without a result, of this step or an earlier one.
   */
  pending?: ToolCallId[];
  /**
   * The answer, where it is not the text of the last message.
   */
  text?: string;
  /**
   * Why the run failed.
   */
  error?: RunError;
  [k: string]: unknown;
}
/**
 * A half-open range of bytes in one stream of the tape.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Span".
 */
export interface Span {
  /**
   * Which stream.
   */
  stream: Stream;
  /**
   * The first byte.
   */
  start: number;
  /**
   * The byte after the last one.
   */
  end: number;
  [k: string]: unknown;
}
/**
 * Tokens used, where each counter may be unknown.
 *
 * Unknown is never zero: a counter nobody reported is absent here, and 0 in a checkpoint's `usage` only together with its name in `metadata.usageUnknown`.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TokenCounts".
 */
export interface TokenCounts {
  /**
   * Prompt tokens that were not read from a cache; cache writes are included.
   */
  inputTokens?: number;
  /**
   * All generated tokens, reasoning included.
   */
  outputTokens?: number;
  /**
   * The part of the generated tokens that was reasoning.
   */
  reasoningTokens?: number;
  /**
   * Prompt tokens that were read from a cache.
   */
  cachedInputTokens?: number;
  /**
   * The part of the input tokens that was written to a cache, where that is known and not nothing: its price is another.
   */
  cacheWriteTokens?: number;
  /**
   * The part of those that was written for an hour instead of some minutes.
   */
  cacheWrite1hTokens?: number;
  [k: string]: unknown;
}
/**
 * The conversation was compacted.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Compaction".
 */
export interface Compaction {
  /**
   * Tells that it is this: `compaction`.
   */
  type: "compaction";
  /**
   * What set it off.
   */
  trigger?: string;
  /**
   * Tokens before.
   */
  preTokens?: number;
  /**
   * Tokens after.
   */
  postTokens?: number;
  /**
   * How long it took.
   */
  durationMs?: number;
  /**
   * What the runtime said about it.
   */
  message?: string;
  [k: string]: unknown;
}
/**
 * The conversation was compacted.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CompactionEvent".
 */
export interface CompactionEvent {
  /**
   * Tells that it is this: `compaction`.
   */
  type: "compaction";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What set it off.
   */
  trigger?: string;
  /**
   * Tokens before.
   */
  preTokens?: number;
  /**
   * Tokens after.
   */
  postTokens?: number;
  /**
   * How long it took.
   */
  durationMs?: number;
  /**
   * What the runtime said about it.
   */
  message?: string;
  [k: string]: unknown;
}
/**
 * The run ended with an answer.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CompleteRunEvent".
 */
export interface CompleteRunEvent {
  /**
   * Tells that it is this: `completeRun`.
   */
  type: "completeRun";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state at the end.
   */
  checkpoint: Checkpoint;
  /**
   * The last step.
   */
  step: Step;
  /**
   * The answer.
   */
  text: string;
  /**
   * What the last turn of the model used.
   */
  usage: Usage;
  [k: string]: unknown;
}
/**
 * One turn of the model: what it said, the calls it made, what they gave back.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Step".
 */
export interface Step {
  /**
   * Counts the steps of a run from 1.
   */
  stepNumber: number;
  /**
   * What the step began with: instruction, user or tool messages.
   */
  inputMessages?: InputMessage[];
  /**
   * The messages the step added.
   */
  newMessages: Message[];
  /**
   * The calls the model made.
   */
  toolCalls?: ToolCall[];
  /**
   * What the calls gave back.
   */
  toolResults?: ToolResult[];
  /**
   * Calls that had no result when the step ended.
   */
  pendingToolCalls?: ToolCall[];
  /**
   * Results of some of the calls, while others are pending.
   */
  partialToolResults?: ToolResult[];
  /**
   * What this step used.
   */
  usage: Usage;
  /**
   * When it began, in milliseconds since 1970.
   */
  startedAt: number;
  /**
   * When it ended, in milliseconds since 1970.
   */
  finishedAt?: number;
  [k: string]: unknown;
}
/**
 * The reasoning is complete.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CompleteStreamingReasoningEvent".
 */
export interface CompleteStreamingReasoningEvent {
  /**
   * Tells that it is this: `completeStreamingReasoning`.
   */
  type: "completeStreamingReasoning";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * All of it.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * The answer is complete.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CompleteStreamingRunResultEvent".
 */
export interface CompleteStreamingRunResultEvent {
  /**
   * Tells that it is this: `completeStreamingRunResult`.
   */
  type: "completeStreamingRunResult";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * All of it.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * What `config` prints: where the configuration is, and what it says.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ConfigInfo".
 */
export interface ConfigInfo {
  /**
   * The file.
   */
  path: string;
  /**
   * Whether it is there; without it everything is as by default.
   */
  isThere: boolean;
  /**
   * The settings in force, with what is by default.
   */
  settings: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The connection to the model's service changed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Connection".
 */
export interface Connection {
  /**
   * Tells that it is this: `connection`.
   */
  type: "connection";
  /**
   * The new state, in the runtime's words.
   */
  state: string;
  /**
   * Which try.
   */
  attempt?: number;
  /**
   * The other side.
   */
  endpoint?: string;
  [k: string]: unknown;
}
/**
 * The connection to the model's service changed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ConnectionEvent".
 */
export interface ConnectionEvent {
  /**
   * Tells that it is this: `connection`.
   */
  type: "connection";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The new state, in the runtime's words.
   */
  state: string;
  /**
   * Which try.
   */
  attempt?: number;
  /**
   * The other side.
   */
  endpoint?: string;
  [k: string]: unknown;
}
/**
 * The step ended and another follows.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ContinueToNextStepEvent".
 */
export interface ContinueToNextStepEvent {
  /**
   * Tells that it is this: `continueToNextStep`.
   */
  type: "continueToNextStep";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state at the end of the step.
   */
  checkpoint: Checkpoint;
  /**
   * The step.
   */
  step: Step;
  /**
   * The state the next step begins with; its id is that of the next step's checkpoint.
   */
  nextCheckpoint: Checkpoint;
  [k: string]: unknown;
}
/**
 * A root run that was to be copied, its children included.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CopiedRun".
 */
export interface CopiedRun {
  /**
   * Tells that it is this: `run`.
   */
  type: "run";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What became of it.
   */
  outcome: CopyOutcome;
  /**
   * Why it was not copied; null if it was, or was there as it is here.
   */
  reason: string | null;
  [k: string]: unknown;
}
/**
 * What all runs came to.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "CopySummary".
 */
export interface CopySummary {
  /**
   * Tells that it is this: `summary`.
   */
  type: "summary";
  /**
   * The database that they are in, without a password.
   */
  from: string;
  /**
   * The database that they went to, without a password.
   */
  to: string;
  /**
   * Runs that were copied.
   */
  stored: number;
  /**
   * Runs that were there already.
   */
  skipped: number;
  /**
   * Those of them that were recorded under another redaction key, by other rules or on another machine; not there if none was.
   */
  recordedDifferently?: number;
  /**
   * Runs that have not ended.
   */
  open: number;
  /**
   * Runs under whose ids there are others.
   */
  differs: number;
  /**
   * Runs that could not be copied.
   */
  failed: number;
  [k: string]: unknown;
}
/**
 * What `db status` tells of a database.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DatabaseStatus".
 */
export interface DatabaseStatus {
  /**
   * Its path, or the address of its server without the password.
   */
  database: string;
  /**
   * The directory on this machine of what lies beside a database file otherwise: the redaction key, spool files; null for a file.
   */
  directory: string | null;
  /**
   * The number of its schema; null if it has none yet.
   */
  schema: number | null;
  /**
   * Why it cannot be used as it is, and what to do; null if it can.
   */
  fault: string | null;
  /**
   * Bytes that it takes; null if it cannot be asked.
   */
  bytes: number | null;
  /**
   * The server; null for a file, and if it cannot be asked.
   */
  server: ServerStatus | null;
  [k: string]: unknown;
}
/**
 * How a server is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ServerStatus".
 */
export interface ServerStatus {
  /**
   * Its version, as it tells it.
   */
  version: string;
  /**
   * The user that it takes us for.
   */
  user: string;
  /**
   * Whether the connection is encrypted.
   */
  isEncrypted: boolean;
  /**
   * Whether it is a standby, which cannot be written.
   */
  isStandby: boolean;
  /**
   * Whether a commit waits for a standby.
   */
  isSynchronous: boolean;
  /**
   * What a commit waits for, in the server's words: `on`, `local`, `off`, …
   */
  synchronousCommit: string;
  /**
   * In how many parts the tables of runs are; null if each is in one piece.
   */
  partitions: number | null;
  /**
   * Whether they are spread over machines by Citus.
   */
  isSharded: boolean;
  /**
   * By how many milliseconds its clock is ahead of this machine's; behind if negative.
   */
  clockDifferenceMs: number;
  /**
   * Runs that somebody writes, or wrote until a minute ago.
   */
  leases: LeaseInfo[];
  /**
   * Bytes of each table with its indexes, largest first.
   */
  tables: TableStats[];
  [k: string]: unknown;
}
/**
 * Who writes a run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "LeaseInfo".
 */
export interface LeaseInfo {
  /**
   * The root run.
   */
  runId: RunId;
  /**
   * Who writes it: host, process and connection.
   */
  owner: string;
  /**
   * For how many milliseconds more it is theirs, unless they renew it; negative if they are gone.
   */
  remainingMs: number;
  /**
   * Which writer of the run it is: a number that rises with each.
   */
  epoch: number;
  [k: string]: unknown;
}
/**
 * What a table or index takes.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TableStats".
 */
export interface TableStats {
  /**
   * Its name.
   */
  name: string;
  /**
   * Its bytes.
   */
  bytes: number;
  [k: string]: unknown;
}
/**
 * A container is being built.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DockerBuildProgress".
 */
export interface DockerBuildProgress {
  /**
   * Tells that it is this: `dockerBuildProgress`.
   */
  type: "dockerBuildProgress";
  /**
   * How far it is.
   */
  stage: BuildStage;
  /**
   * The container's service.
   */
  service: string;
  /**
   * What is being done.
   */
  message: string;
  /**
   * How much is done.
   */
  progress?: number;
  [k: string]: unknown;
}
/**
 * A container is being built.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DockerBuildProgressEvent".
 */
export interface DockerBuildProgressEvent {
  /**
   * Tells that it is this: `dockerBuildProgress`.
   */
  type: "dockerBuildProgress";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * How far it is.
   */
  stage: BuildStage;
  /**
   * The container's service.
   */
  service: string;
  /**
   * What is being done.
   */
  message: string;
  /**
   * How much is done.
   */
  progress?: number;
  [k: string]: unknown;
}
/**
 * A container changed its state.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DockerContainerStatus".
 */
export interface DockerContainerStatus {
  /**
   * Tells that it is this: `dockerContainerStatus`.
   */
  type: "dockerContainerStatus";
  /**
   * The new state.
   */
  status: ContainerStatus;
  /**
   * The container's service.
   */
  service: string;
  /**
   * More on it.
   */
  message?: string;
  [k: string]: unknown;
}
/**
 * A container changed its state.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DockerContainerStatusEvent".
 */
export interface DockerContainerStatusEvent {
  /**
   * Tells that it is this: `dockerContainerStatus`.
   */
  type: "dockerContainerStatus";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The new state.
   */
  status: ContainerStatus;
  /**
   * The container's service.
   */
  service: string;
  /**
   * More on it.
   */
  message?: string;
  [k: string]: unknown;
}
/**
 * Something that was looked at.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DoctorCheck".
 */
export interface DoctorCheck {
  /**
   * Names the check, in lower case with underscores: `runtape_database_mode`, `claude_command_resolvable` …
   */
  code: string;
  /**
   * How much it matters.
   */
  level: CheckLevel;
  /**
   * What was found, for people.
   */
  message: string;
  /**
   * More about it; null if there is nothing more.
   */
  detail: string | null;
  /**
   * What to do about it; null if there is nothing to do.
   */
  hint: string | null;
  [k: string]: unknown;
}
/**
 * What `doctor` found, in the shape of Paperclip's environment test.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "DoctorReport".
 */
export interface DoctorReport {
  /**
   * The type of the adapter that was looked at: Paperclip's name for the runtime, `runtape` for all of them together.
   */
  adapterType: string;
  /**
   * What all checks together come to.
   */
  status: DoctorStatus;
  /**
   * The checks, in the order they were made.
   */
  checks: DoctorCheck[];
  /**
   * When.
   */
  testedAt: Time;
  /**
   * The directories in which agent CLIs keep sessions, of those that are there.
   */
  history?: HistoryPlace[];
  [k: string]: unknown;
}
/**
 * A directory in which an agent CLI keeps its sessions.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "HistoryPlace".
 */
export interface HistoryPlace {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The directory.
   */
  path: string;
  /**
   * Files in it that hold sessions. A session may have several, and a database has many sessions.
   */
  files: number;
  /**
   * How large they are together, in bytes.
   */
  bytes: number;
  /**
   * After how many days the CLI deletes what was not touched; null if it does not.
   */
  keptDays: number | null;
  /**
   * Files that it deletes within a week, unless they are touched.
   */
  due: number;
  [k: string]: unknown;
}
/**
 * A text that belongs elsewhere: a completion script or a manual page.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Document".
 */
export interface Document {
  /**
   * What it is: the shell, or the name of the page.
   */
  name: string;
  /**
   * The file that it was written to; null if it was not.
   */
  file: string | null;
  /**
   * The text; null if it was written to a file.
   */
  text: string | null;
  [k: string]: unknown;
}
/**
 * Output of one kind that no parser understood: how a change in a CLI's format is seen.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Drift".
 */
export interface Drift {
  /**
   * What was not understood.
   */
  kind: DriftKind;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The agent CLI's version; null where it is not known.
   */
  cliVersion: string | null;
  /**
   * The type that the lines name, or the message's type and the key, joined by a dot; null for lines that name no type.
   */
  tag: string | null;
  /**
   * Why it was not understood.
   */
  reason: string;
  /**
   * How many lines, or how often the key was seen.
   */
  lines: number;
  /**
   * Runs that have it.
   */
  runs: number;
  /**
   * A run that has it.
   */
  runId: RunId;
  /**
   * The record of such a line, or the one that counts the key.
   */
  seq: number;
  /**
   * The first characters of that line; null for a key.
   */
  excerpt: string | null;
  [k: string]: unknown;
}
/**
 * A result that was not the run's last.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "EarlierResult".
 */
export interface EarlierResult {
  /**
   * Tells that it is this: `earlierResult`.
   */
  type: "earlierResult";
  /**
   * Whether it reports a failure.
   */
  isError: boolean;
  /**
   * The runtime's word for it.
   */
  subtype?: string;
  /**
   * Its text.
   */
  text?: string;
  [k: string]: unknown;
}
/**
 * A result that was not the run's last.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "EarlierResultEvent".
 */
export interface EarlierResultEvent {
  /**
   * Tells that it is this: `earlierResult`.
   */
  type: "earlierResult";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Whether it reports a failure.
   */
  isError: boolean;
  /**
   * The runtime's word for it.
   */
  subtype?: string;
  /**
   * Its text.
   */
  text?: string;
  [k: string]: unknown;
}
/**
 * The run began.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StartRunEvent".
 */
export interface StartRunEvent {
  /**
   * Tells that it is this: `startRun`.
   */
  type: "startRun";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state before the first step.
   */
  initialCheckpoint: Checkpoint;
  /**
   * What the run was given: instruction, user or tool messages.
   */
  inputMessages: InputMessage[];
  [k: string]: unknown;
}
/**
 * The model was asked.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StartGenerationEvent".
 */
export interface StartGenerationEvent {
  /**
   * Tells that it is this: `startGeneration`.
   */
  type: "startGeneration";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * What it was asked with.
   */
  messages: Message[];
  [k: string]: unknown;
}
/**
 * The model's answer could not be used and it was asked again.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RetryEvent".
 */
export interface RetryEvent {
  /**
   * Tells that it is this: `retry`.
   */
  type: "retry";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * Why.
   */
  reason: string;
  /**
   * The messages that tell the model so.
   */
  newMessages: RetryMessage[];
  /**
   * The calls it had made.
   */
  toolCalls?: ToolCall[];
  /**
   * What they gave back.
   */
  toolResults?: ToolResult[];
  /**
   * What the unusable answer used.
   */
  usage: Usage;
  [k: string]: unknown;
}
/**
 * The tools gave back their results.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ResolveToolResultsEvent".
 */
export interface ResolveToolResultsEvent {
  /**
   * Tells that it is this: `resolveToolResults`.
   */
  type: "resolveToolResults";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The results.
   */
  toolResults: ToolResult[];
  [k: string]: unknown;
}
/**
 * The results were put into a message.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FinishToolCallEvent".
 */
export interface FinishToolCallEvent {
  /**
   * Tells that it is this: `finishToolCall`.
   */
  type: "finishToolCall";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The user or tool messages that hold them.
   */
  newMessages: AnswerMessage[];
  [k: string]: unknown;
}
/**
 * Calls that were pending go on.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ResumeToolCallsEvent".
 */
export interface ResumeToolCallsEvent {
  /**
   * Tells that it is this: `resumeToolCalls`.
   */
  type: "resumeToolCalls";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The calls.
   */
  pendingToolCalls: ToolCall[];
  /**
   * Results that were there already.
   */
  partialToolResults: ToolResult[];
  [k: string]: unknown;
}
/**
 * All pending calls have their results.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FinishAllToolCallsEvent".
 */
export interface FinishAllToolCallsEvent {
  /**
   * Tells that it is this: `finishAllToolCalls`.
   */
  type: "finishAllToolCalls";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The user or tool messages that hold them.
   */
  newMessages: AnswerMessage[];
  [k: string]: unknown;
}
/**
 * The run waits for an interactive tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StopRunByInteractiveToolEvent".
 */
export interface StopRunByInteractiveToolEvent {
  /**
   * Tells that it is this: `stopRunByInteractiveTool`.
   */
  type: "stopRunByInteractiveTool";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state at the end.
   */
  checkpoint: Checkpoint;
  /**
   * The last step.
   */
  step: Step;
  [k: string]: unknown;
}
/**
 * The run waits for another expert.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StopRunByDelegateEvent".
 */
export interface StopRunByDelegateEvent {
  /**
   * Tells that it is this: `stopRunByDelegate`.
   */
  type: "stopRunByDelegate";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state at the end.
   */
  checkpoint: Checkpoint;
  /**
   * The last step.
   */
  step: Step;
  [k: string]: unknown;
}
/**
 * The run reached its turn limit.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StopRunByExceededMaxStepsEvent".
 */
export interface StopRunByExceededMaxStepsEvent {
  /**
   * Tells that it is this: `stopRunByExceededMaxSteps`.
   */
  type: "stopRunByExceededMaxSteps";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state at the end.
   */
  checkpoint: Checkpoint;
  /**
   * The last step.
   */
  step: Step;
  [k: string]: unknown;
}
/**
 * The run failed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StopRunByErrorEvent".
 */
export interface StopRunByErrorEvent {
  /**
   * Tells that it is this: `stopRunByError`.
   */
  type: "stopRunByError";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The state at the end.
   */
  checkpoint: Checkpoint;
  /**
   * The last step.
   */
  step: Step;
  /**
   * Why.
   */
  error: RunError;
  [k: string]: unknown;
}
/**
 * Reasoning begins to arrive.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StartStreamingReasoningEvent".
 */
export interface StartStreamingReasoningEvent {
  /**
   * Tells that it is this: `startStreamingReasoning`.
   */
  type: "startStreamingReasoning";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  [k: string]: unknown;
}
/**
 * A piece of reasoning arrived.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamReasoningEvent".
 */
export interface StreamReasoningEvent {
  /**
   * Tells that it is this: `streamReasoning`.
   */
  type: "streamReasoning";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The piece, to be appended.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The answer begins to arrive.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StartStreamingRunResultEvent".
 */
export interface StartStreamingRunResultEvent {
  /**
   * Tells that it is this: `startStreamingRunResult`.
   */
  type: "startStreamingRunResult";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  [k: string]: unknown;
}
/**
 * A piece of the answer arrived.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamRunResultEvent".
 */
export interface StreamRunResultEvent {
  /**
   * Tells that it is this: `streamRunResult`.
   */
  type: "streamRunResult";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The piece, to be appended.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The runtime is ready.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InitializeRuntimeEvent".
 */
export interface InitializeRuntimeEvent {
  /**
   * Tells that it is this: `initializeRuntime`.
   */
  type: "initializeRuntime";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The runtime's version; `external:` and the runtime's name for an agent CLI.
   */
  runtimeVersion: string;
  /**
   * The runtime's name.
   */
  runtime?: string;
  /**
   * The expert's name for people.
   */
  expertName: string;
  /**
   * The experts at hand.
   */
  experts: string[];
  /**
   * The model; the runtime's name and `:default` where it is not known.
   */
  model: string;
  /**
   * The model's temperature. Perstack dropped the field in 2025-12; 0 here.
   */
  temperature?: number;
  /**
   * The most steps allowed.
   */
  maxSteps?: number;
  /**
   * How often a request is tried again.
   */
  maxRetries: number;
  /**
   * The time limit in milliseconds, 0 for none known.
   */
  timeout: number;
  /**
   * What was asked for.
   */
  query?: string;
  /**
   * The answer to an interactive tool that the run goes on with.
   */
  interactiveToolCall?: InteractiveToolCall;
  [k: string]: unknown;
}
/**
 * The answer to an interactive tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InteractiveToolCall".
 */
export interface InteractiveToolCall {
  /**
   * The tool's name.
   */
  toolName: string;
  /**
   * The call.
   */
  toolCallId: string;
  /**
   * The answer.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A skill is being started.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillStartingEvent".
 */
export interface SkillStartingEvent {
  /**
   * Tells that it is this: `skillStarting`.
   */
  type: "skillStarting";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The skill.
   */
  skillName: string;
  /**
   * The command that runs it.
   */
  command: string;
  /**
   * The command's arguments.
   */
  args: string[];
  [k: string]: unknown;
}
/**
 * A skill is connected.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillConnectedEvent".
 */
export interface SkillConnectedEvent {
  /**
   * Tells that it is this: `skillConnected`.
   */
  type: "skillConnected";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The skill.
   */
  skillName: string;
  /**
   * What the skill's server says of itself.
   */
  serverInfo?: ServerInfo;
  /**
   * Milliseconds to connect.
   */
  connectDurationMs?: number;
  /**
   * Milliseconds in all.
   */
  totalDurationMs?: number;
  /**
   * Milliseconds to start the process.
   */
  spawnDurationMs?: number;
  /**
   * Milliseconds for the handshake.
   */
  handshakeDurationMs?: number;
  /**
   * Milliseconds to list the tools.
   */
  toolDiscoveryDurationMs?: number;
  [k: string]: unknown;
}
/**
 * What a skill's server says of itself.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ServerInfo".
 */
export interface ServerInfo {
  /**
   * The server's name.
   */
  name: string;
  /**
   * The server's version.
   */
  version: string;
  [k: string]: unknown;
}
/**
 * A skill wrote to its error output.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillStderrEvent".
 */
export interface SkillStderrEvent {
  /**
   * Tells that it is this: `skillStderr`.
   */
  type: "skillStderr";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The skill.
   */
  skillName: string;
  /**
   * What it wrote.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * A skill is gone.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillDisconnectedEvent".
 */
export interface SkillDisconnectedEvent {
  /**
   * Tells that it is this: `skillDisconnected`.
   */
  type: "skillDisconnected";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The skill.
   */
  skillName: string;
  [k: string]: unknown;
}
/**
 * A container asked for a host.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ProxyAccessEvent".
 */
export interface ProxyAccessEvent {
  /**
   * Tells that it is this: `proxyAccess`.
   */
  type: "proxyAccess";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Whether it was let through.
   */
  action: ProxyAction;
  /**
   * The host.
   */
  domain: string;
  /**
   * The port.
   */
  port: number;
  /**
   * Why it was blocked.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * The runtime reported a rate limit.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RateLimitEvent".
 */
export interface RateLimitEvent {
  /**
   * Tells that it is this: `rateLimit`.
   */
  type: "rateLimit";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Whether the request went through: `allowed`, `allowed_warning`, `rejected` or other words of the runtime.
   */
  status: string;
  /**
   * Which limit.
   */
  limitType?: string;
  /**
   * When it ends, in milliseconds since 1970.
   */
  resetsAt?: number;
  /**
   * How much of it is used, from 0 to 1.
   */
  utilization?: number;
  [k: string]: unknown;
}
/**
 * A tool call was denied.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "PermissionDeniedEvent".
 */
export interface PermissionDeniedEvent {
  /**
   * Tells that it is this: `permissionDenied`.
   */
  type: "permissionDenied";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The tool's name.
   */
  toolName: string;
  /**
   * The call.
   */
  toolCallId?: ToolCallId;
  /**
   * Why.
   */
  message?: string;
  [k: string]: unknown;
}
/**
 * A hook ran.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "HookEvent".
 */
export interface HookEvent {
  /**
   * Tells that it is this: `hook`.
   */
  type: "hook";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The hook's name.
   */
  name: string;
  /**
   * What it was run for.
   */
  event?: string;
  /**
   * How far it is: `started`, or how it ended.
   */
  outcome?: string;
  /**
   * Its exit code.
   */
  exitCode?: number;
  /**
   * What it printed.
   */
  output?: string;
  [k: string]: unknown;
}
/**
 * Another model took over.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ModelFallbackEvent".
 */
export interface ModelFallbackEvent {
  /**
   * Tells that it is this: `modelFallback`.
   */
  type: "modelFallback";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The model that was to answer.
   */
  from?: string;
  /**
   * The model that does.
   */
  to?: string;
  /**
   * Why.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * A sub-agent or background task began, went on or ended.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TaskEvent".
 */
export interface TaskEvent {
  /**
   * Tells that it is this: `task`.
   */
  type: "task";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Names the task, in the runtime's words.
   */
  taskId?: string;
  /**
   * The call that started it.
   */
  toolCallId?: ToolCallId;
  /**
   * How far it is: `started`, `progress`, `completed`, `failed` or other words of the runtime.
   */
  status: string;
  /**
   * What it does, or what came of it.
   */
  description?: string;
  [k: string]: unknown;
}
/**
 * The runtime asked its user something, or was answered.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InteractionEvent".
 */
export interface InteractionEvent {
  /**
   * Tells that it is this: `interaction`.
   */
  type: "interaction";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * `request` or `response`.
   */
  phase: string;
  /**
   * What kind of question.
   */
  queryType: string;
  /**
   * Names the question.
   */
  queryId?: string;
  /**
   * The question or the answer, as it was printed.
   */
  payload?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | string
    | number
    | boolean;
  [k: string]: unknown;
}
/**
 * The runtime warned.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "WarningEvent".
 */
export interface WarningEvent {
  /**
   * Tells that it is this: `warning`.
   */
  type: "warning";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What it said.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * The exit of the process does not fit the result it printed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExitMismatchEvent".
 */
export interface ExitMismatchEvent {
  /**
   * Tells that it is this: `exitMismatch`.
   */
  type: "exitMismatch";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What the printed result says.
   */
  reported: string;
  /**
   * What the exit says.
   */
  exit: string;
  [k: string]: unknown;
}
/**
 * What was printed does not fit what the runtime's session files say.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "HistoryMismatchEvent".
 */
export interface HistoryMismatchEvent {
  /**
   * Tells that it is this: `historyMismatch`.
   */
  type: "historyMismatch";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The field that they tell in two ways.
   */
  field: string;
  /**
   * What was printed.
   */
  printed: string;
  /**
   * What the session files say.
   */
  history: string;
  [k: string]: unknown;
}
/**
 * The process ended.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ProcessExitEvent".
 */
export interface ProcessExitEvent {
  /**
   * Tells that it is this: `processExit`.
   */
  type: "processExit";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The exit code.
   */
  exitCode?: number;
  /**
   * The signal that ended it.
   */
  signal?: string;
  /**
   * Whether a time limit was reached.
   */
  timedOut: boolean;
  [k: string]: unknown;
}
/**
 * Text on the error output.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StderrTextEvent".
 */
export interface StderrTextEvent {
  /**
   * Tells that it is this: `stderrText`.
   */
  type: "stderrText";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * Text on the output that is no event of the runtime.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StdoutTextEvent".
 */
export interface StdoutTextEvent {
  /**
   * Tells that it is this: `stdoutText`.
   */
  type: "stdoutText";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A notice of the runtime without further meaning.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InfoEvent".
 */
export interface InfoEvent {
  /**
   * Tells that it is this: `info`.
   */
  type: "info";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What kind of notice, in the runtime's words.
   */
  topic?: string;
  /**
   * What it said.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * Output that no parser understood. The recorded raw output has all of it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnparsedOutputEvent".
 */
export interface UnparsedOutputEvent {
  /**
   * Tells that it is this: `unparsedOutput`.
   */
  type: "unparsedOutput";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * On which stream.
   */
  stream: Stream;
  /**
   * The line, counted from 1.
   */
  line: number;
  /**
   * The type that the line names, where it does.
   */
  tag?: string;
  /**
   * Why it was not understood.
   */
  reason: string;
  /**
   * The beginning of it.
   */
  excerpt?: string;
  [k: string]: unknown;
}
/**
 * A piece of text or reasoning arrived. Live only.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamTextEvent".
 */
export interface StreamTextEvent {
  /**
   * Tells that it is this: `streamText`.
   */
  type: "streamText";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What it is a piece of.
   */
  channel: StreamChannel;
  /**
   * The piece, to be appended.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The model called a tool, whose step goes on. Live only.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamToolCallEvent".
 */
export interface StreamToolCallEvent {
  /**
   * Tells that it is this: `streamToolCall`.
   */
  type: "streamToolCall";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step.
   */
  inStep: number;
  /**
   * Names the call.
   */
  toolCallId: ToolCallId;
  /**
   * The tool.
   */
  toolName: ToolName;
  /**
   * What it was given, as far as it is known, any JSON.
   */
  args: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A tool gave back its result, and the step goes on. Live only.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamToolResultEvent".
 */
export interface StreamToolResultEvent {
  /**
   * Tells that it is this: `streamToolResult`.
   */
  type: "streamToolResult";
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step.
   */
  inStep: number;
  /**
   * The call that it answers.
   */
  toolCallId: ToolCallId;
  /**
   * The tool.
   */
  toolName: ToolName;
  /**
   * Whether the call failed; absent where the runtime did not tell.
   */
  isError?: boolean;
  [k: string]: unknown;
}
/**
 * A type that this version does not know. Readers keep it as it is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnknownRunEvent".
 */
export interface UnknownRunEvent {
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * The expert that the run was given to.
   */
  expertKey: string;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The step, counted from 1.
   */
  stepNumber: number;
  /**
   * The type, which is none of the known ones.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * A type that this version does not know. Readers keep it as it is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnknownRuntimeEvent".
 */
export interface UnknownRuntimeEvent {
  /**
   * Names the event.
   */
  id: EventId;
  /**
   * When it happened, in milliseconds since 1970.
   */
  timestamp: number;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The type, which is none of the known ones.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * An event around the run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "EventRecord".
 */
export interface EventRecord {
  /**
   * Tells that it is this: `event`.
   */
  type: "event";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * The step during which it happened, 0 before the first.
   */
  step: number;
  /**
   * What happened.
   */
  event: RuntimeEventKind;
  [k: string]: unknown;
}
/**
 * The runtime is ready.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InitializeRuntime".
 */
export interface InitializeRuntime {
  /**
   * Tells that it is this: `initializeRuntime`.
   */
  type: "initializeRuntime";
  /**
   * The runtime's version; `external:` and the runtime's name for an agent CLI.
   */
  runtimeVersion: string;
  /**
   * The runtime's name.
   */
  runtime?: string;
  /**
   * The expert's name for people.
   */
  expertName: string;
  /**
   * The experts at hand.
   */
  experts: string[];
  /**
   * The model; the runtime's name and `:default` where it is not known.
   */
  model: string;
  /**
   * The model's temperature. Perstack dropped the field in 2025-12; 0 here.
   */
  temperature?: number;
  /**
   * The most steps allowed.
   */
  maxSteps?: number;
  /**
   * How often a request is tried again.
   */
  maxRetries: number;
  /**
   * The time limit in milliseconds, 0 for none known.
   */
  timeout: number;
  /**
   * What was asked for.
   */
  query?: string;
  /**
   * The answer to an interactive tool that the run goes on with.
   */
  interactiveToolCall?: InteractiveToolCall;
  [k: string]: unknown;
}
/**
 * A skill is being started.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillStarting".
 */
export interface SkillStarting {
  /**
   * Tells that it is this: `skillStarting`.
   */
  type: "skillStarting";
  /**
   * The skill.
   */
  skillName: string;
  /**
   * The command that runs it.
   */
  command: string;
  /**
   * The command's arguments.
   */
  args: string[];
  [k: string]: unknown;
}
/**
 * A skill is connected.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillConnected".
 */
export interface SkillConnected {
  /**
   * Tells that it is this: `skillConnected`.
   */
  type: "skillConnected";
  /**
   * The skill.
   */
  skillName: string;
  /**
   * What the skill's server says of itself.
   */
  serverInfo?: ServerInfo;
  /**
   * Milliseconds to connect.
   */
  connectDurationMs?: number;
  /**
   * Milliseconds in all.
   */
  totalDurationMs?: number;
  /**
   * Milliseconds to start the process.
   */
  spawnDurationMs?: number;
  /**
   * Milliseconds for the handshake.
   */
  handshakeDurationMs?: number;
  /**
   * Milliseconds to list the tools.
   */
  toolDiscoveryDurationMs?: number;
  [k: string]: unknown;
}
/**
 * A skill wrote to its error output.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillStderr".
 */
export interface SkillStderr {
  /**
   * Tells that it is this: `skillStderr`.
   */
  type: "skillStderr";
  /**
   * The skill.
   */
  skillName: string;
  /**
   * What it wrote.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * A skill is gone.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SkillDisconnected".
 */
export interface SkillDisconnected {
  /**
   * Tells that it is this: `skillDisconnected`.
   */
  type: "skillDisconnected";
  /**
   * The skill.
   */
  skillName: string;
  [k: string]: unknown;
}
/**
 * A container asked for a host.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ProxyAccess".
 */
export interface ProxyAccess {
  /**
   * Tells that it is this: `proxyAccess`.
   */
  type: "proxyAccess";
  /**
   * Whether it was let through.
   */
  action: ProxyAction;
  /**
   * The host.
   */
  domain: string;
  /**
   * The port.
   */
  port: number;
  /**
   * Why it was blocked.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * The runtime reported a rate limit.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RateLimit".
 */
export interface RateLimit {
  /**
   * Tells that it is this: `rateLimit`.
   */
  type: "rateLimit";
  /**
   * Whether the request went through: `allowed`, `allowed_warning`, `rejected` or other words of the runtime.
   */
  status: string;
  /**
   * Which limit.
   */
  limitType?: string;
  /**
   * When it ends, in milliseconds since 1970.
   */
  resetsAt?: number;
  /**
   * How much of it is used, from 0 to 1.
   */
  utilization?: number;
  [k: string]: unknown;
}
/**
 * A tool call was denied.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "PermissionDenied".
 */
export interface PermissionDenied {
  /**
   * Tells that it is this: `permissionDenied`.
   */
  type: "permissionDenied";
  /**
   * The tool's name.
   */
  toolName: string;
  /**
   * The call.
   */
  toolCallId?: ToolCallId;
  /**
   * Why.
   */
  message?: string;
  [k: string]: unknown;
}
/**
 * A hook ran.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Hook".
 */
export interface Hook {
  /**
   * Tells that it is this: `hook`.
   */
  type: "hook";
  /**
   * The hook's name.
   */
  name: string;
  /**
   * What it was run for.
   */
  event?: string;
  /**
   * How far it is: `started`, or how it ended.
   */
  outcome?: string;
  /**
   * Its exit code.
   */
  exitCode?: number;
  /**
   * What it printed.
   */
  output?: string;
  [k: string]: unknown;
}
/**
 * Another model took over.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ModelFallback".
 */
export interface ModelFallback {
  /**
   * Tells that it is this: `modelFallback`.
   */
  type: "modelFallback";
  /**
   * The model that was to answer.
   */
  from?: string;
  /**
   * The model that does.
   */
  to?: string;
  /**
   * Why.
   */
  reason?: string;
  [k: string]: unknown;
}
/**
 * A sub-agent or background task began, went on or ended.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Task".
 */
export interface Task {
  /**
   * Tells that it is this: `task`.
   */
  type: "task";
  /**
   * Names the task, in the runtime's words.
   */
  taskId?: string;
  /**
   * The call that started it.
   */
  toolCallId?: ToolCallId;
  /**
   * How far it is: `started`, `progress`, `completed`, `failed` or other words of the runtime.
   */
  status: string;
  /**
   * What it does, or what came of it.
   */
  description?: string;
  [k: string]: unknown;
}
/**
 * The runtime asked its user something, or was answered.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Interaction".
 */
export interface Interaction {
  /**
   * Tells that it is this: `interaction`.
   */
  type: "interaction";
  /**
   * `request` or `response`.
   */
  phase: string;
  /**
   * What kind of question.
   */
  queryType: string;
  /**
   * Names the question.
   */
  queryId?: string;
  /**
   * The question or the answer, as it was printed.
   */
  payload?:
    | {
        [k: string]: unknown;
      }
    | unknown[]
    | string
    | number
    | boolean;
  [k: string]: unknown;
}
/**
 * The runtime warned.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Warning".
 */
export interface Warning {
  /**
   * Tells that it is this: `warning`.
   */
  type: "warning";
  /**
   * What it said.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * The exit of the process does not fit the result it printed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExitMismatch".
 */
export interface ExitMismatch {
  /**
   * Tells that it is this: `exitMismatch`.
   */
  type: "exitMismatch";
  /**
   * What the printed result says.
   */
  reported: string;
  /**
   * What the exit says.
   */
  exit: string;
  [k: string]: unknown;
}
/**
 * What was printed does not fit what the runtime's session files say.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "HistoryMismatch".
 */
export interface HistoryMismatch {
  /**
   * Tells that it is this: `historyMismatch`.
   */
  type: "historyMismatch";
  /**
   * The field that they tell in two ways.
   */
  field: string;
  /**
   * What was printed.
   */
  printed: string;
  /**
   * What the session files say.
   */
  history: string;
  [k: string]: unknown;
}
/**
 * The process ended.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ProcessExit".
 */
export interface ProcessExit {
  /**
   * Tells that it is this: `processExit`.
   */
  type: "processExit";
  /**
   * The exit code.
   */
  exitCode?: number;
  /**
   * The signal that ended it.
   */
  signal?: string;
  /**
   * Whether a time limit was reached.
   */
  timedOut: boolean;
  [k: string]: unknown;
}
/**
 * Text on the error output.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StderrText".
 */
export interface StderrText {
  /**
   * Tells that it is this: `stderrText`.
   */
  type: "stderrText";
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * Text on the output that is no event of the runtime.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StdoutText".
 */
export interface StdoutText {
  /**
   * Tells that it is this: `stdoutText`.
   */
  type: "stdoutText";
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A notice of the runtime without further meaning.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Info".
 */
export interface Info {
  /**
   * Tells that it is this: `info`.
   */
  type: "info";
  /**
   * What kind of notice, in the runtime's words.
   */
  topic?: string;
  /**
   * What it said.
   */
  message: string;
  [k: string]: unknown;
}
/**
 * Output that no parser understood. The recorded raw output has all of it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnparsedOutput".
 */
export interface UnparsedOutput {
  /**
   * Tells that it is this: `unparsedOutput`.
   */
  type: "unparsedOutput";
  /**
   * On which stream.
   */
  stream: Stream;
  /**
   * The line, counted from 1.
   */
  line: number;
  /**
   * The type that the line names, where it does.
   */
  tag?: string;
  /**
   * Why it was not understood.
   */
  reason: string;
  /**
   * The beginning of it.
   */
  excerpt?: string;
  [k: string]: unknown;
}
/**
 * A piece of text or reasoning arrived. Live only.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamText".
 */
export interface StreamText {
  /**
   * Tells that it is this: `streamText`.
   */
  type: "streamText";
  /**
   * What it is a piece of.
   */
  channel: StreamChannel;
  /**
   * The piece, to be appended.
   */
  delta: string;
  [k: string]: unknown;
}
/**
 * The model called a tool, whose step goes on. Live only.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamToolCall".
 */
export interface StreamToolCall {
  /**
   * Tells that it is this: `streamToolCall`.
   */
  type: "streamToolCall";
  /**
   * The step.
   */
  inStep: number;
  /**
   * Names the call.
   */
  toolCallId: ToolCallId;
  /**
   * The tool.
   */
  toolName: ToolName;
  /**
   * What it was given, as far as it is known, any JSON.
   */
  args: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A tool gave back its result, and the step goes on. Live only.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StreamToolResult".
 */
export interface StreamToolResult {
  /**
   * Tells that it is this: `streamToolResult`.
   */
  type: "streamToolResult";
  /**
   * The step.
   */
  inStep: number;
  /**
   * The call that it answers.
   */
  toolCallId: ToolCallId;
  /**
   * The tool.
   */
  toolName: ToolName;
  /**
   * Whether the call failed; absent where the runtime did not tell.
   */
  isError?: boolean;
  [k: string]: unknown;
}
/**
 * A type that this version does not know. Readers keep it as it is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnknownRuntimeEventKind".
 */
export interface UnknownRuntimeEventKind {
  /**
   * The type, which is none of the known ones.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * How a process ended, as far as it is known.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExitInfo".
 */
export interface ExitInfo {
  /**
   * Its exit code; null if it was killed, or nobody saw it end.
   */
  code: number | null;
  /**
   * The signal that killed it, by name; null if none did.
   */
  signal: string | null;
  /**
   * The recorder ended it because it took too long.
   */
  timedOut: boolean;
  /**
   * The recorder died before the process ended.
   */
  recorderLost: boolean;
  [k: string]: unknown;
}
/**
 * A file that `export` wrote.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExportedFile".
 */
export interface ExportedFile {
  /**
   * The file.
   */
  file: string;
  /**
   * Its bytes.
   */
  bytes: number;
  /**
   * The root runs in it.
   */
  runs: RunId[];
  /**
   * The BLAKE3 digest of its bytes, in hexadecimal digits: what `b3sum` prints, and what `verify --bundle FILE --digest` and `import --digest` compare.
   */
  digest?: string;
  /**
   * For a bundle, the seals that cover its runs: kept elsewhere, they prove it. Else empty.
   */
  seals?: RunSeal[];
  /**
   * By which rules secrets were taken out of its runs, each set once. Empty if all of them are from before that was done.
   */
  redaction?: AppliedRules[];
  [k: string]: unknown;
}
/**
 * The seal that covers a root run and its children.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunSeal".
 */
export interface RunSeal {
  /**
   * The root run.
   */
  runId: RunId;
  /**
   * The chain; not there for the first one, which is 0 and the only one of a database in a file.
   */
  chain?: number;
  /**
   * Which entry of its chain it is, counted from 1.
   */
  number: number;
  /**
   * Its hash, in hexadecimal digits: it covers the run and all that its chain sealed before.
   */
  hash: string;
  /**
   * When the run was sealed.
   */
  at: Time;
  [k: string]: unknown;
}
/**
 * A job tree that `export` wrote.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ExportedTree".
 */
export interface ExportedTree {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * Its directory.
   */
  path: string;
  /**
   * How many runs it has, children included.
   */
  runs: number;
  /**
   * How many checkpoint files it has.
   */
  checkpoints: number;
  /**
   * How many event files it has.
   */
  events: number;
  /**
   * How many bytes all its files have.
   */
  bytes: number;
  /**
   * By which rules secrets were taken out of its runs, each set once. Empty if all of them are from before that was done.
   */
  redaction?: AppliedRules[];
  [k: string]: unknown;
}
/**
 * Why a run failed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Failure".
 */
export interface Failure {
  /**
   * `ApiError` for what the model's API refused; `TruncatedOutput`, `NonZeroExit`, `KilledBySignal`, `TimedOut`, `RecorderLost`, `ParentEnded`, `Unfinished`; else the runtime's own name.
   */
  name: string;
  /**
   * What went wrong, for people.
   */
  message: string;
  /**
   * The HTTP status of the model's API; null if there was none.
   */
  statusCode: number | null;
  /**
   * Whether the same run may succeed later.
   */
  isRetryable: boolean;
  /**
   * What kind of failure it was; null if nothing tells.
   */
  family: ErrorFamily | null;
  /**
   * Not before this time; null if the runtime gave none.
   */
  retryAt: Time | null;
  [k: string]: unknown;
}
/**
 * How often runs failed in one way.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FailureSum".
 */
export interface FailureSum {
  /**
   * What the runs have in common: a family, a name or a runtime; null for failures whose family nothing tells.
   */
  key: string | null;
  /**
   * Runs that failed so.
   */
  runs: number;
  /**
   * Runs of these that may succeed later.
   */
  retryable: number;
  /**
   * The names of the errors, in order.
   */
  names: string[];
  /**
   * Their runtimes, in order.
   */
  runtimes: Runtime[];
  /**
   * The last run that failed so.
   */
  runId: RunId;
  /**
   * When that run ended, or began where its end is not known.
   */
  lastAt: Time;
  [k: string]: unknown;
}
/**
 * The file as a whole.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlaceFile".
 */
export interface FaultPlaceFile {
  /**
   * Tells that it is this: `file`.
   */
  type: "file";
  [k: string]: unknown;
}
/**
 * The row of a run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlaceRun".
 */
export interface FaultPlaceRun {
  /**
   * Tells that it is this: `run`.
   */
  type: "run";
  /**
   * The run.
   */
  runId: RunId;
  [k: string]: unknown;
}
/**
 * A record.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlaceRecord".
 */
export interface FaultPlaceRecord {
  /**
   * Tells that it is this: `record`.
   */
  type: "record";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record.
   */
  seq: number;
  [k: string]: unknown;
}
/**
 * A part of the tape.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlaceTape".
 */
export interface FaultPlaceTape {
  /**
   * Tells that it is this: `tape`.
   */
  type: "tape";
  /**
   * The root run.
   */
  runId: RunId;
  /**
   * The block.
   */
  block: number;
  [k: string]: unknown;
}
/**
 * A row that follows from records.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlaceRow".
 */
export interface FaultPlaceRow {
  /**
   * Tells that it is this: `row`.
   */
  type: "row";
  /**
   * The table: `step`, `tool_call`, `notice`, `unparsed` or `usage`.
   */
  table: string;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record it follows from.
   */
  seq: number;
  [k: string]: unknown;
}
/**
 * Names an entry of a chain of seals. As text it is the number, with the chain before it where that is not the first: `7`, `3.7`.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FaultPlaceSeal".
 */
export interface FaultPlaceSeal {
  /**
   * Tells that it is this: `seal`.
   */
  type: "seal";
  /**
   * The chain; not there for the first one, which is 0 and the only one of a database in a file.
   */
  chain?: number;
  /**
   * Which entry of its chain it is, counted from 1.
   */
  number: number;
  [k: string]: unknown;
}
/**
 * A call of a tool that touched a file.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FileCall".
 */
export interface FileCall {
  /**
   * The file: a relative path of the call is taken from the directory that its run worked in. As the call named it where that directory is not known.
   */
  path: string;
  /**
   * What the tool did with it; absent where its class does not tell.
   */
  access?: FileAccess;
  /**
   * How that is known, where the call does not say it itself.
   */
  knownBy?: KnownBy;
  /**
   * The call.
   */
  call: ToolCallInfo;
  [k: string]: unknown;
}
/**
 * A call of a tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolCallInfo".
 */
export interface ToolCallInfo {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The step.
   */
  step: number;
  /**
   * The record of the message that made the call; while its step goes on, the number that it would have.
   */
  seq: number;
  /**
   * When.
   */
  at: Time;
  /**
   * The tool's name.
   */
  tool: string;
  /**
   * What the tool is for; absent for records from before classes were known.
   */
  class?: ToolClass;
  /**
   * The directory the run worked in; absent where it is not known.
   */
  cwd?: string;
  /**
   * The shell command it ran; null for other tools, and where only a summary was printed.
   */
  command: string | null;
  /**
   * The first file it read or wrote; null if it names none.
   */
  path: string | null;
  /**
   * All files that it read, wrote or looked through, each once and from the root on, without `.` and `..`: so that a file has one path, whichever way it was named. As the call named it where the directory or the home directory is not known.
   */
  paths?: string[];
  /**
   * The URL it fetched; null if it names none.
   */
  url: string | null;
  /**
   * `guess` where command, files and URL are taken by the names of the arguments, since nobody knows the tool; absent otherwise.
   */
  knownBy?: KnownBy;
  /**
   * What the shell command does as far as its words tell; absent where they tell nothing.
   */
  shell?: ShellEffects;
  /**
   * Whether it failed; null if there is no result or it did not tell.
   */
  isError: boolean | null;
  /**
   * How long it took in milliseconds, where known.
   */
  durationMs: number | null;
  /**
   * The record of the result; null if there is none.
   */
  resultSeq: number | null;
  /**
   * Whether it goes on: it was made in the step that its run is in, and has no result yet.
   */
  isRunning?: boolean;
  [k: string]: unknown;
}
/**
 * What a shell command does, as far as its words tell. Files are named from the directory on in which it ran.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ShellEffects".
 */
export interface ShellEffects {
  /**
   * Files that it reads.
   */
  read?: string[];
  /**
   * Files that it creates or changes.
   */
  written?: string[];
  /**
   * Files that it deletes or moves away.
   */
  deleted?: string[];
  /**
   * Hosts that it reaches.
   */
  hosts?: string[];
  /**
   * How many parts of it do with files what their words do not tell: variables, patterns, scripts.
   */
  untoldFiles: number;
  /**
   * How many parts of it reach hosts that their words do not tell.
   */
  untoldHosts: number;
  [k: string]: unknown;
}
/**
 * How a file was used: all calls that named it, by whichever path and tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FileUse".
 */
export interface FileUse {
  /**
   * The file: a relative path of a call is taken from the directory that its run worked in. As the call named it where that directory is not known.
   */
  path: string;
  /**
   * Calls that named it.
   */
  calls: number;
  /**
   * Calls that read it, of those whose class tells.
   */
  reads: number;
  /**
   * Calls that created, changed or deleted it, of those whose class tells.
   */
  writes: number;
  /**
   * The tools that did, by their names.
   */
  tools: string[];
  /**
   * How that is known, where no call says it itself.
   */
  knownBy?: KnownBy;
  /**
   * Calls that failed.
   */
  errors: number;
  /**
   * Runs that did.
   */
  runs: number;
  /**
   * The last run that did.
   */
  runId: RunId;
  /**
   * The last time, as ISO 8601 in UTC.
   */
  lastAt: Time;
  [k: string]: unknown;
}
/**
 * An output format of a runtime.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FormatInfo".
 */
export interface FormatInfo {
  /**
   * The name, as in the metadata of a run.
   */
  name: string;
  /**
   * What on the command line asks for it; empty for what is printed unasked.
   */
  flags: string;
  /**
   * What it tells of a run: `text`, `thinking`, `calls`, `arguments`, `results`, `tokens`, `cost`, `session`, `model`. More may be added.
   */
  carries: string[];
  [k: string]: unknown;
}
/**
 * A place that has the marker of a secret.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FoundMarker".
 */
export interface FoundMarker {
  /**
   * Tells that it is this: `marker`.
   */
  type: "marker";
  /**
   * The run: the root, or the child whose record it is.
   */
  runId: RunId;
  /**
   * Where.
   */
  place: SecretPlace;
  /**
   * The whole marker.
   */
  marker: string;
  [k: string]: unknown;
}
/**
 * In what was known of the run before it began: command line, prompt, directory.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SecretPlaceContext".
 */
export interface SecretPlaceContext {
  /**
   * Tells that it is this: `context`.
   */
  type: "context";
  [k: string]: unknown;
}
/**
 * In a record.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SecretPlaceRecord".
 */
export interface SecretPlaceRecord {
  /**
   * Tells that it is this: `record`.
   */
  type: "record";
  /**
   * The record's number in its run.
   */
  seq: number;
  [k: string]: unknown;
}
/**
 * On the tape only: no record was made from it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SecretPlaceTape".
 */
export interface SecretPlaceTape {
  /**
   * Tells that it is this: `tape`.
   */
  type: "tape";
  /**
   * The stream.
   */
  stream: Stream;
  /**
   * The first byte of the line on that stream.
   */
  start: number;
  [k: string]: unknown;
}
/**
 * Something in a stored run that looks like a secret.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "FoundSecret".
 */
export interface FoundSecret {
  /**
   * Tells that it is this: `found`.
   */
  type: "found";
  /**
   * The run: the root, or the child whose record it is.
   */
  runId: RunId;
  /**
   * Where.
   */
  place: SecretPlace;
  /**
   * The rule that found it.
   */
  rule: string;
  /**
   * The secret without most of its characters.
   */
  masked: string;
  [k: string]: unknown;
}
/**
 * What `gc` gave up.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "GcReport".
 */
export interface GcReport {
  /**
   * Whether nothing was done, only told.
   */
  isDryRun: boolean;
  /**
   * The root runs that were deleted, or would be.
   */
  deletedRuns: RunId[];
  /**
   * Tapes that were dropped while their records stay.
   */
  droppedTapes: number;
  /**
   * Bytes of output that those tapes held.
   */
  droppedTapeBytes: number;
  /**
   * Bytes of the database before.
   */
  bytesBefore: number;
  /**
   * Bytes of the database after.
   */
  bytesAfter: number;
  /**
   * Whether nothing of what was given up is left in the files, but for ids of runs in tombstones; false if somebody read from the database for so long that its log had to be kept; not there if nothing was done.
   */
  isErased?: boolean;
  [k: string]: unknown;
}
/**
 * How often a host was used or named.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "HostUse".
 */
export interface HostUse {
  /**
   * The host; null for calls that name none, such as searches.
   */
  host: string | null;
  /**
   * Whether the calls do not say themselves that they reached it: whether they did, nobody knows.
   */
  isGuessed: boolean;
  /**
   * How the host is known, where the calls do not say it themselves.
   */
  knownBy?: KnownBy;
  /**
   * Calls that fetched from it or named it.
   */
  calls: number;
  /**
   * Calls of these that failed.
   */
  errors: number;
  /**
   * Runs that did.
   */
  runs: number;
  /**
   * The names of the tools, in order.
   */
  tools: string[];
  /**
   * The last run that did.
   */
  runId: RunId;
  /**
   * The last time.
   */
  lastAt: Time;
  [k: string]: unknown;
}
/**
 * A run that `import` met.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ImportedRun".
 */
export interface ImportedRun {
  /**
   * The file.
   */
  path: string;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Whether it was stored, or there already.
   */
  outcome: IngestOutcome;
  [k: string]: unknown;
}
/**
 * Runs of one runtime that ended alike.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "IngestGroup".
 */
export interface IngestGroup {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * How they ended.
   */
  status: CheckpointStatus;
  /**
   * How they went.
   */
  outcome?: Outcome;
  /**
   * Root runs.
   */
  runs: number;
  /**
   * Steps, those of child runs included, as in all that follows.
   */
  steps: number;
  /**
   * Kept records.
   */
  records: number;
  /**
   * Lines that no parser understood.
   */
  unparsed: number;
  /**
   * What they used; null if nothing is known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  [k: string]: unknown;
}
/**
 * Tokens; a counter nobody reported is null.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SummaryUsage".
 */
export interface SummaryUsage {
  /**
   * Prompt tokens that were not read from a cache; cache writes are included.
   */
  inputTokens: number | null;
  /**
   * All generated tokens, reasoning included.
   */
  outputTokens: number | null;
  /**
   * The part of the generated tokens that was reasoning.
   */
  reasoningTokens: number | null;
  /**
   * Input, cached input and output tokens together.
   */
  totalTokens: number | null;
  /**
   * Prompt tokens that were read from a cache.
   */
  cachedInputTokens: number | null;
  [k: string]: unknown;
}
/**
 * What became of one file.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "IngestedFile".
 */
export interface IngestedFile {
  /**
   * Tells that it is this: `file`.
   */
  type: "file";
  /**
   * The file; `-` for standard input.
   */
  path: string;
  /**
   * What became of it.
   */
  outcome: IngestOutcome;
  /**
   * The run that it is; null if it is unusable.
   */
  runId: RunId | null;
  /**
   * What is known of the run; null unless it was stored just now.
   */
  run: RunInfo | null;
  /**
   * Why it is unusable; null if it is not.
   */
  reason: string | null;
  [k: string]: unknown;
}
/**
 * What is known of a run, without its records. Unknown is null, or not there.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunInfo".
 */
export interface RunInfo {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The run on whose tape it is; null for a root run.
   */
  rootRunId: RunId | null;
  /**
   * The run whose call started it; null for a root run.
   */
  parentRunId: RunId | null;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * How it ended; `proceeding` while it is open.
   */
  status: CheckpointStatus;
  /**
   * How it went: `running` while it is open, `completed`, `failed`, `limit`, `interrupted` or `unfinished`.
   */
  outcome?: Outcome;
  /**
   * The expert that it was given to.
   */
  expertKey: string | null;
  /**
   * The model's name as the runtime gave it.
   */
  model: string | null;
  /**
   * The session to resume.
   */
  sessionId: string | null;
  /**
   * The directory it worked in.
   */
  cwd: string | null;
  /**
   * The agent CLI's version.
   */
  cliVersion: string | null;
  /**
   * When it began: by the recorder's clock where it ran the process, else as its first record says.
   */
  startedAt: Time;
  /**
   * When it ended, by the same clock; null while it is open.
   */
  finishedAt: Time | null;
  /**
   * How long it took in milliseconds: by the recorder's clock where it ran the process, else as the runtime reported it.
   */
  durationMs: number | null;
  /**
   * How long it took in milliseconds, as the runtime reported it.
   */
  reportedDurationMs?: number;
  /**
   * What to call it: what was asked, else what the runtime calls the session, else the command line.
   */
  title?: string;
  /**
   * What was asked, its first 200 characters.
   */
  prompt?: string;
  /**
   * The command line.
   */
  argv?: string[];
  /**
   * What the agent may do without asking, by the runtime's own word for it.
   */
  permissionMode?: string;
  /**
   * The machine it ran on.
   */
  host?: string;
  /**
   * The user it ran as.
   */
  user?: string;
  /**
   * The exit code of its process.
   */
  exitCode?: number;
  /**
   * The signal that ended its process.
   */
  signal?: string;
  /**
   * The commit that the directory was at when it began.
   */
  gitCommit?: string;
  /**
   * The branch that the directory was on when it began.
   */
  gitBranch?: string;
  /**
   * Labels that whoever started it gave it.
   */
  labels?: {
    [k: string]: unknown;
  };
  /**
   * Steps that ended.
   */
  steps: number;
  /**
   * Messages.
   */
  messages: number;
  /**
   * Kept records.
   */
  records: number;
  /**
   * Lines that no parser understood.
   */
  unparsed: number;
  /**
   * What it used by itself, without its children; null if nothing is known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  /**
   * Why it failed; null if it did not.
   */
  error: Failure | null;
  /**
   * The number of the seal that covers it, in its chain; null while it is open.
   */
  seal: number | null;
  /**
   * The chain of that seal; not there for the first one, which is 0.
   */
  sealChain?: number;
  [k: string]: unknown;
}
/**
 * What all files came to.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "IngestSummary".
 */
export interface IngestSummary {
  /**
   * Tells that it is this: `summary`.
   */
  type: "summary";
  /**
   * Runs that were stored.
   */
  stored: number;
  /**
   * Files whose runs were there already.
   */
  skipped: number;
  /**
   * Files that hold nothing usable.
   */
  unusable: number;
  /**
   * Files in directories that belong to no run.
   */
  ignored: number;
  /**
   * The runs that were stored, by runtime and how they went.
   */
  groups: IngestGroup[];
  [k: string]: unknown;
}
/**
 * The runtime is ready.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "InitializeRecord".
 */
export interface InitializeRecord {
  /**
   * Tells that it is this: `initialize`.
   */
  type: "initialize";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * The expert that the run was given to.
   */
  expert: Expert;
  /**
   * The model, where the runtime named it.
   */
  model?: string;
  /**
   * What was asked for.
   */
  query?: string;
  [k: string]: unknown;
}
/**
 * A set of runs that belong together, seen as one piece of work.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Job".
 */
export interface Job {
  /**
   * Names the job.
   */
  id: JobId;
  /**
   * Where it stands.
   */
  status: JobStatus;
  /**
   * The expert that the root run was given to.
   */
  coordinatorExpertKey: string;
  /**
   * Steps of all its runs.
   */
  totalSteps: number;
  /**
   * The most steps it was allowed, if limited.
   */
  maxSteps?: number;
  /**
   * What all its runs used.
   */
  usage: Usage;
  /**
   * When it began, in milliseconds since 1970.
   */
  startedAt: number;
  /**
   * When its last run ended, in milliseconds since 1970.
   */
  finishedAt?: number;
  [k: string]: unknown;
}
/**
 * A job with its root runs, and the session to go on with.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "JobDetail".
 */
export interface JobDetail {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * Where it stands: running while any run is open, else as its latest root run ended.
   */
  status: JobStatus;
  /**
   * How it went: `running` while any run is open, else as its latest root run.
   */
  outcome?: Outcome;
  /**
   * The expert that the first root run was given to.
   */
  expertKey: string;
  /**
   * Root runs.
   */
  runs: number;
  /**
   * Steps of all its runs.
   */
  steps: number;
  /**
   * What all its runs used; null if nothing is known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  /**
   * When its first run began.
   */
  startedAt: Time;
  /**
   * When its last run ended; null while one is open.
   */
  finishedAt: Time | null;
  /**
   * Its root runs, the latest first.
   */
  rootRuns: RunInfo[];
  /**
   * The session to resume; null if there is none.
   */
  sessionId: string | null;
  /**
   * The run that printed it.
   */
  sessionRunId: RunId | null;
  [k: string]: unknown;
}
/**
 * What is known of a job, made from its runs. Unknown is null.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "JobInfo".
 */
export interface JobInfo {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * Where it stands: running while any run is open, else as its latest root run ended.
   */
  status: JobStatus;
  /**
   * How it went: `running` while any run is open, else as its latest root run.
   */
  outcome?: Outcome;
  /**
   * The expert that the first root run was given to.
   */
  expertKey: string;
  /**
   * Root runs.
   */
  runs: number;
  /**
   * Steps of all its runs.
   */
  steps: number;
  /**
   * What all its runs used; null if nothing is known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  /**
   * When its first run began.
   */
  startedAt: Time;
  /**
   * When its last run ended; null while one is open.
   */
  finishedAt: Time | null;
  [k: string]: unknown;
}
/**
 * The run was opened.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunOpenedRecord".
 */
export interface RunOpenedRecord {
  /**
   * Tells that it is this: `run`.
   */
  type: "run";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * Where a child run came from.
   */
  delegatedBy?: DelegatedBy;
  [k: string]: unknown;
}
/**
 * More became known about the run.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "MetadataPatchRecord".
 */
export interface MetadataPatchRecord {
  /**
   * Tells that it is this: `metadata`.
   */
  type: "metadata";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * Keys to set; a null removes its key.
   */
  set: {
    runtime?: Runtime | null;
    externalExecution?: boolean | null;
    sessionId?: string | null;
    model?: string | null;
    cliVersion?: string | null;
    cwd?: string | null;
    argv?: string[] | null;
    host?: string | null;
    user?: string | null;
    permissionMode?: string | null;
    gitCommit?: string | null;
    gitBranch?: string | null;
    /**
     * Labels that whoever started the run gave it: an object of texts.
     */
    labels?: {
      [k: string]: unknown;
    };
    exitCode?: number | null;
    exitUnknown?: boolean | null;
    signal?: string | null;
    startedAt?: number | null;
    finishedAt?: number | null;
    durationMs?: number | null;
    costUsd?: number | null;
    /**
     * The usage objects as the runtime printed them.
     */
    rawUsage?: {
      [k: string]: unknown;
    };
    usageUnknown?: string[] | null;
    outputFormat?: string | null;
    parserVersion?: string | null;
    unparsedLines?: number | null;
    timeSource?: string | null;
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * The work begins; the messages before this record are what the run was given: a query, or what was said in a run that this one continues.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StartRecord".
 */
export interface StartRecord {
  /**
   * Tells that it is this: `start`.
   */
  type: "start";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  [k: string]: unknown;
}
/**
 * A message, and what the runtime said about it that has no place inside.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "MessageRecord".
 */
export interface MessageRecord {
  /**
   * Tells that it is this: `message`.
   */
  type: "message";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * The step it belongs to, counted from 1.
   */
  step: number;
  /**
   * The message.
   */
  message: Message;
  /**
   * Where in the raw output each part begins, in bytes, in the order of the message's contents.
   */
  offsets?: number[];
  /**
   * What is known of tool calls beyond their arguments.
   */
  calls?: CallNote[];
  /**
   * What is known of tool results beyond their contents.
   */
  results?: ResultNote[];
  /**
   * The message goes on where the one before broke off because it grew too long.
   */
  continued?: boolean;
  /**
   * The message was cut off: by a kill, an error, or the end of the output.
   */
  cut?: boolean;
  [k: string]: unknown;
}
/**
 * What is known of a tool result beyond its contents.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ResultNote".
 */
export interface ResultNote {
  /**
   * The call it answers.
   */
  toolCallId: ToolCallId;
  /**
   * How long the call took.
   */
  durationMs?: number;
  /**
   * The step of the call, where the result came in a later one.
   */
  callStep?: number;
  /**
   * No call with this id was seen before.
   */
  unmatched?: boolean;
  [k: string]: unknown;
}
/**
 * Tokens that count, exactly once.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UsageEntryRecord".
 */
export interface UsageEntryRecord {
  /**
   * Tells that it is this: `usage`.
   */
  type: "usage";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * Names what was counted: the same key is never counted again.
   */
  key: string;
  /**
   * Where the numbers come from.
   */
  source: UsageSource;
  /**
   * The step that used them; absent for what belongs to no single step.
   */
  step?: number;
  /**
   * The model.
   */
  model?: string;
  /**
   * The numbers are the total of the whole session so far: what earlier runs of it used is in them again.
   */
  ofSession?: boolean;
  /**
   * Prompt tokens that were not read from a cache; cache writes are included.
   */
  inputTokens?: number;
  /**
   * All generated tokens, reasoning included.
   */
  outputTokens?: number;
  /**
   * The part of the generated tokens that was reasoning.
   */
  reasoningTokens?: number;
  /**
   * Prompt tokens that were read from a cache.
   */
  cachedInputTokens?: number;
  /**
   * The part of the input tokens that was written to a cache, where that is known and not nothing: its price is another.
   */
  cacheWriteTokens?: number;
  /**
   * The part of those that was written for an hour instead of some minutes.
   */
  cacheWrite1hTokens?: number;
  [k: string]: unknown;
}
/**
 * Text of the model.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptAssistantEntry".
 */
export interface TranscriptAssistantEntry {
  /**
   * Tells that it is this: `assistant`.
   */
  kind: "assistant";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The text.
   */
  text: string;
  /**
   * Whether it goes on where the entry before ended.
   */
  delta?: boolean;
  /**
   * `progress` where the runtime itself marks the text as said beside the work, while it runs.
   */
  channel?: string;
  [k: string]: unknown;
}
/**
 * Reasoning of the model.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptThinkingEntry".
 */
export interface TranscriptThinkingEntry {
  /**
   * Tells that it is this: `thinking`.
   */
  kind: "thinking";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The reasoning.
   */
  text: string;
  /**
   * Whether it goes on where the entry before ended.
   */
  delta?: boolean;
  [k: string]: unknown;
}
/**
 * What the user said.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptUserEntry".
 */
export interface TranscriptUserEntry {
  /**
   * Tells that it is this: `user`.
   */
  kind: "user";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * The model calls a tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptToolCallEntry".
 */
export interface TranscriptToolCallEntry {
  /**
   * Tells that it is this: `tool_call`.
   */
  kind: "tool_call";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The tool's name.
   */
  name: string;
  /**
   * Its input, any JSON.
   */
  input: {
    [k: string]: unknown;
  };
  /**
   * Names the call; the result carries the same id.
   */
  toolUseId?: string;
  [k: string]: unknown;
}
/**
 * A tool gave back its result.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptToolResultEntry".
 */
export interface TranscriptToolResultEntry {
  /**
   * Tells that it is this: `tool_result`.
   */
  kind: "tool_result";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The call it answers.
   */
  toolUseId: string;
  /**
   * The tool's name.
   */
  toolName?: string;
  /**
   * The result as text.
   */
  content: string;
  /**
   * Whether the call failed.
   */
  isError: boolean;
  /**
   * How long the call took in milliseconds, where the runtime printed it with the result.
   */
  durationMs?: number;
  [k: string]: unknown;
}
/**
 * The runtime is ready.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptInitEntry".
 */
export interface TranscriptInitEntry {
  /**
   * Tells that it is this: `init`.
   */
  kind: "init";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The model.
   */
  model: string;
  /**
   * The session; empty if not known yet.
   */
  sessionId: string;
  [k: string]: unknown;
}
/**
 * The run ended.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptRunResultEntry".
 */
export interface TranscriptRunResultEntry {
  /**
   * Tells that it is this: `result`.
   */
  kind: "result";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The answer.
   */
  text: string;
  /**
   * Prompt tokens that were not read from a cache.
   */
  inputTokens: number;
  /**
   * Generated tokens.
   */
  outputTokens: number;
  /**
   * Prompt tokens that were read from a cache.
   */
  cachedTokens: number;
  /**
   * What it cost in US dollars, 0 if not known.
   */
  costUsd: number;
  /**
   * How it ended.
   */
  subtype: string;
  /**
   * Whether it failed.
   */
  isError: boolean;
  /**
   * What went wrong.
   */
  errors: string[];
  [k: string]: unknown;
}
/**
 * Text on the error output.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptStderrEntry".
 */
export interface TranscriptStderrEntry {
  /**
   * Tells that it is this: `stderr`.
   */
  kind: "stderr";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A notice of the runtime.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptSystemEntry".
 */
export interface TranscriptSystemEntry {
  /**
   * Tells that it is this: `system`.
   */
  kind: "system";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * Output that is nothing else.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptStdoutEntry".
 */
export interface TranscriptStdoutEntry {
  /**
   * Tells that it is this: `stdout`.
   */
  kind: "stdout";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The text.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * A line of a diff.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TranscriptDiffEntry".
 */
export interface TranscriptDiffEntry {
  /**
   * Tells that it is this: `diff`.
   */
  kind: "diff";
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * What the line is: `add`, `remove`, `context`, `hunk`, `file_header` or `truncation`.
   */
  changeType: string;
  /**
   * The line.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * An entry of the ledger: tokens that count exactly once.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "LedgerEntry".
 */
export interface LedgerEntry {
  /**
   * The run that it belongs to.
   */
  runId: RunId;
  /**
   * The record that says so.
   */
  seq: number;
  /**
   * When.
   */
  at: Time;
  /**
   * Names what was counted: the same key is never counted again.
   */
  key: string;
  /**
   * Where the numbers come from.
   */
  source: UsageSource;
  /**
   * The step that used them; null for what belongs to no single step.
   */
  step: number | null;
  /**
   * The model; null where it is not known.
   */
  model: string | null;
  /**
   * The numbers; null if none are known.
   */
  usage: SummaryUsage | null;
  /**
   * The part of the input tokens that was written to a cache; not there if there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * The part of those that was written for an hour instead of some minutes.
   */
  cacheWrite1hTokens?: number;
  /**
   * An earlier run of the same session reported the same response: it does not count here.
   */
  isRepeated: boolean;
  /**
   * The runtime stated the total of the whole session, and no earlier run of it is known: these numbers may hold what other runs used.
   */
  ofSession?: boolean;
  /**
   * The model's name in the price table; not there if no estimate was asked for, the model is not known, or the run reported its cost.
   */
  priceModel?: string;
  /**
   * What the tokens come to in US dollars, estimated; not there for the same reasons.
   */
  estimatedCostUsd?: number;
  /**
   * A hash of the price table that the estimate was made with.
   */
  priceTable?: string;
  [k: string]: unknown;
}
/**
 * What `db migrate` did.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "MigrationReport".
 */
export interface MigrationReport {
  /**
   * The path of the database, or the address of its server without the password.
   */
  database: string;
  /**
   * The number of its schema before; null if there was none.
   */
  before: number | null;
  /**
   * The number of its schema now.
   */
  after: number;
  [k: string]: unknown;
}
/**
 * What a model costs, in US dollars per token.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ModelPrice".
 */
export interface ModelPrice {
  /**
   * The name that was asked for; that of the table if none was.
   */
  model: string;
  /**
   * Its name in the table; null if it is not known there.
   */
  name: string | null;
  /**
   * Who sells it.
   */
  provider: string | null;
  /**
   * A prompt token that was not read from a cache.
   */
  input: number | null;
  /**
   * A generated token.
   */
  output: number | null;
  /**
   * A prompt token that was read from a cache.
   */
  cacheRead: number | null;
  /**
   * A prompt token that was written to a cache.
   */
  cacheWrite: number | null;
  /**
   * One that was written to a cache for an hour.
   */
  cacheWrite1h: number | null;
  /**
   * Input of a response with more than 200,000 prompt tokens.
   */
  longInput: number | null;
  /**
   * Output of such a response.
   */
  longOutput: number | null;
  /**
   * Cached input of such a response.
   */
  longCacheRead: number | null;
  /**
   * A hash of the table.
   */
  priceTable: string;
  /**
   * Where its prices come from.
   */
  source: string;
  /**
   * When they were taken.
   */
  taken: string;
  [k: string]: unknown;
}
/**
 * A use of the network by a call of a tool.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "NetworkCall".
 */
export interface NetworkCall {
  /**
   * The host; null where the call names none, such as a search.
   */
  host: string | null;
  /**
   * Whether the call does not say itself that it reached the host: whether it did, nobody knows.
   */
  isGuessed: boolean;
  /**
   * How the host is known, where the call does not say it itself.
   */
  knownBy?: KnownBy;
  /**
   * The call.
   */
  call: ToolCallInfo;
  [k: string]: unknown;
}
/**
 * Something that a runtime reported besides: a retry, a rate limit, a denial, a line on stderr.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "NoticeInfo".
 */
export interface NoticeInfo {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The step during which it came, 0 before the first.
   */
  step: number;
  /**
   * Its record.
   */
  seq: number;
  /**
   * When.
   */
  at: Time;
  /**
   * What kind of notice: `retry`, `rateLimit`, `permissionDenied`, `compaction`, `hook`, `modelFallback`, `task`, `connection`, `interaction`, `warning`, `result`, `exitMismatch`, `historyMismatch`, `stderr`, `stdout` or `info`.
   */
  kind: string;
  /**
   * What a person should read: the first 80 characters; the record has all of it.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * The step that a run is in, as far as it was printed. It is no part of the record before it is over.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "OpenStep".
 */
export interface OpenStep {
  /**
   * The step.
   */
  step: number;
  /**
   * When the first of it was printed.
   */
  startedAt: Time;
  /**
   * What the model said in it so far; null if nothing.
   */
  text: string | null;
  /**
   * The calls that it made so far.
   */
  calls: ToolCallInfo[];
  [k: string]: unknown;
}
/**
 * A piece of the raw output that a run's process printed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RawOutput".
 */
export interface RawOutput {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record that was made from it; null for a part of a whole tape.
   */
  seq: number | null;
  /**
   * The stream.
   */
  stream: Stream;
  /**
   * Its first byte on that stream.
   */
  start: number;
  /**
   * The byte after its last one.
   */
  end: number;
  /**
   * The text; bytes that are not UTF-8 are replaced.
   */
  text: string;
  /**
   * Whether the text is the bytes exactly.
   */
  isExact: boolean;
  [k: string]: unknown;
}
/**
 * A root run whose tables for queries were made anew from its records.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RebuiltRun".
 */
export interface RebuiltRun {
  /**
   * The root run.
   */
  runId: RunId;
  /**
   * Runs of its tree, itself included.
   */
  runs: number;
  /**
   * Records that were read.
   */
  records: number;
  /**
   * Rows of table `step`.
   */
  steps: number;
  /**
   * Rows of table `tool_call`.
   */
  toolCalls: number;
  /**
   * Rows of table `notice`.
   */
  notices: number;
  /**
   * Rows of table `unparsed`.
   */
  unparsed: number;
  /**
   * Rows of table `usage`.
   */
  usageEntries: number;
  [k: string]: unknown;
}
/**
 * A type that this version does not know. Readers keep it as it is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnknownRecord".
 */
export interface UnknownRecord {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The record's place in its run, counted from 0 without gaps. Order is this, never a time.
   */
  seq: number;
  /**
   * When it happened, in milliseconds since 1970: the runtime's own time where it gave one, else when the output was received.
   */
  at: number;
  /**
   * The raw output it was made from; absent for what came from the process's exit.
   */
  span?: Span;
  /**
   * The type, which is none of the known ones.
   */
  type: string;
  [k: string]: unknown;
}
/**
 * What `record --report` writes about a run at its end.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RecordReport".
 */
export interface RecordReport {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The session to resume; null if the runtime printed none.
   */
  sessionId: string | null;
  /**
   * The model's name as the runtime gave it.
   */
  model: string | null;
  /**
   * How the run ended, which may differ from how the process did.
   */
  status: CheckpointStatus;
  /**
   * How it went.
   */
  outcome?: Outcome;
  /**
   * Why it failed; null if it did not.
   */
  error: Failure | null;
  /**
   * Steps.
   */
  steps: number;
  /**
   * Tokens of the run and its children together; null if none are known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  /**
   * How long it took in milliseconds, as the runtime reported it.
   */
  durationMs: number | null;
  /**
   * The text of the last model message; null if there is none, or if it is longer than 16 MiB.
   */
  finalText: string | null;
  /**
   * How the process ended.
   */
  exit: ExitInfo;
  /**
   * Whether the database has all of it.
   */
  isStored: boolean;
  /**
   * The file that holds what could not be stored, for `runtape recover`; null if there is none.
   */
  spool: string | null;
  /**
   * Bytes of output that are kept nowhere.
   */
  lostBytes: number;
  [k: string]: unknown;
}
/**
 * A run that `recover` closed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RecoveredRun".
 */
export interface RecoveredRun {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * Where it came from.
   */
  source: RecoverySource;
  /**
   * How it ended.
   */
  status: CheckpointStatus;
  /**
   * How it went.
   */
  outcome?: Outcome;
  /**
   * Why it failed; null if it did not.
   */
  error: Failure | null;
  [k: string]: unknown;
}
/**
 * A root run that was looked at, and what was taken out of it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RedactedRun".
 */
export interface RedactedRun {
  /**
   * Tells that it is this: `run`.
   */
  type: "run";
  /**
   * The run.
   */
  runId: RunId;
  /**
   * How many were replaced, by the name of the rule that found them.
   */
  byRule?: {
    [k: string]: unknown;
  };
  /**
   * How many times a beginning that looked like a secret's was kept, since the rest of it did not come within the bounds.
   */
  unfinished?: number;
  /**
   * The seal over what is left; null if nothing was changed.
   */
  seal: SealName | null;
  [k: string]: unknown;
}
/**
 * Names an entry of a chain of seals. As text it is the number, with the chain before it where that is not the first: `7`, `3.7`.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SealName".
 */
export interface SealName {
  /**
   * The chain; not there for the first one, which is 0 and the only one of a database in a file.
   */
  chain?: number;
  /**
   * Which entry of its chain it is, counted from 1.
   */
  number: number;
  [k: string]: unknown;
}
/**
 * What `redact` did.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RedactSummary".
 */
export interface RedactSummary {
  /**
   * Tells that it is this: `summary`.
   */
  type: "summary";
  /**
   * Whether this only says what would be done.
   */
  isDryRun: boolean;
  /**
   * Root runs that were read.
   */
  runs: number;
  /**
   * Root runs that were replaced, or would be.
   */
  changed: number;
  /**
   * Whether the bytes of the secrets are gone from the files; null if nothing was changed.
   */
  isErased: boolean | null;
  [k: string]: unknown;
}
/**
 * A run, or a part of it, that was removed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "Removal".
 */
export interface Removal {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The number of the seal that covered it, in its chain.
   */
  seal: number;
  /**
   * The chain of that seal; not there for the first one, which is 0.
   */
  sealChain?: number;
  /**
   * Why.
   */
  reason: RemovalReason;
  /**
   * When.
   */
  at: Time;
  [k: string]: unknown;
}
/**
 * What normalizing a run again changed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RenormalizedRun".
 */
export interface RenormalizedRun {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The runtime that it was read as.
   */
  runtime: Runtime;
  /**
   * Records that are the same as before.
   */
  same: number;
  /**
   * Records under the same number that differ.
   */
  changed: number;
  /**
   * Records that were not there before.
   */
  added: number;
  /**
   * Records that are not there any more.
   */
  removed: number;
  [k: string]: unknown;
}
/**
 * A run with its steps, children and answer.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunDetail".
 */
export interface RunDetail {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The run on whose tape it is; null for a root run.
   */
  rootRunId: RunId | null;
  /**
   * The run whose call started it; null for a root run.
   */
  parentRunId: RunId | null;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * How it ended; `proceeding` while it is open.
   */
  status: CheckpointStatus;
  /**
   * How it went: `running` while it is open, `completed`, `failed`, `limit`, `interrupted` or `unfinished`.
   */
  outcome?: Outcome;
  /**
   * The expert that it was given to.
   */
  expertKey: string | null;
  /**
   * The model's name as the runtime gave it.
   */
  model: string | null;
  /**
   * The session to resume.
   */
  sessionId: string | null;
  /**
   * The directory it worked in.
   */
  cwd: string | null;
  /**
   * The agent CLI's version.
   */
  cliVersion: string | null;
  /**
   * When it began: by the recorder's clock where it ran the process, else as its first record says.
   */
  startedAt: Time;
  /**
   * When it ended, by the same clock; null while it is open.
   */
  finishedAt: Time | null;
  /**
   * How long it took in milliseconds: by the recorder's clock where it ran the process, else as the runtime reported it.
   */
  durationMs: number | null;
  /**
   * How long it took in milliseconds, as the runtime reported it.
   */
  reportedDurationMs?: number;
  /**
   * What to call it: what was asked, else what the runtime calls the session, else the command line.
   */
  title?: string;
  /**
   * What was asked, its first 200 characters.
   */
  prompt?: string;
  /**
   * The command line.
   */
  argv?: string[];
  /**
   * What the agent may do without asking, by the runtime's own word for it.
   */
  permissionMode?: string;
  /**
   * The machine it ran on.
   */
  host?: string;
  /**
   * The user it ran as.
   */
  user?: string;
  /**
   * The exit code of its process.
   */
  exitCode?: number;
  /**
   * The signal that ended its process.
   */
  signal?: string;
  /**
   * The commit that the directory was at when it began.
   */
  gitCommit?: string;
  /**
   * The branch that the directory was on when it began.
   */
  gitBranch?: string;
  /**
   * Labels that whoever started it gave it.
   */
  labels?: {
    [k: string]: unknown;
  };
  /**
   * Steps that ended.
   */
  steps: number;
  /**
   * Messages.
   */
  messages: number;
  /**
   * Kept records.
   */
  records: number;
  /**
   * Lines that no parser understood.
   */
  unparsed: number;
  /**
   * What it used by itself, without its children; null if nothing is known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  /**
   * Why it failed; null if it did not.
   */
  error: Failure | null;
  /**
   * The number of the seal that covers it, in its chain; null while it is open.
   */
  seal: number | null;
  /**
   * The chain of that seal; not there for the first one, which is 0.
   */
  sealChain?: number;
  /**
   * The runs that it started.
   */
  children: RunInfo[];
  /**
   * The steps that ended.
   */
  stepsEnded: StepInfo[];
  /**
   * What was asked, all of it; not there if it is not known.
   */
  query?: string;
  /**
   * The text of the last model message; null if there is none.
   */
  finalText: string | null;
  /**
   * How the process ended; null while the run is open, and for a child.
   */
  exit: ExitInfo | null;
  /**
   * Bytes of standard input on the tape; not there if there are none.
   */
  stdinBytes?: number;
  /**
   * Bytes of standard output on the tape.
   */
  stdoutBytes: number;
  /**
   * Bytes of standard error on the tape.
   */
  stderrBytes: number;
  /**
   * Where it was before it was imported; not there for a run that was recorded here.
   */
  origin?: RunOrigin;
  /**
   * By which rules secrets were taken out of it before it was kept, and how many; not there for a child, and for a run from before that was done.
   */
  redaction?: RunRedaction;
  /**
   * The step that it is in; not there for a run that has ended, and before anything of a step was printed.
   */
  openStep?: OpenStep;
  [k: string]: unknown;
}
/**
 * What is known of a step, without its messages.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StepInfo".
 */
export interface StepInfo {
  /**
   * The step, counted from 1.
   */
  step: number;
  /**
   * The checkpoint at its end.
   */
  checkpointId: CheckpointId;
  /**
   * The record of that checkpoint.
   */
  seq: number;
  /**
   * Where the run stood.
   */
  status: CheckpointStatus;
  /**
   * When it began.
   */
  startedAt: Time;
  /**
   * When it ended.
   */
  finishedAt: Time;
  /**
   * Messages of the run so far.
   */
  messages: number;
  /**
   * Tools that were called.
   */
  toolCalls: number;
  /**
   * Calls without a result.
   */
  pendingToolCalls: number;
  /**
   * What the step used; null if nothing is known.
   */
  usage: SummaryUsage | null;
  [k: string]: unknown;
}
/**
 * Where a run was before it was imported.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunOrigin".
 */
export interface RunOrigin {
  /**
   * The seal that covered it there, whose hash can be compared with one kept elsewhere; null if none did.
   */
  seal: SealHead | null;
  /**
   * When it was sealed there.
   */
  sealedAt: Time | null;
  /**
   * Whether all of it was proved to be as it was sealed there, before it was taken in.
   */
  isVerified: boolean;
  /**
   * When it was taken in.
   */
  importedAt: Time;
  [k: string]: unknown;
}
/**
 * An entry of a chain of seals, and its hash.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SealHead".
 */
export interface SealHead {
  /**
   * The chain; not there for the first one, which is 0 and the only one of a database in a file.
   */
  chain?: number;
  /**
   * Which entry of its chain it is, counted from 1.
   */
  number: number;
  /**
   * The hash over it and all entries of its chain before it, in hexadecimal digits.
   */
  hash: string;
  /**
   * The hash is over the ends of several chains, as a server has them, and over all such hashes before it; the number counts those. Not there for an entry of a chain.
   */
  isEpoch?: boolean;
  [k: string]: unknown;
}
/**
 * What was taken out of a run, and by which rules.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunRedaction".
 */
export interface RunRedaction {
  /**
   * What was looked for: `off`, `definite` or `broad`. Names may be added.
   */
  tier: string;
  /**
   * The name and version of the rule set; not there if nothing was looked for.
   */
  rules?: string;
  /**
   * The digest of all rules that were applied, those of the user included.
   */
  digest?: string;
  /**
   * The key under which markers tell the same secret from another; not there if they do not.
   */
  keyId?: string;
  /**
   * How many were replaced, by the name of the rule that found them.
   */
  byRule?: {
    [k: string]: unknown;
  };
  /**
   * How many times a beginning that looked like a secret's was kept, since the rest of it did not come within the bounds.
   */
  unfinished?: number;
  [k: string]: unknown;
}
/**
 * A run, with all its children, in one object. Unknown is null, never absent.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RunSummary".
 */
export interface RunSummary {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The output format that was read.
   */
  outputFormat: string | null;
  /**
   * The session to resume.
   */
  sessionId: string | null;
  /**
   * The model's name as the runtime gave it.
   */
  model: string | null;
  /**
   * The agent CLI's version.
   */
  cliVersion: string | null;
  /**
   * The directory it worked in.
   */
  cwd: string | null;
  /**
   * How the run ended.
   */
  status: CheckpointStatus;
  /**
   * How many messages of the model the main run has.
   */
  steps: number;
  /**
   * How long the run took in milliseconds: by the recorder's clock where it ran the process, else as the runtime reported it.
   */
  durationMs: number | null;
  /**
   * Tokens of the main run and its children together; null if none are known.
   */
  usage: SummaryUsage | null;
  /**
   * What the run cost in US dollars, as the runtime reported it.
   */
  costUsd: number | null;
  /**
   * The text of the main run's last model message; null if it was cut off or there was none.
   */
  finalText: string | null;
  /**
   * Everything the model said, child runs included, in the order it was printed.
   */
  texts: string[];
  /**
   * Everything the model thought, child runs included, in the order it was printed.
   */
  thinking: string[];
  /**
   * Every tool call, child runs included, in the order it was printed.
   */
  toolCalls: SummaryToolCall[];
  /**
   * Why the run failed.
   */
  error: SummaryError | null;
  /**
   * The main run and its children.
   */
  runs: SummaryRun[];
  /**
   * What the runtime reported besides.
   */
  notices: SummaryNotice[];
  /**
   * Output that no parser understood.
   */
  unparsed: SummaryUnparsed[];
  [k: string]: unknown;
}
/**
 * A tool call and what came of it.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SummaryToolCall".
 */
export interface SummaryToolCall {
  /**
   * The id as it was printed, or a derived one.
   */
  id: string;
  /**
   * The tool's name.
   */
  name: string;
  /**
   * Its input; null if none was printed.
   */
  input: {
    [k: string]: unknown;
  };
  /**
   * Whether it failed; null if no result came or it did not tell.
   */
  isError: boolean | null;
  /**
   * What it gave back; null if nothing was printed.
   */
  output: string | null;
  /**
   * The step within its run.
   */
  step: number;
  /**
   * Its run.
   */
  runId: RunId;
  [k: string]: unknown;
}
/**
 * Why a run failed.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SummaryError".
 */
export interface SummaryError {
  /**
   * The error's name.
   */
  name: string;
  /**
   * What went wrong, for people.
   */
  message: string;
  /**
   * The HTTP status of the model's API.
   */
  statusCode: number | null;
  /**
   * Whether the same run may succeed later.
   */
  isRetryable: boolean;
  /**
   * What kind of failure it was.
   */
  family: ErrorFamily | null;
  /**
   * Not before this time, in milliseconds since 1970.
   */
  retryAt: number | null;
  [k: string]: unknown;
}
/**
 * One run of the tree.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SummaryRun".
 */
export interface SummaryRun {
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The call that started it; null for the main run.
   */
  parentToolCallId: ToolCallId | null;
  [k: string]: unknown;
}
/**
 * Something the runtime reported.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SummaryNotice".
 */
export interface SummaryNotice {
  /**
   * The kind of notice.
   */
  kind: string;
  /**
   * What it said.
   */
  text: string;
  [k: string]: unknown;
}
/**
 * Output that no parser understood.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SummaryUnparsed".
 */
export interface SummaryUnparsed {
  /**
   * The type that the line names.
   */
  type: string | null;
  /**
   * The line, counted from 1.
   */
  line: number;
  /**
   * Why it was not understood.
   */
  reason: string;
  [k: string]: unknown;
}
/**
 * A runtime whose output can be read.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "RuntimeInfo".
 */
export interface RuntimeInfo {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The names that its command goes by.
   */
  commands: string[];
  /**
   * The output formats that can be read.
   */
  formats: string[];
  /**
   * Where the command is; null if it is not installed.
   */
  installed: string | null;
  /**
   * Paperclip's name for an adapter of it.
   */
  adapterType: string;
  /**
   * What Paperclip's host may do with it.
   */
  capabilities: AdapterCapabilities;
  /**
   * What each of the output formats tells, in the order of `formats`.
   */
  outputFormats?: FormatInfo[];
  /**
   * The name of the output format that tells most.
   */
  bestFormat?: string;
  /**
   * The versions of its program whose output was seen.
   */
  versions?: string[];
  [k: string]: unknown;
}
/**
 * What `scan` looked at.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ScanSummary".
 */
export interface ScanSummary {
  /**
   * Tells that it is this: `summary`.
   */
  type: "summary";
  /**
   * What was looked for: `definite` or `broad`.
   */
  tier: string;
  /**
   * Root runs that were read.
   */
  runs: number;
  /**
   * Root runs in which something was found.
   */
  runsWithSecrets: number;
  /**
   * How many places were found, by rule.
   */
  byRule: {
    [k: string]: unknown;
  };
  [k: string]: unknown;
}
/**
 * A schema that is published.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SchemaInfo".
 */
export interface SchemaInfo {
  /**
   * Its name, for `validate --kind` and `schema`.
   */
  kind: string;
  /**
   * Its `$id`.
   */
  id: string;
  /**
   * The file that it was written to.
   */
  path?: string;
  [k: string]: unknown;
}
/**
 * A record in which a search found something.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SearchHit".
 */
export interface SearchHit {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The record.
   */
  seq: number;
  /**
   * The step it belongs to, 0 before the first.
   */
  step: number;
  /**
   * When it happened.
   */
  at: Time;
  /**
   * Who it comes from.
   */
  role: SearchRole;
  /**
   * The record by run and number, such as `RUN#17`: `show` and `transcript` take it.
   */
  reference: string;
  /**
   * The text around what was found, in pieces.
   */
  snippet: SnippetPart[];
  [k: string]: unknown;
}
/**
 * A piece of a snippet.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SnippetPart".
 */
export interface SnippetPart {
  /**
   * The text.
   */
  text: string;
  /**
   * Whether the search was for this.
   */
  isMatch: boolean;
  [k: string]: unknown;
}
/**
 * A run in which a search found something.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SearchedRun".
 */
export interface SearchedRun {
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * In how many records.
   */
  hits: number;
  /**
   * The last one of them.
   */
  latest: SearchHit;
  [k: string]: unknown;
}
/**
 * Where the page and the API are served.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ServeInfo".
 */
export interface ServeInfo {
  /**
   * The address of the page, with the token after the `#`.
   */
  url: string;
  /**
   * The port.
   */
  port: number;
  /**
   * What every request for data must have: `Authorization: Bearer TOKEN`.
   */
  token: string;
  [k: string]: unknown;
}
/**
 * The session to resume, or why there is none.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SessionAnswer".
 */
export interface SessionAnswer {
  /**
   * The session; null if there is none to resume.
   */
  sessionId: string | null;
  /**
   * The run that printed it.
   */
  runId: RunId | null;
  /**
   * That run's job.
   */
  jobId: JobId | null;
  /**
   * That run's runtime.
   */
  runtime: Runtime | null;
  /**
   * The directory it worked in.
   */
  cwd: string | null;
  /**
   * How it ended.
   */
  status: CheckpointStatus | null;
  /**
   * How it went; not there if there is no session to resume.
   */
  outcome?: Outcome;
  /**
   * When it began.
   */
  startedAt: Time | null;
  /**
   * Why there is no session; null if there is one.
   */
  reason: string | null;
  [k: string]: unknown;
}
/**
 * What is known of a session of an agent CLI, made from its runs. Unknown is null.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SessionInfo".
 */
export interface SessionInfo {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The session's id, as the runtime gave it.
   */
  sessionId: string;
  /**
   * The directory its latest run worked in.
   */
  cwd: string | null;
  /**
   * What the runtime calls it.
   */
  title: string | null;
  /**
   * The first words of what was asked for first.
   */
  prompt: string | null;
  /**
   * The model of its latest run.
   */
  model: string | null;
  /**
   * Root runs.
   */
  runs: number;
  /**
   * What all its runs and their children used, each response counted once; null if nothing is known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  /**
   * How its latest run ended; `proceeding` while that is open.
   */
  status: CheckpointStatus;
  /**
   * How its latest run went.
   */
  outcome?: Outcome;
  /**
   * Why its latest run failed; null if it did not.
   */
  error: Failure | null;
  /**
   * When its first run began.
   */
  startedAt: Time;
  /**
   * When something happened in it last: a run or a step ended, or a run began.
   */
  lastActiveAt: Time;
  /**
   * Its latest root run.
   */
  latestRunId: RunId;
  /**
   * The command that goes on with it, in its directory; null if there is none.
   */
  resume: string | null;
  [k: string]: unknown;
}
/**
 * A row that a query found: the names of its columns and their values, each null, a number or a text. A blob is a text of hexadecimal digits.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SqlRow".
 */
export interface SqlRow {
  [k: string]: unknown;
}
/**
 * How much there is, and what it takes.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "StoreStats".
 */
export interface StoreStats {
  /**
   * Jobs.
   */
  jobs: number;
  /**
   * Runs, children included.
   */
  runs: number;
  /**
   * Root runs that are not sealed.
   */
  openRuns: number;
  /**
   * Kept records.
   */
  records: number;
  /**
   * Bytes of output on tapes, before compressing.
   */
  tapeBytes: number;
  /**
   * Bytes of records, before compressing.
   */
  recordBytes: number;
  /**
   * Bytes of the database, without its log.
   */
  databaseBytes: number;
  /**
   * Bytes that deleted rows left unused; compacting gives them back.
   */
  freeBytes: number;
  /**
   * Bytes of the search index.
   */
  searchBytes: number;
  /**
   * Bytes of each table and index, largest first.
   */
  tables: TableStats[];
  [k: string]: unknown;
}
/**
 * What was found of one runtime.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SyncGroup".
 */
export interface SyncGroup {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * Sessions that were found.
   */
  sessions: number;
  /**
   * Runs that were not known before.
   */
  new: number;
  /**
   * Runs of which there is more now.
   */
  grown: number;
  /**
   * Recorded runs that were joined with their history.
   */
  joined: number;
  /**
   * Runs, or sessions that were not even read again, that are as they were.
   */
  unchanged: number;
  /**
   * Files that could not be read, or not all of them.
   */
  unreadable: number;
  /**
   * What the runs that are new, grown or joined used; null if it is not known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  [k: string]: unknown;
}
/**
 * What became of one session.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SyncedSource".
 */
export interface SyncedSource {
  /**
   * Tells that it is this: `source`.
   */
  type: "source";
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The session's id; null for a file that could not be read.
   */
  sessionId: string | null;
  /**
   * The files, or the database, that hold it.
   */
  paths: string[];
  /**
   * Runs that were not known before.
   */
  new: RunId[];
  /**
   * Runs that were known, and of which there is more now.
   */
  grown: RunId[];
  /**
   * Recorded runs that were joined with their history.
   */
  joined: RunId[];
  /**
   * How many runs are as they were.
   */
  unchanged: number;
  /**
   * Why it could not be read, or not all of it; null if all is well.
   */
  reason: string | null;
  [k: string]: unknown;
}
/**
 * What all of it came to.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "SyncSummary".
 */
export interface SyncSummary {
  /**
   * Tells that it is this: `summary`.
   */
  type: "summary";
  /**
   * Nothing was written: it was only looked.
   */
  isDryRun: boolean;
  /**
   * What was found, by runtime.
   */
  groups: SyncGroup[];
  [k: string]: unknown;
}
/**
 * How a tool was used.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ToolUse".
 */
export interface ToolUse {
  /**
   * The runtime.
   */
  runtime: Runtime;
  /**
   * The tool's name.
   */
  tool: string;
  /**
   * What the tool is for; absent for records from before classes were known.
   */
  class?: ToolClass;
  /**
   * How often it was called.
   */
  calls: number;
  /**
   * Calls that failed.
   */
  errors: number;
  /**
   * Calls without a result.
   */
  unanswered: number;
  /**
   * Runs that called it.
   */
  runs: number;
  /**
   * Mean duration in milliseconds of the calls whose duration is known; null if none is.
   */
  meanMs: number | null;
  /**
   * The last call.
   */
  lastAt: Time;
  [k: string]: unknown;
}
/**
 * A type that this version does not know. Readers keep it as it is.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UnknownTranscriptEntry".
 */
export interface UnknownTranscriptEntry {
  /**
   * When, as an ISO 8601 time in UTC.
   */
  ts: string;
  /**
   * The type, which is none of the known ones.
   */
  kind: string;
  [k: string]: unknown;
}
/**
 * A file of a job tree that is not as it should be. What it says is missing in the database.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TreeFault".
 */
export interface TreeFault {
  /**
   * Tells that it is this: `fault`.
   */
  type: "fault";
  /**
   * The file.
   */
  path: string;
  /**
   * What is wrong with it, with the place in it where there is one.
   */
  reason: string;
  [k: string]: unknown;
}
/**
 * A root run of a job tree, its children included.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "TreeRun".
 */
export interface TreeRun {
  /**
   * Tells that it is this: `run`.
   */
  type: "run";
  /**
   * The job.
   */
  jobId: JobId;
  /**
   * The run.
   */
  runId: RunId;
  /**
   * What became of it.
   */
  outcome: TreeOutcome;
  /**
   * Which version of Perstack wrote the job, as far as its files tell.
   */
  vintage: TreeVintage;
  /**
   * How many runs it called, and they in turn.
   */
  children: number;
  [k: string]: unknown;
}
/**
 * What a day, runtime, model, job, session, directory or label used; or two of them together.
 *
 * The sums of all groups are the same, whatever they are grouped by.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UsageGroup".
 */
export interface UsageGroup {
  /**
   * The day, runtime, model or whatever else comes first; null where it is not known.
   */
  name: string | null;
  /**
   * What is grouped by, and the name of each.
   */
  keys?: UsageKey[];
  /**
   * Root runs that reported tokens or a cost: each counts once, when it began and with its own model. In a period, those that used something in it: one that began before counts when the period begins.
   */
  runs: number;
  /**
   * The numbers; null if none are known.
   */
  usage: SummaryUsage | null;
  /**
   * US dollars, as runtimes reported it; null where none did.
   */
  costUsd: number | null;
  /**
   * US dollars, `costUsd` and `estimatedCostUsd` together; not there where neither is known.
   */
  costTotalUsd?: number;
  /**
   * Some of `costTotalUsd` is estimated.
   */
  costIsEstimated?: boolean;
  /**
   * US dollars for the tokens of runs that reported no cost, estimated with a price table; not there where there are none, or no price is known. It is not part of `costUsd`.
   */
  estimatedCostUsd?: number;
  /**
   * Models whose tokens are not in the estimate, because the price table does not know them.
   */
  unpricedModels?: string[];
  /**
   * Tokens that are not in the estimate, because no model is named for them.
   */
  hasUnnamedModel?: boolean;
  /**
   * A hash of the price table that estimates were made with; not there if there was nothing to estimate.
   */
  priceTable?: string;
  /**
   * The part of `usage.inputTokens` that was written to a cache, at a price of its own; not there where there is none, or nobody said.
   */
  cacheWriteTokens?: number;
  /**
   * Tokens of responses that an earlier run of the same session counted. They are in neither `usage` nor the cost.
   */
  countedBefore?: SummaryUsage;
  [k: string]: unknown;
}
/**
 * One of the things that usage is grouped by.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "UsageKey".
 */
export interface UsageKey {
  /**
   * `day`, `week`, `month`, `runtime`, `model`, `job`, `session`, `cwd`, `label`, or `label:` and the name of one.
   */
  by: string;
  /**
   * The day, runtime, model and so on; null where it is not known.
   */
  name: string | null;
  [k: string]: unknown;
}
/**
 * How many lines there were.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ValidationCounts".
 */
export interface ValidationCounts {
  /**
   * Tells that it is this: `summary`.
   */
  type: "summary";
  /**
   * Lines that fit the schema.
   */
  valid: number;
  /**
   * Lines of types that this version does not know.
   */
  unknown: number;
  /**
   * Lines that break the schema.
   */
  invalid: number;
  /**
   * The kind that most lines look like, where it is not the one they were checked against.
   */
  suggestedKind?: string;
  [k: string]: unknown;
}
/**
 * A fault of a line that breaks the schema.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ValidationFault".
 */
export interface ValidationFault {
  /**
   * Tells that it is this: `invalid`.
   */
  type: "invalid";
  /**
   * The line, counted from 1.
   */
  line: number;
  /**
   * The type that the line names; null if it names none that is known.
   */
  tag: string | null;
  /**
   * Where in the line, as a JSON pointer; empty for all of it.
   */
  path: string;
  /**
   * What was expected there, and what was found.
   */
  message: string;
  /**
   * The rule that was broken, as a JSON pointer into the schema; empty if the line is no JSON.
   */
  schemaPath: string;
  [k: string]: unknown;
}
/**
 * A line of a type that this version does not know.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "ValidationUnknown".
 */
export interface ValidationUnknown {
  /**
   * Tells that it is this: `unknown`.
   */
  type: "unknown";
  /**
   * The line, counted from 1.
   */
  line: number;
  /**
   * The type that it names.
   */
  tag: string;
  [k: string]: unknown;
}
/**
 * Something that is not as it was written.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "VerifyFault".
 */
export interface VerifyFault {
  /**
   * Where.
   */
  place: FaultPlace;
  /**
   * What is wrong there.
   */
  fault: string;
  [k: string]: unknown;
}
/**
 * What `verify` found.
 *
 * This interface was referenced by `Runtape`'s JSON-Schema
 * via the `definition` "VerifyReport".
 */
export interface VerifyReport {
  /**
   * Runs that were read, children included.
   */
  runs: number;
  /**
   * Root runs among them that are open: their records are proved, but no seal covers them yet.
   */
  openRuns: number;
  /**
   * Records that were read.
   */
  records: number;
  /**
   * Bytes of output that were read.
   */
  tapeBytes: number;
  /**
   * The end of the chain of seals; null while nothing was sealed. Kept elsewhere, it proves later that nothing before it in its chain changed.
   */
  head: SealHead | null;
  /**
   * What was removed, and when.
   */
  removals: Removal[];
  /**
   * What is wrong, the first fault of each chain; empty if all is as it was written.
   */
  faults: VerifyFault[];
  /**
   * The seals that cover the runs of a bundle, to be compared with what is kept elsewhere; not there for a whole database.
   */
  bundle?: RunSeal[];
  /**
   * What could not be seen: in a chain without a head that was kept elsewhere, that the last entries were cut off together with their runs, or that all hashes were computed anew.
   */
  unseen?: Unseen[];
  [k: string]: unknown;
}

/** The type of each kind of value, by the name that `runtape schema` lists. */
export interface Kinds {
  "adapter-command": AdapterCommand;
  "adapter-environment": AdapterEnvironment;
  "adapter-session": AdapterSession;
  "backup-report": BackupReport;
  "checkpoint": Checkpoint;
  "checkpoint-diff": CheckpointDiff;
  "config-info": ConfigInfo;
  "copy-line": CopyLine;
  "database-status": DatabaseStatus;
  "doctor-report": DoctorReport;
  "document": Document;
  "drift": Drift;
  "event": Event;
  "exported-file": ExportedFile;
  "exported-tree": ExportedTree;
  "failure-sum": FailureSum;
  "file-call": FileCall;
  "file-use": FileUse;
  "gc-report": GcReport;
  "host-use": HostUse;
  "imported-run": ImportedRun;
  "ingest-line": IngestLine;
  "job": Job;
  "job-detail": JobDetail;
  "job-info": JobInfo;
  "ledger-entry": LedgerEntry;
  "message": Message;
  "migration-report": MigrationReport;
  "model-price": ModelPrice;
  "network-call": NetworkCall;
  "notice-info": NoticeInfo;
  "raw-output": RawOutput;
  "rebuilt-run": RebuiltRun;
  "record": Record;
  "record-report": RecordReport;
  "recovered-run": RecoveredRun;
  "redact-line": RedactLine;
  "renormalized-run": RenormalizedRun;
  "run-detail": RunDetail;
  "run-event": RunEvent;
  "run-info": RunInfo;
  "runtime-event": RuntimeEvent;
  "runtime-info": RuntimeInfo;
  "scan-line": ScanLine;
  "schema-info": SchemaInfo;
  "search-hit": SearchHit;
  "searched-run": SearchedRun;
  "serve-info": ServeInfo;
  "session-answer": SessionAnswer;
  "session-info": SessionInfo;
  "sql-row": SqlRow;
  "step": Step;
  "store-stats": StoreStats;
  "summary": RunSummary;
  "sync-line": SyncLine;
  "tool-call-info": ToolCallInfo;
  "tool-use": ToolUse;
  "transcript-entry": TranscriptEntry;
  "tree-line": TreeLine;
  "usage": Usage;
  "usage-group": UsageGroup;
  "validation-line": ValidationLine;
  "verify-report": VerifyReport;
}
