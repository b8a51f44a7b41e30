"""Generated from schemas/v1 by `.ci/generate python`; changes are lost."""

from __future__ import annotations
from typing import Annotated, Any, Literal
from pydantic import Discriminator, Tag, Field, StringConstraints
from runtape_models.base import Model, event_kind
from typing_extensions import TypeAliasType
from re import compile

class AdapterCapabilities(Model):
    """
    What Paperclip's host may do with a runtime.
    """

    supportsLocalAgentJwt: Annotated[
        bool,
        Field(
            description=(
                'Whether the host makes a token for the agent to call it back with.'
            )
        ),
    ]
    supportsInstructionsBundle: Annotated[
        bool, Field(description="Whether the host keeps the agent's instructions.")
    ]
    instructionsPathKey: Annotated[
        str | None,
        Field(
            description=(
                'The configuration key that holds the path of the instructions; null if'
                ' the host does not keep them.'
            )
        ),
    ]
    requiresMaterializedRuntimeSkills: Annotated[
        bool, Field(description='Whether skills must be written to disk before a run.')
    ]


class AdapterEnvironment(Model):
    """
    The environment of an agent CLI.
    """

    variables: Annotated[
        dict[str, Any],
        Field(
            description=(
                'Every variable with its value, and no other: secrets are among them.'
            )
        ),
    ]
    logged: Annotated[
        dict[str, Any],
        Field(
            description=(
                'What may be logged: the variables that the adapter set, secrets'
                ' replaced.'
            )
        ),
    ]
    withheld: Annotated[
        list[str],
        Field(
            description=(
                "The names of the server's variables that were kept from the agent,"
                " sorted."
            )
        ),
    ]
    skillsHome: Annotated[
        str | None,
        Field(
            description=(
                'The directory in which the CLI looks for skills; null if its command'
                ' line names one.'
            )
        ),
    ]


class AdapterFault(Model):
    """
    What is wrong with a configuration or a request.
    """

    code: Annotated[
        str, Field(description='For programs, in lower case with underscores.')
    ]
    message: Annotated[str, Field(description='For people.')]


class AdapterSession(Model):
    """
    Whether the next run goes on with a stored session.
    """

    resume: Annotated[
        str | None, Field(description='The session to resume; null for a new one.')
    ]
    reason: Annotated[
        str | None,
        Field(
            description=(
                'Why there is none to resume: `no_session`, `other_directory`,'
                ' `other_runtime` …; null if there is one. More may be added.'
            )
        ),
    ]
    message: Annotated[
        str | None,
        Field(
            description=(
                'The same for people; null if there is a session, or never was one.'
            )
        ),
    ]


class ApiRetry(Model):
    """
    The runtime tries a model request again.
    """

    type: Annotated[
        Literal['apiRetry'], Field(description='Tells that it is this: `apiRetry`.')
    ]
    attempt: Annotated[
        int | None,
        Field(
            description='Which try failed, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    maxAttempts: Annotated[
        int | None,
        Field(
            description='How many tries there will be at the most.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    delayMs: Annotated[
        int | None,
        Field(
            description='Milliseconds until the next try.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    statusCode: Annotated[
        int | None,
        Field(description='The HTTP status that made it necessary.', ge=0, le=65535),
    ] = None
    reason: Annotated[
        str | None, Field(description='What the runtime said about it.')
    ] = None


class AppliedRules(Model):
    """
    By which rules secrets were taken out of what is kept of a run.
    """

    tier: Annotated[
        str,
        Field(
            description=(
                'What was looked for: `off`, `definite` or `broad`. Names may be added.'
            )
        ),
    ]
    rules: Annotated[
        str | None,
        Field(
            description=(
                'The name and version of the rule set; not there if nothing was looked'
                ' for.'
            )
        ),
    ] = None
    digest: Annotated[
        str | None,
        Field(
            description=(
                'The digest of all rules that were applied, those of the user included.'
            )
        ),
    ] = None
    keyId: Annotated[
        str | None,
        Field(
            description=(
                'The key under which markers tell the same secret from another; not'
                ' there if they do not.'
            )
        ),
    ] = None


class BackupReport(Model):
    """
    A copy of the database that was written.
    """

    file: Annotated[str, Field(description='The file.')]
    bytes: Annotated[
        int, Field(description='Its bytes.', ge=0, le=18446744073709551615)
    ]


BuildStage = TypeAliasType(
    "BuildStage",
    Annotated[
        Literal['pulling', 'building', 'complete', 'error'],
        Field(description='How far the build of a container is.', title='BuildStage'),
    ],
)


CheckLevel = TypeAliasType(
    "CheckLevel",
    Annotated[
        Literal['info', 'warn', 'error'],
        Field(description='How much a check matters.', title='CheckLevel'),
    ],
)


CheckpointId = TypeAliasType(
    "CheckpointId",
    Annotated[
        str,
        Field(
            description=(
                'Names a checkpoint, the state at the end of a step. Safe as a path'
                ' name.'
            ),
            pattern='^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
            title='CheckpointId',
        ),
    ],
)


CheckpointStatus = TypeAliasType(
    "CheckpointStatus",
    Annotated[
        Literal[
            'init',
            'proceeding',
            'completed',
            'stoppedByInteractiveTool',
            'stoppedByDelegate',
            'stoppedByExceededMaxSteps',
            'stoppedByError',
        ],
        Field(description='Where a run stands.', title='CheckpointStatus'),
    ],
)


class Compaction(Model):
    """
    The conversation was compacted.
    """

    type: Annotated[
        Literal['compaction'], Field(description='Tells that it is this: `compaction`.')
    ]
    trigger: Annotated[str | None, Field(description='What set it off.')] = None
    preTokens: Annotated[
        int | None, Field(description='Tokens before.', ge=0, le=18446744073709551615)
    ] = None
    postTokens: Annotated[
        int | None, Field(description='Tokens after.', ge=0, le=18446744073709551615)
    ] = None
    durationMs: Annotated[
        int | None,
        Field(description='How long it took.', ge=0, le=18446744073709551615),
    ] = None
    message: Annotated[
        str | None, Field(description='What the runtime said about it.')
    ] = None


class ConfigInfo(Model):
    """
    What `config` prints: where the configuration is, and what it says.
    """

    path: Annotated[str, Field(description='The file.')]
    isThere: Annotated[
        bool,
        Field(
            description='Whether it is there; without it everything is as by default.'
        ),
    ]
    settings: Annotated[
        Any, Field(description='The settings in force, with what is by default.')
    ]


class Connection(Model):
    """
    The connection to the model's service changed.
    """

    type: Annotated[
        Literal['connection'], Field(description='Tells that it is this: `connection`.')
    ]
    state: Annotated[str, Field(description="The new state, in the runtime's words.")]
    attempt: Annotated[
        int | None, Field(description='Which try.', ge=0, le=18446744073709551615)
    ] = None
    endpoint: Annotated[str | None, Field(description='The other side.')] = None


ContainerStatus = TypeAliasType(
    "ContainerStatus",
    Annotated[
        Literal['starting', 'running', 'healthy', 'unhealthy', 'stopped', 'error'],
        Field(description='The state of a container.', title='ContainerStatus'),
    ],
)


CopyOutcome = TypeAliasType(
    "CopyOutcome",
    Annotated[
        Literal['stored', 'skipped', 'open', 'differs', 'failed'],
        Field(
            description='What became of a run that was to be copied.',
            title='CopyOutcome',
        ),
    ],
)


class CopySummary(Model):
    """
    What all runs came to.
    """

    type: Annotated[
        Literal['summary'], Field(description='Tells that it is this: `summary`.')
    ]
    from_: Annotated[
        str,
        Field(
            alias='from',
            description='The database that they are in, without a password.',
        ),
    ]
    to: Annotated[
        str, Field(description='The database that they went to, without a password.')
    ]
    stored: Annotated[
        int, Field(description='Runs that were copied.', ge=0, le=18446744073709551615)
    ]
    skipped: Annotated[
        int,
        Field(
            description='Runs that were there already.', ge=0, le=18446744073709551615
        ),
    ]
    recordedDifferently: Annotated[
        int | None,
        Field(
            description=(
                'Those of them that were recorded under another redaction key, by other'
                ' rules or on another machine; not there if none was.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    open: Annotated[
        int,
        Field(description='Runs that have not ended.', ge=0, le=18446744073709551615),
    ]
    differs: Annotated[
        int,
        Field(
            description='Runs under whose ids there are others.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    failed: Annotated[
        int,
        Field(
            description='Runs that could not be copied.', ge=0, le=18446744073709551615
        ),
    ]


class DockerBuildProgress(Model):
    """
    A container is being built.
    """

    type: Annotated[
        Literal['dockerBuildProgress'],
        Field(description='Tells that it is this: `dockerBuildProgress`.'),
    ]
    stage: Annotated[BuildStage, Field(description='How far it is.')]
    service: Annotated[str, Field(description="The container's service.")]
    message: Annotated[str, Field(description='What is being done.')]
    progress: Annotated[float | None, Field(description='How much is done.')] = None


class DockerContainerStatus(Model):
    """
    A container changed its state.
    """

    type: Annotated[
        Literal['dockerContainerStatus'],
        Field(description='Tells that it is this: `dockerContainerStatus`.'),
    ]
    status: Annotated[ContainerStatus, Field(description='The new state.')]
    service: Annotated[str, Field(description="The container's service.")]
    message: Annotated[str | None, Field(description='More on it.')] = None


class DoctorCheck(Model):
    """
    Something that was looked at.
    """

    code: Annotated[
        str,
        Field(
            description=(
                'Names the check, in lower case with underscores:'
                ' `runtape_database_mode`, `claude_command_resolvable` …'
            )
        ),
    ]
    level: Annotated[CheckLevel, Field(description='How much it matters.')]
    message: Annotated[str, Field(description='What was found, for people.')]
    detail: Annotated[
        str | None, Field(description='More about it; null if there is nothing more.')
    ]
    hint: Annotated[
        str | None,
        Field(description='What to do about it; null if there is nothing to do.'),
    ]


DoctorStatus = TypeAliasType(
    "DoctorStatus",
    Annotated[
        Literal['pass', 'warn', 'fail'],
        Field(description='What all checks together come to.', title='DoctorStatus'),
    ],
)


class Document(Model):
    """
    A text that belongs elsewhere: a completion script or a manual page.
    """

    name: Annotated[
        str, Field(description='What it is: the shell, or the name of the page.')
    ]
    file: Annotated[
        str | None,
        Field(description='The file that it was written to; null if it was not.'),
    ]
    text: Annotated[
        str | None, Field(description='The text; null if it was written to a file.')
    ]


DriftKind = TypeAliasType(
    "DriftKind",
    Annotated[
        Literal['line', 'key'],
        Field(description='What was not understood.', title='DriftKind'),
    ],
)


class EarlierResult(Model):
    """
    A result that was not the run's last.
    """

    type: Annotated[
        Literal['earlierResult'],
        Field(description='Tells that it is this: `earlierResult`.'),
    ]
    isError: Annotated[bool, Field(description='Whether it reports a failure.')]
    subtype: Annotated[str | None, Field(description="The runtime's word for it.")] = (
        None
    )
    text: Annotated[str | None, Field(description='Its text.')] = None


ErrorFamily = TypeAliasType(
    "ErrorFamily",
    Annotated[
        Literal[
            'auth',
            'rateLimit',
            'billing',
            'overload',
            'contextOverflow',
            'refusal',
            'unknownSession',
            'modelNotFound',
            'network',
            'turnLimit',
            'budget',
            'process',
            'other',
        ],
        Field(
            description=(
                'What kind of failure it was, so that a program can decide what to do'
                ' next.'
            ),
            title='ErrorFamily',
        ),
    ],
)


EventId = TypeAliasType(
    "EventId",
    Annotated[
        str,
        Field(
            description='Names an event.', max_length=255, min_length=1, title='EventId'
        ),
    ],
)


class ExitInfo(Model):
    """
    How a process ended, as far as it is known.
    """

    code: Annotated[
        int | None,
        Field(
            description='Its exit code; null if it was killed, or nobody saw it end.',
            ge=-2147483648,
            le=2147483647,
        ),
    ]
    signal: Annotated[
        str | None,
        Field(description='The signal that killed it, by name; null if none did.'),
    ]
    timedOut: Annotated[
        bool, Field(description='The recorder ended it because it took too long.')
    ]
    recorderLost: Annotated[
        bool, Field(description='The recorder died before the process ended.')
    ]


class ExitMismatch(Model):
    """
    The exit of the process does not fit the result it printed.
    """

    type: Annotated[
        Literal['exitMismatch'],
        Field(description='Tells that it is this: `exitMismatch`.'),
    ]
    reported: Annotated[str, Field(description='What the printed result says.')]
    exit: Annotated[str, Field(description='What the exit says.')]


class Expert(Model):
    """
    The expert that a run was given to.
    """

    key: Annotated[str, Field(description='Names the expert.')]
    name: Annotated[str, Field(description='The name for people.')]
    version: Annotated[
        str,
        Field(
            description=(
                "The expert's version; for an agent CLI without an expert the CLI's."
            )
        ),
    ]


class FaultPlaceFile(Model):
    """
    The file as a whole.
    """

    type: Annotated[
        Literal['file'], Field(description='Tells that it is this: `file`.')
    ]


class FaultPlaceSeal(Model):
    """
    Names an entry of a chain of seals. As text it is the number, with the chain before it where that is not the first: `7`, `3.7`.
    """

    type: Annotated[
        Literal['seal'], Field(description='Tells that it is this: `seal`.')
    ]
    chain: Annotated[
        int | None,
        Field(
            description=(
                'The chain; not there for the first one, which is 0 and the only one of'
                ' a database in a file.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None
    number: Annotated[
        int,
        Field(
            description='Which entry of its chain it is, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class FieldChange(Model):
    """
    A field that differs.
    """

    path: Annotated[
        str, Field(description='The field, as a JSON pointer into the checkpoint.')
    ]
    from_: Annotated[
        Any,
        Field(
            alias='from',
            description='Its value in the first checkpoint; null if it is not there.',
        ),
    ]
    to: Annotated[
        Any,
        Field(
            description='Its value in the second checkpoint; null if it is not there.'
        ),
    ]


FileAccess = TypeAliasType(
    "FileAccess",
    Annotated[
        Literal['read', 'write', 'delete', 'search'],
        Field(
            description='What a tool did with a file, as far as its class tells.',
            title='FileAccess',
        ),
    ],
)


class FormatInfo(Model):
    """
    An output format of a runtime.
    """

    name: Annotated[str, Field(description='The name, as in the metadata of a run.')]
    flags: Annotated[
        str,
        Field(
            description=(
                'What on the command line asks for it; empty for what is printed'
                ' unasked.'
            )
        ),
    ]
    carries: Annotated[
        list[str],
        Field(
            description=(
                'What it tells of a run: `text`, `thinking`, `calls`, `arguments`,'
                ' `results`, `tokens`, `cost`, `session`, `model`. More may be added.'
            )
        ),
    ]


class HistoryMismatch(Model):
    """
    What was printed does not fit what the runtime's session files say.
    """

    type: Annotated[
        Literal['historyMismatch'],
        Field(description='Tells that it is this: `historyMismatch`.'),
    ]
    field: Annotated[str, Field(description='The field that they tell in two ways.')]
    printed: Annotated[str, Field(description='What was printed.')]
    history: Annotated[str, Field(description='What the session files say.')]


class Hook(Model):
    """
    A hook ran.
    """

    type: Annotated[
        Literal['hook'], Field(description='Tells that it is this: `hook`.')
    ]
    name: Annotated[str, Field(description="The hook's name.")]
    event: Annotated[str | None, Field(description='What it was run for.')] = None
    outcome: Annotated[
        str | None, Field(description='How far it is: `started`, or how it ended.')
    ] = None
    exitCode: Annotated[
        int | None,
        Field(
            description='Its exit code.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    output: Annotated[str | None, Field(description='What it printed.')] = None


class Info(Model):
    """
    A notice of the runtime without further meaning.
    """

    type: Annotated[
        Literal['info'], Field(description='Tells that it is this: `info`.')
    ]
    topic: Annotated[
        str | None, Field(description="What kind of notice, in the runtime's words.")
    ] = None
    message: Annotated[str, Field(description='What it said.')]


IngestOutcome = TypeAliasType(
    "IngestOutcome",
    Annotated[
        Literal['stored', 'skipped', 'unusable'],
        Field(description='What became of one file or run.', title='IngestOutcome'),
    ],
)


class Interaction(Model):
    """
    The runtime asked its user something, or was answered.
    """

    type: Annotated[
        Literal['interaction'],
        Field(description='Tells that it is this: `interaction`.'),
    ]
    phase: Annotated[str, Field(description='`request` or `response`.')]
    queryType: Annotated[str, Field(description='What kind of question.')]
    queryId: Annotated[str | None, Field(description='Names the question.')] = None
    payload: Annotated[
        dict[str, Any] | list[Any] | str | float | bool | None,
        Field(description='The question or the answer, as it was printed.'),
    ] = None


class InteractiveToolCall(Model):
    """
    The answer to an interactive tool.
    """

    toolName: Annotated[str, Field(description="The tool's name.")]
    toolCallId: Annotated[str, Field(description='The call.')]
    text: Annotated[str, Field(description='The answer.')]


JobId = TypeAliasType(
    "JobId",
    Annotated[
        str,
        Field(
            description=(
                'Names a job, a set of runs that belong together. Safe as a path name.'
            ),
            pattern='^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
            title='JobId',
        ),
    ],
)


JobStatus = TypeAliasType(
    "JobStatus",
    Annotated[
        Literal[
            'running',
            'completed',
            'stoppedByMaxSteps',
            'stoppedByInteractiveTool',
            'stoppedByError',
        ],
        Field(description='Where a job stands.', title='JobStatus'),
    ],
)


KnownBy = TypeAliasType(
    "KnownBy",
    Annotated[
        Literal['shell', 'guess'],
        Field(
            description=(
                'How it is known what a call touched, where the call does not say it'
                ' itself.'
            ),
            title='KnownBy',
        ),
    ],
)


MediaUrl = TypeAliasType(
    "MediaUrl",
    Annotated[
        str,
        Field(
            description=(
                'An absolute URL: a scheme and something behind it, without white'
                ' space; for http, https, ws, wss and ftp with a host.'
            ),
            pattern=compile(
                '^(?:(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[fF][tT][pP])://(?=[A-Za-z0-9\\[]|[^\\u0000-\\u007f])|(?!(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[fF][tT][pP]):)[A-Za-z][A-Za-z0-9+.-]*:)[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+$'
            ),
            title='MediaUrl',
        ),
    ],
)


MessageId = TypeAliasType(
    "MessageId",
    Annotated[
        str,
        Field(
            description='Names a message.',
            max_length=255,
            min_length=1,
            title='MessageId',
        ),
    ],
)


Offset = TypeAliasType("Offset", Annotated[int, Field(ge=0, le=18446744073709551615)])


class MigrationReport(Model):
    """
    What `db migrate` did.
    """

    database: Annotated[
        str,
        Field(
            description=(
                'The path of the database, or the address of its server without the'
                ' password.'
            )
        ),
    ]
    before: Annotated[
        int | None,
        Field(
            description='The number of its schema before; null if there was none.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    after: Annotated[
        int,
        Field(
            description='The number of its schema now.', ge=0, le=18446744073709551615
        ),
    ]


class ModelFallback(Model):
    """
    Another model took over.
    """

    type: Annotated[
        Literal['modelFallback'],
        Field(description='Tells that it is this: `modelFallback`.'),
    ]
    from_: Annotated[
        str | None, Field(alias='from', description='The model that was to answer.')
    ] = None
    to: Annotated[str | None, Field(description='The model that does.')] = None
    reason: Annotated[str | None, Field(description='Why.')] = None


class ModelPrice(Model):
    """
    What a model costs, in US dollars per token.
    """

    model: Annotated[
        str,
        Field(
            description='The name that was asked for; that of the table if none was.'
        ),
    ]
    name: Annotated[
        str | None,
        Field(description='Its name in the table; null if it is not known there.'),
    ]
    provider: Annotated[str | None, Field(description='Who sells it.')]
    input: Annotated[
        float | None,
        Field(description='A prompt token that was not read from a cache.'),
    ]
    output: Annotated[float | None, Field(description='A generated token.')]
    cacheRead: Annotated[
        float | None, Field(description='A prompt token that was read from a cache.')
    ]
    cacheWrite: Annotated[
        float | None, Field(description='A prompt token that was written to a cache.')
    ]
    cacheWrite1h: Annotated[
        float | None, Field(description='One that was written to a cache for an hour.')
    ]
    longInput: Annotated[
        float | None,
        Field(description='Input of a response with more than 200,000 prompt tokens.'),
    ]
    longOutput: Annotated[float | None, Field(description='Output of such a response.')]
    longCacheRead: Annotated[
        float | None, Field(description='Cached input of such a response.')
    ]
    priceTable: Annotated[str, Field(description='A hash of the table.')]
    source: Annotated[str, Field(description='Where its prices come from.')]
    taken: Annotated[str, Field(description='When they were taken.')]


Outcome = TypeAliasType(
    "Outcome",
    Annotated[
        Literal['running', 'completed', 'failed', 'limit', 'interrupted', 'unfinished'],
        Field(description='How a run went.', title='Outcome'),
    ],
)


PartId = TypeAliasType(
    "PartId",
    Annotated[
        str,
        Field(
            description='Names one part of a message.',
            max_length=255,
            min_length=1,
            title='PartId',
        ),
    ],
)


class ProcessExit(Model):
    """
    The process ended.
    """

    type: Annotated[
        Literal['processExit'],
        Field(description='Tells that it is this: `processExit`.'),
    ]
    exitCode: Annotated[
        int | None,
        Field(
            description='The exit code.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    signal: Annotated[str | None, Field(description='The signal that ended it.')] = None
    timedOut: Annotated[bool, Field(description='Whether a time limit was reached.')]


PromptPlace = TypeAliasType(
    "PromptPlace",
    Annotated[
        Literal['stdin', 'argument'],
        Field(
            description='Where an agent CLI takes its prompt from.', title='PromptPlace'
        ),
    ],
)


ProxyAction = TypeAliasType(
    "ProxyAction",
    Annotated[
        Literal['allowed', 'blocked'],
        Field(description='What a proxy did with a request.', title='ProxyAction'),
    ],
)


class RateLimit(Model):
    """
    The runtime reported a rate limit.
    """

    type: Annotated[
        Literal['rateLimit'], Field(description='Tells that it is this: `rateLimit`.')
    ]
    status: Annotated[
        str,
        Field(
            description=(
                'Whether the request went through: `allowed`, `allowed_warning`,'
                ' `rejected` or other words of the runtime.'
            )
        ),
    ]
    limitType: Annotated[str | None, Field(description='Which limit.')] = None
    resetsAt: Annotated[
        int | None,
        Field(
            description='When it ends, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    utilization: Annotated[
        float | None, Field(description='How much of it is used, from 0 to 1.')
    ] = None


RecoverySource = TypeAliasType(
    "RecoverySource",
    Annotated[
        Literal['tape', 'spool'],
        Field(description='Where a recovered run came from.', title='RecoverySource'),
    ],
)


class RedactSummary(Model):
    """
    What `redact` did.
    """

    type: Annotated[
        Literal['summary'], Field(description='Tells that it is this: `summary`.')
    ]
    isDryRun: Annotated[
        bool, Field(description='Whether this only says what would be done.')
    ]
    runs: Annotated[
        int,
        Field(description='Root runs that were read.', ge=0, le=18446744073709551615),
    ]
    changed: Annotated[
        int,
        Field(
            description='Root runs that were replaced, or would be.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    isErased: Annotated[
        bool | None,
        Field(
            description=(
                'Whether the bytes of the secrets are gone from the files; null if'
                ' nothing was changed.'
            )
        ),
    ]


RemovalReason = TypeAliasType(
    "RemovalReason",
    Annotated[
        str,
        Field(
            description=(
                'Why a seal no longer covers a run: it was deleted, its records were'
                ' made again from its tape, its tape was dropped, a new seal covers'
                ' more of it, or secrets were taken out of it. Names beyond the'
                ' examples may be added.'
            ),
            examples=[
                'deleted',
                'replaced',
                'tapeDropped',
                'resealed',
                'joined',
                'redacted',
                'runtimeChanged',
            ],
            title='RemovalReason',
        ),
    ],
)


class RunError(Model):
    """
    Why a run failed.
    """

    name: Annotated[
        str,
        Field(
            description=(
                "`ApiError` for what the model's API refused; `TruncatedOutput`,"
                " `NonZeroExit`, `KilledBySignal`, `TimedOut`, `RecorderLost`,"
                " `ParentEnded`; `Unfinished` where history stops without proof of an"
                " end; `UnclearResult` where a result does not say in the runtime's"
                " documented way how the run went; else the runtime's own name."
            )
        ),
    ]
    message: Annotated[str, Field(description='What went wrong, for people.')]
    statusCode: Annotated[
        int | None,
        Field(description="The HTTP status of the model's API.", ge=0, le=65535),
    ] = None
    isRetryable: Annotated[
        bool, Field(description='Whether the same run may succeed later.')
    ]
    family: Annotated[
        ErrorFamily | None, Field(description='What kind of failure it was.')
    ] = None
    retryAt: Annotated[
        int | None,
        Field(
            description=(
                'Not before this time, in milliseconds since 1970, where the runtime'
                ' gave one.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


RunId = TypeAliasType(
    "RunId",
    Annotated[
        str,
        Field(
            description=(
                'Names a run, one execution of one expert on one runtime. Safe as a'
                ' path name.'
            ),
            pattern='^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$',
            title='RunId',
        ),
    ],
)


class RunRedaction(Model):
    """
    What was taken out of a run, and by which rules.
    """

    tier: Annotated[
        str,
        Field(
            description=(
                'What was looked for: `off`, `definite` or `broad`. Names may be added.'
            )
        ),
    ]
    rules: Annotated[
        str | None,
        Field(
            description=(
                'The name and version of the rule set; not there if nothing was looked'
                ' for.'
            )
        ),
    ] = None
    digest: Annotated[
        str | None,
        Field(
            description=(
                'The digest of all rules that were applied, those of the user included.'
            )
        ),
    ] = None
    keyId: Annotated[
        str | None,
        Field(
            description=(
                'The key under which markers tell the same secret from another; not'
                ' there if they do not.'
            )
        ),
    ] = None
    byRule: Annotated[
        dict[str, Any] | None,
        Field(
            description=(
                'How many were replaced, by the name of the rule that found them.'
            )
        ),
    ] = None
    unfinished: Annotated[
        int | None,
        Field(
            description=(
                "How many times a beginning that looked like a secret's was kept, since"
                " the rest of it did not come within the bounds."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ] = None


Runtime = TypeAliasType(
    "Runtime",
    Annotated[
        str,
        Field(
            description=(
                'The program that did the work. Names beyond the examples may be added.'
            ),
            examples=[
                'cursor',
                'claude-code',
                'gemini',
                'hermes',
                'openclaw',
                'codex',
                'opencode',
                'generic',
                'local',
                'docker',
            ],
            title='Runtime',
        ),
    ],
)


class RuntimeInfo(Model):
    """
    A runtime whose output can be read.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    commands: Annotated[
        list[str], Field(description='The names that its command goes by.')
    ]
    formats: Annotated[
        list[str], Field(description='The output formats that can be read.')
    ]
    installed: Annotated[
        str | None,
        Field(description='Where the command is; null if it is not installed.'),
    ]
    adapterType: Annotated[
        str, Field(description="Paperclip's name for an adapter of it.")
    ]
    capabilities: Annotated[
        AdapterCapabilities, Field(description="What Paperclip's host may do with it.")
    ]
    outputFormats: Annotated[
        list[FormatInfo] | None,
        Field(
            description=(
                'What each of the output formats tells, in the order of `formats`.'
            )
        ),
    ] = None
    bestFormat: Annotated[
        str | None, Field(description='The name of the output format that tells most.')
    ] = None
    versions: Annotated[
        list[str] | None,
        Field(description='The versions of its program whose output was seen.'),
    ] = None


class ScanSummary(Model):
    """
    What `scan` looked at.
    """

    type: Annotated[
        Literal['summary'], Field(description='Tells that it is this: `summary`.')
    ]
    tier: Annotated[
        str, Field(description='What was looked for: `definite` or `broad`.')
    ]
    runs: Annotated[
        int,
        Field(description='Root runs that were read.', ge=0, le=18446744073709551615),
    ]
    runsWithSecrets: Annotated[
        int,
        Field(
            description='Root runs in which something was found.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    byRule: Annotated[
        dict[str, Any], Field(description='How many places were found, by rule.')
    ]


class SchemaInfo(Model):
    """
    A schema that is published.
    """

    kind: Annotated[
        str, Field(description='Its name, for `validate --kind` and `schema`.')
    ]
    id: Annotated[str, Field(description='Its `$id`.')]
    path: Annotated[
        str | None, Field(description='The file that it was written to.')
    ] = None


class SealHead(Model):
    """
    An entry of a chain of seals, and its hash.
    """

    chain: Annotated[
        int | None,
        Field(
            description=(
                'The chain; not there for the first one, which is 0 and the only one of'
                ' a database in a file.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None
    number: Annotated[
        int,
        Field(
            description='Which entry of its chain it is, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    hash: Annotated[
        str,
        Field(
            description=(
                'The hash over it and all entries of its chain before it, in'
                ' hexadecimal digits.'
            )
        ),
    ]
    isEpoch: Annotated[
        bool | None,
        Field(
            description=(
                'The hash is over the ends of several chains, as a server has them, and'
                ' over all such hashes before it; the number counts those. Not there'
                ' for an entry of a chain.'
            )
        ),
    ] = None


class SealName(Model):
    """
    Names an entry of a chain of seals. As text it is the number, with the chain before it where that is not the first: `7`, `3.7`.
    """

    chain: Annotated[
        int | None,
        Field(
            description=(
                'The chain; not there for the first one, which is 0 and the only one of'
                ' a database in a file.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None
    number: Annotated[
        int,
        Field(
            description='Which entry of its chain it is, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


SearchRole = TypeAliasType(
    "SearchRole",
    Annotated[
        Literal['user', 'instruction', 'expert', 'tool', 'error', 'notice'],
        Field(description='Who a record comes from.', title='SearchRole'),
    ],
)


class SecretPlaceContext(Model):
    """
    In what was known of the run before it began: command line, prompt, directory.
    """

    type: Annotated[
        Literal['context'], Field(description='Tells that it is this: `context`.')
    ]


class SecretPlaceRecord(Model):
    """
    In a record.
    """

    type: Annotated[
        Literal['record'], Field(description='Tells that it is this: `record`.')
    ]
    seq: Annotated[
        int,
        Field(
            description="The record's number in its run.", ge=0, le=18446744073709551615
        ),
    ]


class ServeInfo(Model):
    """
    Where the page and the API are served.
    """

    url: Annotated[
        str, Field(description='The address of the page, with the token after the `#`.')
    ]
    port: Annotated[int, Field(description='The port.', ge=0, le=65535)]
    token: Annotated[
        str,
        Field(
            description=(
                'What every request for data must have: `Authorization: Bearer TOKEN`.'
            )
        ),
    ]


class ServerInfo(Model):
    """
    What a skill's server says of itself.
    """

    name: Annotated[str, Field(description="The server's name.")]
    version: Annotated[str, Field(description="The server's version.")]


class ShellEffects(Model):
    """
    What a shell command does, as far as its words tell. Files are named from the directory on in which it ran.
    """

    read: Annotated[list[str] | None, Field(description='Files that it reads.')] = None
    written: Annotated[
        list[str] | None, Field(description='Files that it creates or changes.')
    ] = None
    deleted: Annotated[
        list[str] | None, Field(description='Files that it deletes or moves away.')
    ] = None
    hosts: Annotated[list[str] | None, Field(description='Hosts that it reaches.')] = (
        None
    )
    untoldFiles: Annotated[
        int,
        Field(
            description=(
                'How many parts of it do with files what their words do not tell:'
                ' variables, patterns, scripts.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    untoldHosts: Annotated[
        int,
        Field(
            description=(
                'How many parts of it reach hosts that their words do not tell.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]


class SkillConnected(Model):
    """
    A skill is connected.
    """

    type: Annotated[
        Literal['skillConnected'],
        Field(description='Tells that it is this: `skillConnected`.'),
    ]
    skillName: Annotated[str, Field(description='The skill.')]
    serverInfo: Annotated[
        ServerInfo | None, Field(description="What the skill's server says of itself.")
    ] = None
    connectDurationMs: Annotated[
        float | None, Field(description='Milliseconds to connect.')
    ] = None
    totalDurationMs: Annotated[
        float | None, Field(description='Milliseconds in all.')
    ] = None
    spawnDurationMs: Annotated[
        float | None, Field(description='Milliseconds to start the process.')
    ] = None
    handshakeDurationMs: Annotated[
        float | None, Field(description='Milliseconds for the handshake.')
    ] = None
    toolDiscoveryDurationMs: Annotated[
        float | None, Field(description='Milliseconds to list the tools.')
    ] = None


class SkillConnectedEvent(Model):
    """
    A skill is connected.
    """

    type: Annotated[
        Literal['skillConnected'],
        Field(description='Tells that it is this: `skillConnected`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    skillName: Annotated[str, Field(description='The skill.')]
    serverInfo: Annotated[
        ServerInfo | None, Field(description="What the skill's server says of itself.")
    ] = None
    connectDurationMs: Annotated[
        float | None, Field(description='Milliseconds to connect.')
    ] = None
    totalDurationMs: Annotated[
        float | None, Field(description='Milliseconds in all.')
    ] = None
    spawnDurationMs: Annotated[
        float | None, Field(description='Milliseconds to start the process.')
    ] = None
    handshakeDurationMs: Annotated[
        float | None, Field(description='Milliseconds for the handshake.')
    ] = None
    toolDiscoveryDurationMs: Annotated[
        float | None, Field(description='Milliseconds to list the tools.')
    ] = None


class SkillDisconnected(Model):
    """
    A skill is gone.
    """

    type: Annotated[
        Literal['skillDisconnected'],
        Field(description='Tells that it is this: `skillDisconnected`.'),
    ]
    skillName: Annotated[str, Field(description='The skill.')]


class SkillDisconnectedEvent(Model):
    """
    A skill is gone.
    """

    type: Annotated[
        Literal['skillDisconnected'],
        Field(description='Tells that it is this: `skillDisconnected`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    skillName: Annotated[str, Field(description='The skill.')]


class SkillStarting(Model):
    """
    A skill is being started.
    """

    type: Annotated[
        Literal['skillStarting'],
        Field(description='Tells that it is this: `skillStarting`.'),
    ]
    skillName: Annotated[str, Field(description='The skill.')]
    command: Annotated[str, Field(description='The command that runs it.')]
    args: Annotated[list[str], Field(description="The command's arguments.")]


class SkillStartingEvent(Model):
    """
    A skill is being started.
    """

    type: Annotated[
        Literal['skillStarting'],
        Field(description='Tells that it is this: `skillStarting`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    skillName: Annotated[str, Field(description='The skill.')]
    command: Annotated[str, Field(description='The command that runs it.')]
    args: Annotated[list[str], Field(description="The command's arguments.")]


class SkillStderr(Model):
    """
    A skill wrote to its error output.
    """

    type: Annotated[
        Literal['skillStderr'],
        Field(description='Tells that it is this: `skillStderr`.'),
    ]
    skillName: Annotated[str, Field(description='The skill.')]
    message: Annotated[str, Field(description='What it wrote.')]


class SkillStderrEvent(Model):
    """
    A skill wrote to its error output.
    """

    type: Annotated[
        Literal['skillStderr'],
        Field(description='Tells that it is this: `skillStderr`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    skillName: Annotated[str, Field(description='The skill.')]
    message: Annotated[str, Field(description='What it wrote.')]


class SnippetPart(Model):
    """
    A piece of a snippet.
    """

    text: Annotated[str, Field(description='The text.')]
    isMatch: Annotated[bool, Field(description='Whether the search was for this.')]


class SqlRow(Model):
    """
    A row that a query found: the names of its columns and their values, each null, a number or a text. A blob is a text of hexadecimal digits.
    """


class StartStreamingReasoningEvent(Model):
    """
    Reasoning begins to arrive.
    """

    type: Annotated[
        Literal['startStreamingReasoning'],
        Field(description='Tells that it is this: `startStreamingReasoning`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]


class StartStreamingRunResultEvent(Model):
    """
    The answer begins to arrive.
    """

    type: Annotated[
        Literal['startStreamingRunResult'],
        Field(description='Tells that it is this: `startStreamingRunResult`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]


class StderrText(Model):
    """
    Text on the error output.
    """

    type: Annotated[
        Literal['stderrText'], Field(description='Tells that it is this: `stderrText`.')
    ]
    text: Annotated[str, Field(description='The text.')]


class StderrTextEvent(Model):
    """
    Text on the error output.
    """

    type: Annotated[
        Literal['stderrText'], Field(description='Tells that it is this: `stderrText`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    text: Annotated[str, Field(description='The text.')]


class StdoutText(Model):
    """
    Text on the output that is no event of the runtime.
    """

    type: Annotated[
        Literal['stdoutText'], Field(description='Tells that it is this: `stdoutText`.')
    ]
    text: Annotated[str, Field(description='The text.')]


class StdoutTextEvent(Model):
    """
    Text on the output that is no event of the runtime.
    """

    type: Annotated[
        Literal['stdoutText'], Field(description='Tells that it is this: `stdoutText`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    text: Annotated[str, Field(description='The text.')]


Stream = TypeAliasType(
    "Stream",
    Annotated[
        Literal['stdout', 'stderr', 'stdin', 'history'],
        Field(description='A stream on the tape.', title='Stream'),
    ],
)


StreamChannel = TypeAliasType(
    "StreamChannel",
    Annotated[
        Literal['text', 'thinking'],
        Field(description='What a streamed piece belongs to.', title='StreamChannel'),
    ],
)


class StreamReasoningEvent(Model):
    """
    A piece of reasoning arrived.
    """

    type: Annotated[
        Literal['streamReasoning'],
        Field(description='Tells that it is this: `streamReasoning`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    delta: Annotated[str, Field(description='The piece, to be appended.')]


class StreamRunResultEvent(Model):
    """
    A piece of the answer arrived.
    """

    type: Annotated[
        Literal['streamRunResult'],
        Field(description='Tells that it is this: `streamRunResult`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    delta: Annotated[str, Field(description='The piece, to be appended.')]


class StreamText(Model):
    """
    A piece of text or reasoning arrived. Live only.
    """

    type: Annotated[
        Literal['streamText'], Field(description='Tells that it is this: `streamText`.')
    ]
    channel: Annotated[StreamChannel, Field(description='What it is a piece of.')]
    delta: Annotated[str, Field(description='The piece, to be appended.')]


class StreamTextEvent(Model):
    """
    A piece of text or reasoning arrived. Live only.
    """

    type: Annotated[
        Literal['streamText'], Field(description='Tells that it is this: `streamText`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    channel: Annotated[StreamChannel, Field(description='What it is a piece of.')]
    delta: Annotated[str, Field(description='The piece, to be appended.')]


class SummaryError(Model):
    """
    Why a run failed.
    """

    name: Annotated[str, Field(description="The error's name.")]
    message: Annotated[str, Field(description='What went wrong, for people.')]
    statusCode: Annotated[
        int | None,
        Field(description="The HTTP status of the model's API.", ge=0, le=65535),
    ]
    isRetryable: Annotated[
        bool, Field(description='Whether the same run may succeed later.')
    ]
    family: Annotated[
        ErrorFamily | None, Field(description='What kind of failure it was.')
    ]
    retryAt: Annotated[
        int | None,
        Field(
            description='Not before this time, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]


class SummaryNotice(Model):
    """
    Something the runtime reported.
    """

    kind: Annotated[str, Field(description='The kind of notice.')]
    text: Annotated[str, Field(description='What it said.')]


class SummaryToolCall(Model):
    """
    A tool call and what came of it.
    """

    id: Annotated[str, Field(description='The id as it was printed, or a derived one.')]
    name: Annotated[str, Field(description="The tool's name.")]
    input: Annotated[Any, Field(description='Its input; null if none was printed.')]
    isError: Annotated[
        bool | None,
        Field(
            description='Whether it failed; null if no result came or it did not tell.'
        ),
    ]
    output: Annotated[
        str | None, Field(description='What it gave back; null if nothing was printed.')
    ]
    step: Annotated[
        int,
        Field(description='The step within its run.', ge=0, le=18446744073709551615),
    ]
    runId: Annotated[RunId, Field(description='Its run.')]


class SummaryUnparsed(Model):
    """
    Output that no parser understood.
    """

    type: Annotated[str | None, Field(description='The type that the line names.')]
    line: Annotated[
        int,
        Field(description='The line, counted from 1.', ge=0, le=18446744073709551615),
    ]
    reason: Annotated[str, Field(description='Why it was not understood.')]


class SummaryUsage(Model):
    """
    Tokens; a counter nobody reported is null.
    """

    inputTokens: Annotated[
        int | None,
        Field(
            description=(
                'Prompt tokens that were not read from a cache; cache writes are'
                ' included.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    outputTokens: Annotated[
        int | None,
        Field(
            description='All generated tokens, reasoning included.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    reasoningTokens: Annotated[
        int | None,
        Field(
            description='The part of the generated tokens that was reasoning.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    totalTokens: Annotated[
        int | None,
        Field(
            description='Input, cached input and output tokens together.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    cachedInputTokens: Annotated[
        int | None,
        Field(
            description='Prompt tokens that were read from a cache.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]


class SyncGroup(Model):
    """
    What was found of one runtime.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    sessions: Annotated[
        int,
        Field(description='Sessions that were found.', ge=0, le=18446744073709551615),
    ]
    new: Annotated[
        int,
        Field(
            description='Runs that were not known before.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    grown: Annotated[
        int,
        Field(
            description='Runs of which there is more now.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    joined: Annotated[
        int,
        Field(
            description='Recorded runs that were joined with their history.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    unchanged: Annotated[
        int,
        Field(
            description=(
                'Runs, or sessions that were not even read again, that are as they'
                ' were.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    unreadable: Annotated[
        int,
        Field(
            description='Files that could not be read, or not all of them.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'What the runs that are new, grown or joined used; null if it is not'
                ' known.'
            )
        ),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None


class SyncSummary(Model):
    """
    What all of it came to.
    """

    type: Annotated[
        Literal['summary'], Field(description='Tells that it is this: `summary`.')
    ]
    isDryRun: Annotated[
        bool, Field(description='Nothing was written: it was only looked.')
    ]
    groups: Annotated[list[SyncGroup], Field(description='What was found, by runtime.')]


class SyncedSource(Model):
    """
    What became of one session.
    """

    type: Annotated[
        Literal['source'], Field(description='Tells that it is this: `source`.')
    ]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    sessionId: Annotated[
        str | None,
        Field(description="The session's id; null for a file that could not be read."),
    ]
    paths: Annotated[
        list[str], Field(description='The files, or the database, that hold it.')
    ]
    new: Annotated[list[RunId], Field(description='Runs that were not known before.')]
    grown: Annotated[
        list[RunId],
        Field(description='Runs that were known, and of which there is more now.'),
    ]
    joined: Annotated[
        list[RunId],
        Field(description='Recorded runs that were joined with their history.'),
    ]
    unchanged: Annotated[
        int,
        Field(
            description='How many runs are as they were.', ge=0, le=18446744073709551615
        ),
    ]
    reason: Annotated[
        str | None,
        Field(
            description=(
                'Why it could not be read, or not all of it; null if all is well.'
            )
        ),
    ]


class TableStats(Model):
    """
    What a table or index takes.
    """

    name: Annotated[str, Field(description='Its name.')]
    bytes: Annotated[
        int, Field(description='Its bytes.', ge=0, le=18446744073709551615)
    ]


class TextPart(Model):
    """
    Plain text.
    """

    type: Annotated[
        Literal['textPart'], Field(description='Tells that it is this: `textPart`.')
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    text: Annotated[str, Field(description='The text, exactly as it was given.')]


class ThinkingPart(Model):
    """
    The model's reasoning.
    """

    type: Annotated[
        Literal['thinkingPart'],
        Field(description='Tells that it is this: `thinkingPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    thinking: Annotated[
        str,
        Field(description="The reasoning; empty where the model's maker withholds it."),
    ]
    signature: Annotated[
        str | None,
        Field(
            description=(
                "The model maker's signature or encrypted form of the reasoning."
            )
        ),
    ] = None


Time = TypeAliasType(
    "Time",
    Annotated[
        str,
        Field(
            description='A time as ISO 8601 in UTC, to the millisecond.',
            examples=['2026-01-01T12:00:00.000Z'],
            pattern='^[+-]?[0-9]{4,6}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
            title='Time',
        ),
    ],
)


class TokenCounts(Model):
    """
    Tokens used, where each counter may be unknown.

    Unknown is never zero: a counter nobody reported is absent here, and 0 in a checkpoint's `usage` only together with its name in `metadata.usageUnknown`.
    """

    inputTokens: Annotated[
        int | None,
        Field(
            description=(
                'Prompt tokens that were not read from a cache; cache writes are'
                ' included.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    outputTokens: Annotated[
        int | None,
        Field(
            description='All generated tokens, reasoning included.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    reasoningTokens: Annotated[
        int | None,
        Field(
            description='The part of the generated tokens that was reasoning.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cachedInputTokens: Annotated[
        int | None,
        Field(
            description='Prompt tokens that were read from a cache.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of the input tokens that was written to a cache, where that'
                ' is known and not nothing: its price is another.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cacheWrite1hTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of those that was written for an hour instead of some'
                ' minutes.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


ToolCallId = TypeAliasType(
    "ToolCallId",
    Annotated[
        str,
        Field(
            description='Names a tool call; its result carries the same id.',
            max_length=255,
            min_length=1,
            title='ToolCallId',
        ),
    ],
)


ToolClass = TypeAliasType(
    "ToolClass",
    Annotated[
        Literal[
            'shell',
            'read',
            'write',
            'search',
            'network',
            'delegate',
            'publish',
            'schedule',
            'mcp',
            'other',
        ],
        Field(
            description=(
                'What a tool is for: the same words for every runtime, whatever it'
                ' calls its tools.'
            ),
            title='ToolClass',
        ),
    ],
)


ToolName = TypeAliasType(
    "ToolName",
    Annotated[
        str,
        Field(
            description='The name of a tool, or of the skill that offers it.',
            max_length=255,
            min_length=1,
            title='ToolName',
        ),
    ],
)


class ToolUse(Model):
    """
    How a tool was used.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    tool: Annotated[str, Field(description="The tool's name.")]
    class_: Annotated[
        ToolClass | None,
        Field(
            alias='class',
            description=(
                'What the tool is for; absent for records from before classes were'
                ' known.'
            ),
        ),
    ] = None
    calls: Annotated[
        int,
        Field(description='How often it was called.', ge=0, le=18446744073709551615),
    ]
    errors: Annotated[
        int, Field(description='Calls that failed.', ge=0, le=18446744073709551615)
    ]
    unanswered: Annotated[
        int, Field(description='Calls without a result.', ge=0, le=18446744073709551615)
    ]
    runs: Annotated[
        int, Field(description='Runs that called it.', ge=0, le=18446744073709551615)
    ]
    meanMs: Annotated[
        float | None,
        Field(
            description=(
                'Mean duration in milliseconds of the calls whose duration is known;'
                ' null if none is.'
            )
        ),
    ]
    lastAt: Annotated[Time, Field(description='The last call.')]


class TranscriptAssistantEntry(Model):
    """
    Text of the model.
    """

    kind: Annotated[
        Literal['assistant'], Field(description='Tells that it is this: `assistant`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The text.')]
    delta: Annotated[
        bool | None,
        Field(description='Whether it goes on where the entry before ended.'),
    ] = None
    channel: Annotated[
        str | None,
        Field(
            description=(
                '`progress` where the runtime itself marks the text as said beside the'
                ' work, while it runs.'
            )
        ),
    ] = None


class TranscriptDiffEntry(Model):
    """
    A line of a diff.
    """

    kind: Annotated[
        Literal['diff'], Field(description='Tells that it is this: `diff`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    changeType: Annotated[
        str,
        Field(
            description=(
                'What the line is: `add`, `remove`, `context`, `hunk`, `file_header` or'
                ' `truncation`.'
            )
        ),
    ]
    text: Annotated[str, Field(description='The line.')]


class TranscriptInitEntry(Model):
    """
    The runtime is ready.
    """

    kind: Annotated[
        Literal['init'], Field(description='Tells that it is this: `init`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    model: Annotated[str, Field(description='The model.')]
    sessionId: Annotated[str, Field(description='The session; empty if not known yet.')]


class TranscriptRunResultEntry(Model):
    """
    The run ended.
    """

    kind: Annotated[
        Literal['result'], Field(description='Tells that it is this: `result`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The answer.')]
    inputTokens: Annotated[
        int,
        Field(
            description='Prompt tokens that were not read from a cache.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    outputTokens: Annotated[
        int, Field(description='Generated tokens.', ge=0, le=18446744073709551615)
    ]
    cachedTokens: Annotated[
        int,
        Field(
            description='Prompt tokens that were read from a cache.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    costUsd: Annotated[
        float, Field(description='What it cost in US dollars, 0 if not known.')
    ]
    subtype: Annotated[str, Field(description='How it ended.')]
    isError: Annotated[bool, Field(description='Whether it failed.')]
    errors: Annotated[list[str], Field(description='What went wrong.')]


class TranscriptStderrEntry(Model):
    """
    Text on the error output.
    """

    kind: Annotated[
        Literal['stderr'], Field(description='Tells that it is this: `stderr`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The text.')]


class TranscriptStdoutEntry(Model):
    """
    Output that is nothing else.
    """

    kind: Annotated[
        Literal['stdout'], Field(description='Tells that it is this: `stdout`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The text.')]


class TranscriptSystemEntry(Model):
    """
    A notice of the runtime.
    """

    kind: Annotated[
        Literal['system'], Field(description='Tells that it is this: `system`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The text.')]


class TranscriptThinkingEntry(Model):
    """
    Reasoning of the model.
    """

    kind: Annotated[
        Literal['thinking'], Field(description='Tells that it is this: `thinking`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The reasoning.')]
    delta: Annotated[
        bool | None,
        Field(description='Whether it goes on where the entry before ended.'),
    ] = None


class TranscriptToolCallEntry(Model):
    """
    The model calls a tool.
    """

    kind: Annotated[
        Literal['tool_call'], Field(description='Tells that it is this: `tool_call`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    name: Annotated[str, Field(description="The tool's name.")]
    input: Annotated[Any, Field(description='Its input, any JSON.')]
    toolUseId: Annotated[
        str | None, Field(description='Names the call; the result carries the same id.')
    ] = None


class TranscriptToolResultEntry(Model):
    """
    A tool gave back its result.
    """

    kind: Annotated[
        Literal['tool_result'],
        Field(description='Tells that it is this: `tool_result`.'),
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    toolUseId: Annotated[str, Field(description='The call it answers.')]
    toolName: Annotated[str | None, Field(description="The tool's name.")] = None
    content: Annotated[str, Field(description='The result as text.')]
    isError: Annotated[bool, Field(description='Whether the call failed.')]
    durationMs: Annotated[
        int | None,
        Field(
            description=(
                'How long the call took in milliseconds, where the runtime printed it'
                ' with the result.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ] = None


class TranscriptUserEntry(Model):
    """
    What the user said.
    """

    kind: Annotated[
        Literal['user'], Field(description='Tells that it is this: `user`.')
    ]
    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    text: Annotated[str, Field(description='The text.')]


class TreeFault(Model):
    """
    A file of a job tree that is not as it should be. What it says is missing in the database.
    """

    type: Annotated[
        Literal['fault'], Field(description='Tells that it is this: `fault`.')
    ]
    path: Annotated[str, Field(description='The file.')]
    reason: Annotated[
        str,
        Field(
            description=(
                'What is wrong with it, with the place in it where there is one.'
            )
        ),
    ]


TreeOutcome = TypeAliasType(
    "TreeOutcome",
    Annotated[
        Literal['stored', 'skipped', 'differs'],
        Field(description='What became of a run of a job tree.', title='TreeOutcome'),
    ],
)


TreeVintage = TypeAliasType(
    "TreeVintage",
    Annotated[
        Literal['seed', 'epic', 'head'],
        Field(
            description=(
                'Which version of Perstack wrote a job tree, as far as its files tell.'
            ),
            title='TreeVintage',
        ),
    ],
)


class UnknownRunEvent(Model):
    """
    A type that this version does not know. Readers keep it as it is.
    """

    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    type: Annotated[
        str, Field(description='The type, which is none of the known ones.')
    ]


class UnknownRuntimeEvent(Model):
    """
    A type that this version does not know. Readers keep it as it is.
    """

    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    type: Annotated[
        str, Field(description='The type, which is none of the known ones.')
    ]


class UnknownRuntimeEventKind(Model):
    """
    A type that this version does not know. Readers keep it as it is.
    """

    type: Annotated[
        str, Field(description='The type, which is none of the known ones.')
    ]


class UnknownTranscriptEntry(Model):
    """
    A type that this version does not know. Readers keep it as it is.
    """

    ts: Annotated[str, Field(description='When, as an ISO 8601 time in UTC.')]
    kind: Annotated[
        str, Field(description='The type, which is none of the known ones.')
    ]


class UnparsedOutput(Model):
    """
    Output that no parser understood. The recorded raw output has all of it.
    """

    type: Annotated[
        Literal['unparsedOutput'],
        Field(description='Tells that it is this: `unparsedOutput`.'),
    ]
    stream: Annotated[Stream, Field(description='On which stream.')]
    line: Annotated[
        int,
        Field(description='The line, counted from 1.', ge=0, le=18446744073709551615),
    ]
    tag: Annotated[
        str | None, Field(description='The type that the line names, where it does.')
    ] = None
    reason: Annotated[str, Field(description='Why it was not understood.')]
    excerpt: Annotated[str | None, Field(description='The beginning of it.')] = None


class UnparsedOutputEvent(Model):
    """
    Output that no parser understood. The recorded raw output has all of it.
    """

    type: Annotated[
        Literal['unparsedOutput'],
        Field(description='Tells that it is this: `unparsedOutput`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stream: Annotated[Stream, Field(description='On which stream.')]
    line: Annotated[
        int,
        Field(description='The line, counted from 1.', ge=0, le=18446744073709551615),
    ]
    tag: Annotated[
        str | None, Field(description='The type that the line names, where it does.')
    ] = None
    reason: Annotated[str, Field(description='Why it was not understood.')]
    excerpt: Annotated[str | None, Field(description='The beginning of it.')] = None


Unseen = TypeAliasType(
    "Unseen",
    Annotated[
        Literal['cutOffTail', 'newHashes'],
        Field(description='What verifying could not see.', title='Unseen'),
    ],
)


class Usage(Model):
    """
    Tokens used, in Perstack's five counters.

    The same meaning for every runtime: a prompt token is counted under exactly one of `inputTokens` and `cachedInputTokens`, a generated one under `outputTokens`.
    """

    inputTokens: Annotated[
        int,
        Field(
            description=(
                'Prompt tokens that were not read from a cache; cache writes are'
                ' included.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    outputTokens: Annotated[
        int,
        Field(
            description='All generated tokens, reasoning included.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    reasoningTokens: Annotated[
        int,
        Field(
            description='The part of the generated tokens that was reasoning.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    totalTokens: Annotated[
        int,
        Field(
            description='Input, cached input and output tokens together.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    cachedInputTokens: Annotated[
        int,
        Field(
            description='Prompt tokens that were read from a cache.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class UsageKey(Model):
    """
    One of the things that usage is grouped by.
    """

    by: Annotated[
        str,
        Field(
            description=(
                '`day`, `week`, `month`, `runtime`, `model`, `job`, `session`, `cwd`,'
                ' `label`, or `label:` and the name of one.'
            )
        ),
    ]
    name: Annotated[
        str | None,
        Field(
            description='The day, runtime, model and so on; null where it is not known.'
        ),
    ]


UsageSource = TypeAliasType(
    "UsageSource",
    Annotated[
        Literal['response', 'total', 'remainder'],
        Field(description='Where a number of tokens comes from.', title='UsageSource'),
    ],
)


class ValidationCounts(Model):
    """
    How many lines there were.
    """

    type: Annotated[
        Literal['summary'], Field(description='Tells that it is this: `summary`.')
    ]
    valid: Annotated[
        int,
        Field(description='Lines that fit the schema.', ge=0, le=18446744073709551615),
    ]
    unknown: Annotated[
        int,
        Field(
            description='Lines of types that this version does not know.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    invalid: Annotated[
        int,
        Field(
            description='Lines that break the schema.', ge=0, le=18446744073709551615
        ),
    ]
    suggestedKind: Annotated[
        str | None,
        Field(
            description=(
                'The kind that most lines look like, where it is not the one they were'
                ' checked against.'
            )
        ),
    ] = None


class ValidationFault(Model):
    """
    A fault of a line that breaks the schema.
    """

    type: Annotated[
        Literal['invalid'], Field(description='Tells that it is this: `invalid`.')
    ]
    line: Annotated[
        int,
        Field(description='The line, counted from 1.', ge=0, le=18446744073709551615),
    ]
    tag: Annotated[
        str | None,
        Field(
            description=(
                'The type that the line names; null if it names none that is known.'
            )
        ),
    ]
    path: Annotated[
        str,
        Field(description='Where in the line, as a JSON pointer; empty for all of it.'),
    ]
    message: Annotated[
        str, Field(description='What was expected there, and what was found.')
    ]
    schemaPath: Annotated[
        str,
        Field(
            description=(
                'The rule that was broken, as a JSON pointer into the schema; empty if'
                ' the line is no JSON.'
            )
        ),
    ]


class ValidationUnknown(Model):
    """
    A line of a type that this version does not know.
    """

    type: Annotated[
        Literal['unknown'], Field(description='Tells that it is this: `unknown`.')
    ]
    line: Annotated[
        int,
        Field(description='The line, counted from 1.', ge=0, le=18446744073709551615),
    ]
    tag: Annotated[str, Field(description='The type that it names.')]


class Warning(Model):
    """
    The runtime warned.
    """

    type: Annotated[
        Literal['warning'], Field(description='Tells that it is this: `warning`.')
    ]
    message: Annotated[str, Field(description='What it said.')]


class WarningEvent(Model):
    """
    The runtime warned.
    """

    type: Annotated[
        Literal['warning'], Field(description='Tells that it is this: `warning`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    message: Annotated[str, Field(description='What it said.')]


class MetadataPatchRecordSet(Model):
    """
    Keys to set; a null removes its key.
    """

    runtime: Runtime | None = None
    externalExecution: bool | None = None
    sessionId: str | None = None
    model: str | None = None
    cliVersion: str | None = None
    cwd: str | None = None
    argv: list[str] | None = None
    host: str | None = None
    user: str | None = None
    permissionMode: str | None = None
    gitCommit: str | None = None
    gitBranch: str | None = None
    labels: Annotated[
        Any | None,
        Field(
            description=(
                'Labels that whoever started the run gave it: an object of texts.'
            )
        ),
    ] = None
    exitCode: int | None = None
    exitUnknown: bool | None = None
    signal: str | None = None
    startedAt: int | None = None
    finishedAt: int | None = None
    durationMs: int | None = None
    costUsd: float | None = None
    rawUsage: Annotated[
        Any | None, Field(description='The usage objects as the runtime printed them.')
    ] = None
    usageUnknown: list[str] | None = None
    outputFormat: str | None = None
    parserVersion: str | None = None
    unparsedLines: int | None = None
    timeSource: str | None = None


class AdapterCommand(Model):
    """
    The command line of an agent CLI.
    """

    program: Annotated[str, Field(description='The program.')]
    arguments: Annotated[
        list[str],
        Field(description='Its arguments, each a word of its own: no shell sees them.'),
    ]
    loggedArguments: Annotated[
        list[str],
        Field(description='What may be logged of them: prompt and secrets replaced.'),
    ]
    prompt: Annotated[PromptPlace, Field(description='Where the prompt goes.')]
    fault: Annotated[
        AdapterFault | None,
        Field(description='Why the CLI must not be started; null if it can be.'),
    ]


class ApiRetryEvent(Model):
    """
    The runtime tries a model request again.
    """

    type: Annotated[
        Literal['apiRetry'], Field(description='Tells that it is this: `apiRetry`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    attempt: Annotated[
        int | None,
        Field(
            description='Which try failed, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    maxAttempts: Annotated[
        int | None,
        Field(
            description='How many tries there will be at the most.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    delayMs: Annotated[
        int | None,
        Field(
            description='Milliseconds until the next try.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    statusCode: Annotated[
        int | None,
        Field(description='The HTTP status that made it necessary.', ge=0, le=65535),
    ] = None
    reason: Annotated[
        str | None, Field(description='What the runtime said about it.')
    ] = None


class CallNote(Model):
    """
    What is known of a tool call beyond its arguments.
    """

    toolCallId: Annotated[ToolCallId, Field(description='The call.')]
    printedId: Annotated[
        str | None,
        Field(
            description=(
                'The id as the runtime printed it, where it was too long to be one.'
            )
        ),
    ] = None
    class_: Annotated[
        ToolClass | None,
        Field(
            alias='class',
            description=(
                'What the tool is for; absent in records from before classes were'
                ' known.'
            ),
        ),
    ] = None
    command: Annotated[str | None, Field(description='The shell command it runs.')] = (
        None
    )
    paths: Annotated[
        list[str] | None, Field(description='The files it reads or writes.')
    ] = None
    url: Annotated[str | None, Field(description='The URL it fetches.')] = None


class CheckpointDiff(Model):
    """
    What changed between two checkpoints.
    """

    from_: Annotated[
        CheckpointId, Field(alias='from', description='The first checkpoint.')
    ]
    to: Annotated[CheckpointId, Field(description='The second checkpoint.')]
    changes: Annotated[
        list[FieldChange],
        Field(description='The fields that differ, messages left out.'),
    ]
    sameMessages: Annotated[
        int,
        Field(
            description='How many messages both begin with.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    removedMessages: Annotated[
        list[dict[str, Any]],
        Field(
            description='The messages of the first checkpoint after those, without ids.'
        ),
    ]
    addedMessages: Annotated[
        list[dict[str, Any]],
        Field(
            description=(
                'The messages of the second checkpoint after those, without ids.'
            )
        ),
    ]


class CompactionEvent(Model):
    """
    The conversation was compacted.
    """

    type: Annotated[
        Literal['compaction'], Field(description='Tells that it is this: `compaction`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    trigger: Annotated[str | None, Field(description='What set it off.')] = None
    preTokens: Annotated[
        int | None, Field(description='Tokens before.', ge=0, le=18446744073709551615)
    ] = None
    postTokens: Annotated[
        int | None, Field(description='Tokens after.', ge=0, le=18446744073709551615)
    ] = None
    durationMs: Annotated[
        int | None,
        Field(description='How long it took.', ge=0, le=18446744073709551615),
    ] = None
    message: Annotated[
        str | None, Field(description='What the runtime said about it.')
    ] = None


class CompleteStreamingReasoningEvent(Model):
    """
    The reasoning is complete.
    """

    type: Annotated[
        Literal['completeStreamingReasoning'],
        Field(description='Tells that it is this: `completeStreamingReasoning`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    text: Annotated[str, Field(description='All of it.')]


class CompleteStreamingRunResultEvent(Model):
    """
    The answer is complete.
    """

    type: Annotated[
        Literal['completeStreamingRunResult'],
        Field(description='Tells that it is this: `completeStreamingRunResult`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    text: Annotated[str, Field(description='All of it.')]


class ConnectionEvent(Model):
    """
    The connection to the model's service changed.
    """

    type: Annotated[
        Literal['connection'], Field(description='Tells that it is this: `connection`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    state: Annotated[str, Field(description="The new state, in the runtime's words.")]
    attempt: Annotated[
        int | None, Field(description='Which try.', ge=0, le=18446744073709551615)
    ] = None
    endpoint: Annotated[str | None, Field(description='The other side.')] = None


class CopiedRun(Model):
    """
    A root run that was to be copied, its children included.
    """

    type: Annotated[Literal['run'], Field(description='Tells that it is this: `run`.')]
    runId: Annotated[RunId, Field(description='The run.')]
    outcome: Annotated[CopyOutcome, Field(description='What became of it.')]
    reason: Annotated[
        str | None,
        Field(
            description=(
                'Why it was not copied; null if it was, or was there as it is here.'
            )
        ),
    ]


CopyLine = TypeAliasType(
    "CopyLine",
    Annotated[
        CopiedRun | CopySummary,
        Field(
            description=(
                'A line of what `push` and `pull` print: one for each run, and a'
                ' summary at the end.'
            ),
            discriminator='type',
            title='CopyLine',
        ),
    ],
)


class DelegatedBy(Model):
    """
    Where a child run came from.
    """

    expert: Annotated[Expert, Field(description='The expert of the parent run.')]
    toolCallId: Annotated[
        ToolCallId, Field(description="The parent's call that started the child.")
    ]
    toolName: Annotated[ToolName, Field(description="The tool's name.")]
    checkpointId: Annotated[
        CheckpointId,
        Field(description="The parent's checkpoint of the step that made the call."),
    ]
    runId: Annotated[RunId, Field(description='The parent run.')]


class DelegationTarget(Model):
    """
    A piece of work handed to another expert.
    """

    expert: Annotated[Expert, Field(description='The expert that is to do it.')]
    toolCallId: Annotated[ToolCallId, Field(description='The call that hands it over.')]
    toolName: Annotated[ToolName, Field(description="The tool's name.")]
    query: Annotated[str, Field(description='What is asked for.')]


class DockerBuildProgressEvent(Model):
    """
    A container is being built.
    """

    type: Annotated[
        Literal['dockerBuildProgress'],
        Field(description='Tells that it is this: `dockerBuildProgress`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stage: Annotated[BuildStage, Field(description='How far it is.')]
    service: Annotated[str, Field(description="The container's service.")]
    message: Annotated[str, Field(description='What is being done.')]
    progress: Annotated[float | None, Field(description='How much is done.')] = None


class DockerContainerStatusEvent(Model):
    """
    A container changed its state.
    """

    type: Annotated[
        Literal['dockerContainerStatus'],
        Field(description='Tells that it is this: `dockerContainerStatus`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    status: Annotated[ContainerStatus, Field(description='The new state.')]
    service: Annotated[str, Field(description="The container's service.")]
    message: Annotated[str | None, Field(description='More on it.')] = None


class Drift(Model):
    """
    Output of one kind that no parser understood: how a change in a CLI's format is seen.
    """

    kind: Annotated[DriftKind, Field(description='What was not understood.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    cliVersion: Annotated[
        str | None,
        Field(description="The agent CLI's version; null where it is not known."),
    ]
    tag: Annotated[
        str | None,
        Field(
            description=(
                "The type that the lines name, or the message's type and the key,"
                " joined by a dot; null for lines that name no type."
            )
        ),
    ]
    reason: Annotated[str, Field(description='Why it was not understood.')]
    lines: Annotated[
        int,
        Field(
            description='How many lines, or how often the key was seen.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    runs: Annotated[
        int, Field(description='Runs that have it.', ge=0, le=18446744073709551615)
    ]
    runId: Annotated[RunId, Field(description='A run that has it.')]
    seq: Annotated[
        int,
        Field(
            description='The record of such a line, or the one that counts the key.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    excerpt: Annotated[
        str | None,
        Field(description='The first characters of that line; null for a key.'),
    ]


class EarlierResultEvent(Model):
    """
    A result that was not the run's last.
    """

    type: Annotated[
        Literal['earlierResult'],
        Field(description='Tells that it is this: `earlierResult`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    isError: Annotated[bool, Field(description='Whether it reports a failure.')]
    subtype: Annotated[str | None, Field(description="The runtime's word for it.")] = (
        None
    )
    text: Annotated[str | None, Field(description='Its text.')] = None


class ExitMismatchEvent(Model):
    """
    The exit of the process does not fit the result it printed.
    """

    type: Annotated[
        Literal['exitMismatch'],
        Field(description='Tells that it is this: `exitMismatch`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    reported: Annotated[str, Field(description='What the printed result says.')]
    exit: Annotated[str, Field(description='What the exit says.')]


class ExportedTree(Model):
    """
    A job tree that `export` wrote.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    path: Annotated[str, Field(description='Its directory.')]
    runs: Annotated[
        int,
        Field(
            description='How many runs it has, children included.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    checkpoints: Annotated[
        int,
        Field(
            description='How many checkpoint files it has.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    events: Annotated[
        int,
        Field(
            description='How many event files it has.', ge=0, le=18446744073709551615
        ),
    ]
    bytes: Annotated[
        int,
        Field(
            description='How many bytes all its files have.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    redaction: Annotated[
        list[AppliedRules] | None,
        Field(
            description=(
                'By which rules secrets were taken out of its runs, each set once.'
                ' Empty if all of them are from before that was done.'
            )
        ),
    ] = None


class Failure(Model):
    """
    Why a run failed.
    """

    name: Annotated[
        str,
        Field(
            description=(
                "`ApiError` for what the model's API refused; `TruncatedOutput`,"
                " `NonZeroExit`, `KilledBySignal`, `TimedOut`, `RecorderLost`,"
                " `ParentEnded`, `Unfinished`; else the runtime's own name."
            )
        ),
    ]
    message: Annotated[str, Field(description='What went wrong, for people.')]
    statusCode: Annotated[
        int | None,
        Field(
            description="The HTTP status of the model's API; null if there was none.",
            ge=0,
            le=65535,
        ),
    ]
    isRetryable: Annotated[
        bool, Field(description='Whether the same run may succeed later.')
    ]
    family: Annotated[
        ErrorFamily | None,
        Field(description='What kind of failure it was; null if nothing tells.'),
    ]
    retryAt: Annotated[
        Time | None,
        Field(description='Not before this time; null if the runtime gave none.'),
    ]


class FailureSum(Model):
    """
    How often runs failed in one way.
    """

    key: Annotated[
        str | None,
        Field(
            description=(
                'What the runs have in common: a family, a name or a runtime; null for'
                ' failures whose family nothing tells.'
            )
        ),
    ]
    runs: Annotated[
        int, Field(description='Runs that failed so.', ge=0, le=18446744073709551615)
    ]
    retryable: Annotated[
        int,
        Field(
            description='Runs of these that may succeed later.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    names: Annotated[list[str], Field(description='The names of the errors, in order.')]
    runtimes: Annotated[list[Runtime], Field(description='Their runtimes, in order.')]
    runId: Annotated[RunId, Field(description='The last run that failed so.')]
    lastAt: Annotated[
        Time,
        Field(description='When that run ended, or began where its end is not known.'),
    ]


class FaultPlaceRecord(Model):
    """
    A record.
    """

    type: Annotated[
        Literal['record'], Field(description='Tells that it is this: `record`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[int, Field(description='The record.', ge=0, le=18446744073709551615)]


class FaultPlaceRow(Model):
    """
    A row that follows from records.
    """

    type: Annotated[Literal['row'], Field(description='Tells that it is this: `row`.')]
    table: Annotated[
        str,
        Field(
            description=(
                'The table: `step`, `tool_call`, `notice`, `unparsed` or `usage`.'
            )
        ),
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(description='The record it follows from.', ge=0, le=18446744073709551615),
    ]


class FaultPlaceRun(Model):
    """
    The row of a run.
    """

    type: Annotated[Literal['run'], Field(description='Tells that it is this: `run`.')]
    runId: Annotated[RunId, Field(description='The run.')]


class FaultPlaceTape(Model):
    """
    A part of the tape.
    """

    type: Annotated[
        Literal['tape'], Field(description='Tells that it is this: `tape`.')
    ]
    runId: Annotated[RunId, Field(description='The root run.')]
    block: Annotated[
        int, Field(description='The block.', ge=0, le=18446744073709551615)
    ]


class FileBinaryPart(Model):
    """
    A file carried in the message as a string of bytes.
    """

    type: Annotated[
        Literal['fileBinaryPart'],
        Field(description='Tells that it is this: `fileBinaryPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    data: Annotated[str, Field(description="The file's bytes.")]
    mimeType: Annotated[str, Field(description="The file's media type.")]


class FileInlinePart(Model):
    """
    A file carried in the message as base64.
    """

    type: Annotated[
        Literal['fileInlinePart'],
        Field(description='Tells that it is this: `fileInlinePart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    encodedData: Annotated[str, Field(description='The file, base64.')]
    mimeType: Annotated[str, Field(description="The file's media type.")]


class FileUrlPart(Model):
    """
    A file to be found at a URL.
    """

    type: Annotated[
        Literal['fileUrlPart'],
        Field(description='Tells that it is this: `fileUrlPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    url: Annotated[MediaUrl, Field(description='Where the file is.')]
    mimeType: Annotated[str, Field(description="The file's media type.")]


class FileUse(Model):
    """
    How a file was used: all calls that named it, by whichever path and tool.
    """

    path: Annotated[
        str,
        Field(
            description=(
                'The file: a relative path of a call is taken from the directory that'
                ' its run worked in. As the call named it where that directory is not'
                ' known.'
            )
        ),
    ]
    calls: Annotated[
        int, Field(description='Calls that named it.', ge=0, le=18446744073709551615)
    ]
    reads: Annotated[
        int,
        Field(
            description='Calls that read it, of those whose class tells.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    writes: Annotated[
        int,
        Field(
            description=(
                'Calls that created, changed or deleted it, of those whose class tells.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    tools: Annotated[
        list[str], Field(description='The tools that did, by their names.')
    ]
    knownBy: Annotated[
        KnownBy | None,
        Field(description='How that is known, where no call says it itself.'),
    ] = None
    errors: Annotated[
        int, Field(description='Calls that failed.', ge=0, le=18446744073709551615)
    ]
    runs: Annotated[
        int, Field(description='Runs that did.', ge=0, le=18446744073709551615)
    ]
    runId: Annotated[RunId, Field(description='The last run that did.')]
    lastAt: Annotated[Time, Field(description='The last time, as ISO 8601 in UTC.')]


class GcReport(Model):
    """
    What `gc` gave up.
    """

    isDryRun: Annotated[bool, Field(description='Whether nothing was done, only told.')]
    deletedRuns: Annotated[
        list[RunId], Field(description='The root runs that were deleted, or would be.')
    ]
    droppedTapes: Annotated[
        int,
        Field(
            description='Tapes that were dropped while their records stay.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    droppedTapeBytes: Annotated[
        int,
        Field(
            description='Bytes of output that those tapes held.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    bytesBefore: Annotated[
        int,
        Field(
            description='Bytes of the database before.', ge=0, le=18446744073709551615
        ),
    ]
    bytesAfter: Annotated[
        int,
        Field(
            description='Bytes of the database after.', ge=0, le=18446744073709551615
        ),
    ]
    isErased: Annotated[
        bool | None,
        Field(
            description=(
                'Whether nothing of what was given up is left in the files, but for ids'
                ' of runs in tombstones; false if somebody read from the database for'
                ' so long that its log had to be kept; not there if nothing was done.'
            )
        ),
    ] = None


class HistoryMismatchEvent(Model):
    """
    What was printed does not fit what the runtime's session files say.
    """

    type: Annotated[
        Literal['historyMismatch'],
        Field(description='Tells that it is this: `historyMismatch`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    field: Annotated[str, Field(description='The field that they tell in two ways.')]
    printed: Annotated[str, Field(description='What was printed.')]
    history: Annotated[str, Field(description='What the session files say.')]


class HistoryPlace(Model):
    """
    A directory in which an agent CLI keeps its sessions.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    path: Annotated[str, Field(description='The directory.')]
    files: Annotated[
        int,
        Field(
            description=(
                'Files in it that hold sessions. A session may have several, and a'
                ' database has many sessions.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    bytes: Annotated[
        int,
        Field(
            description='How large they are together, in bytes.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    keptDays: Annotated[
        int | None,
        Field(
            description=(
                'After how many days the CLI deletes what was not touched; null if it'
                ' does not.'
            ),
            ge=0,
            le=4294967295,
        ),
    ]
    due: Annotated[
        int,
        Field(
            description='Files that it deletes within a week, unless they are touched.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class HookEvent(Model):
    """
    A hook ran.
    """

    type: Annotated[
        Literal['hook'], Field(description='Tells that it is this: `hook`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    name: Annotated[str, Field(description="The hook's name.")]
    event: Annotated[str | None, Field(description='What it was run for.')] = None
    outcome: Annotated[
        str | None, Field(description='How far it is: `started`, or how it ended.')
    ] = None
    exitCode: Annotated[
        int | None,
        Field(
            description='Its exit code.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    output: Annotated[str | None, Field(description='What it printed.')] = None


class HostUse(Model):
    """
    How often a host was used or named.
    """

    host: Annotated[
        str | None,
        Field(description='The host; null for calls that name none, such as searches.'),
    ]
    isGuessed: Annotated[
        bool,
        Field(
            description=(
                'Whether the calls do not say themselves that they reached it: whether'
                ' they did, nobody knows.'
            )
        ),
    ]
    knownBy: Annotated[
        KnownBy | None,
        Field(
            description=(
                'How the host is known, where the calls do not say it themselves.'
            )
        ),
    ] = None
    calls: Annotated[
        int,
        Field(
            description='Calls that fetched from it or named it.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    errors: Annotated[
        int,
        Field(description='Calls of these that failed.', ge=0, le=18446744073709551615),
    ]
    runs: Annotated[
        int, Field(description='Runs that did.', ge=0, le=18446744073709551615)
    ]
    tools: Annotated[list[str], Field(description='The names of the tools, in order.')]
    runId: Annotated[RunId, Field(description='The last run that did.')]
    lastAt: Annotated[Time, Field(description='The last time.')]


class ImageBinaryPart(Model):
    """
    An image carried in the message as a string of bytes.
    """

    type: Annotated[
        Literal['imageBinaryPart'],
        Field(description='Tells that it is this: `imageBinaryPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    data: Annotated[str, Field(description="The image's bytes.")]
    mimeType: Annotated[str, Field(description="The image's media type.")]


class ImageInlinePart(Model):
    """
    An image carried in the message as base64.
    """

    type: Annotated[
        Literal['imageInlinePart'],
        Field(description='Tells that it is this: `imageInlinePart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    encodedData: Annotated[str, Field(description='The image, base64.')]
    mimeType: Annotated[str, Field(description="The image's media type.")]


class ImageUrlPart(Model):
    """
    An image to be found at a URL.
    """

    type: Annotated[
        Literal['imageUrlPart'],
        Field(description='Tells that it is this: `imageUrlPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    url: Annotated[MediaUrl, Field(description='Where the image is.')]
    mimeType: Annotated[str, Field(description="The image's media type.")]


class ImportedRun(Model):
    """
    A run that `import` met.
    """

    path: Annotated[str, Field(description='The file.')]
    runId: Annotated[RunId, Field(description='The run.')]
    outcome: Annotated[
        IngestOutcome, Field(description='Whether it was stored, or there already.')
    ]


class InfoEvent(Model):
    """
    A notice of the runtime without further meaning.
    """

    type: Annotated[
        Literal['info'], Field(description='Tells that it is this: `info`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    topic: Annotated[
        str | None, Field(description="What kind of notice, in the runtime's words.")
    ] = None
    message: Annotated[str, Field(description='What it said.')]


class IngestGroup(Model):
    """
    Runs of one runtime that ended alike.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    status: Annotated[CheckpointStatus, Field(description='How they ended.')]
    outcome: Annotated[Outcome | None, Field(description='How they went.')] = None
    runs: Annotated[int, Field(description='Root runs.', ge=0, le=18446744073709551615)]
    steps: Annotated[
        int,
        Field(
            description='Steps, those of child runs included, as in all that follows.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    records: Annotated[
        int, Field(description='Kept records.', ge=0, le=18446744073709551615)
    ]
    unparsed: Annotated[
        int,
        Field(
            description='Lines that no parser understood.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(description='What they used; null if nothing is known.'),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None


class IngestSummary(Model):
    """
    What all files came to.
    """

    type: Annotated[
        Literal['summary'], Field(description='Tells that it is this: `summary`.')
    ]
    stored: Annotated[
        int, Field(description='Runs that were stored.', ge=0, le=18446744073709551615)
    ]
    skipped: Annotated[
        int,
        Field(
            description='Files whose runs were there already.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    unusable: Annotated[
        int,
        Field(
            description='Files that hold nothing usable.', ge=0, le=18446744073709551615
        ),
    ]
    ignored: Annotated[
        int,
        Field(
            description='Files in directories that belong to no run.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    groups: Annotated[
        list[IngestGroup],
        Field(description='The runs that were stored, by runtime and how they went.'),
    ]


class InitializeRuntime(Model):
    """
    The runtime is ready.
    """

    type: Annotated[
        Literal['initializeRuntime'],
        Field(description='Tells that it is this: `initializeRuntime`.'),
    ]
    runtimeVersion: Annotated[
        str,
        Field(
            description=(
                "The runtime's version; `external:` and the runtime's name for an agent"
                " CLI."
            )
        ),
    ]
    runtime: Annotated[str | None, Field(description="The runtime's name.")] = None
    expertName: Annotated[str, Field(description="The expert's name for people.")]
    experts: Annotated[list[str], Field(description='The experts at hand.')]
    model: Annotated[
        str,
        Field(
            description=(
                "The model; the runtime's name and `:default` where it is not known."
            )
        ),
    ]
    temperature: Annotated[
        float | None,
        Field(
            description=(
                "The model's temperature. Perstack dropped the field in 2025-12; 0"
                " here."
            )
        ),
    ] = None
    maxSteps: Annotated[
        int | None,
        Field(description='The most steps allowed.', ge=0, le=18446744073709551615),
    ] = None
    maxRetries: Annotated[
        int,
        Field(
            description='How often a request is tried again.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    timeout: Annotated[
        int,
        Field(
            description='The time limit in milliseconds, 0 for none known.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    query: Annotated[str | None, Field(description='What was asked for.')] = None
    interactiveToolCall: Annotated[
        InteractiveToolCall | None,
        Field(
            description='The answer to an interactive tool that the run goes on with.'
        ),
    ] = None


class InitializeRuntimeEvent(Model):
    """
    The runtime is ready.
    """

    type: Annotated[
        Literal['initializeRuntime'],
        Field(description='Tells that it is this: `initializeRuntime`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    runtimeVersion: Annotated[
        str,
        Field(
            description=(
                "The runtime's version; `external:` and the runtime's name for an agent"
                " CLI."
            )
        ),
    ]
    runtime: Annotated[str | None, Field(description="The runtime's name.")] = None
    expertName: Annotated[str, Field(description="The expert's name for people.")]
    experts: Annotated[list[str], Field(description='The experts at hand.')]
    model: Annotated[
        str,
        Field(
            description=(
                "The model; the runtime's name and `:default` where it is not known."
            )
        ),
    ]
    temperature: Annotated[
        float | None,
        Field(
            description=(
                "The model's temperature. Perstack dropped the field in 2025-12; 0"
                " here."
            )
        ),
    ] = None
    maxSteps: Annotated[
        int | None,
        Field(description='The most steps allowed.', ge=0, le=18446744073709551615),
    ] = None
    maxRetries: Annotated[
        int,
        Field(
            description='How often a request is tried again.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    timeout: Annotated[
        int,
        Field(
            description='The time limit in milliseconds, 0 for none known.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    query: Annotated[str | None, Field(description='What was asked for.')] = None
    interactiveToolCall: Annotated[
        InteractiveToolCall | None,
        Field(
            description='The answer to an interactive tool that the run goes on with.'
        ),
    ] = None


InstructionPart = TypeAliasType(
    "InstructionPart",
    Annotated[
        TextPart,
        Field(description='A part of an instruction.', title='InstructionPart'),
    ],
)


class InteractionEvent(Model):
    """
    The runtime asked its user something, or was answered.
    """

    type: Annotated[
        Literal['interaction'],
        Field(description='Tells that it is this: `interaction`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    phase: Annotated[str, Field(description='`request` or `response`.')]
    queryType: Annotated[str, Field(description='What kind of question.')]
    queryId: Annotated[str | None, Field(description='Names the question.')] = None
    payload: Annotated[
        dict[str, Any] | list[Any] | str | float | bool | None,
        Field(description='The question or the answer, as it was printed.'),
    ] = None


class Job(Model):
    """
    A set of runs that belong together, seen as one piece of work.
    """

    id: Annotated[JobId, Field(description='Names the job.')]
    status: Annotated[JobStatus, Field(description='Where it stands.')]
    coordinatorExpertKey: Annotated[
        str, Field(description='The expert that the root run was given to.')
    ]
    totalSteps: Annotated[
        int, Field(description='Steps of all its runs.', ge=0, le=18446744073709551615)
    ]
    maxSteps: Annotated[
        int | None,
        Field(
            description='The most steps it was allowed, if limited.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    usage: Annotated[Usage, Field(description='What all its runs used.')]
    startedAt: Annotated[
        int,
        Field(
            description='When it began, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    finishedAt: Annotated[
        int | None,
        Field(
            description='When its last run ended, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


class JobInfo(Model):
    """
    What is known of a job, made from its runs. Unknown is null.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    status: Annotated[
        JobStatus,
        Field(
            description=(
                'Where it stands: running while any run is open, else as its latest'
                ' root run ended.'
            )
        ),
    ]
    outcome: Annotated[
        Outcome | None,
        Field(
            description=(
                'How it went: `running` while any run is open, else as its latest root'
                ' run.'
            )
        ),
    ] = None
    expertKey: Annotated[
        str, Field(description='The expert that the first root run was given to.')
    ]
    runs: Annotated[int, Field(description='Root runs.', ge=0, le=18446744073709551615)]
    steps: Annotated[
        int, Field(description='Steps of all its runs.', ge=0, le=18446744073709551615)
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(description='What all its runs used; null if nothing is known.'),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None
    startedAt: Annotated[Time, Field(description='When its first run began.')]
    finishedAt: Annotated[
        Time | None,
        Field(description='When its last run ended; null while one is open.'),
    ]


KnownTranscriptEntry = TypeAliasType(
    "KnownTranscriptEntry",
    Annotated[
        TranscriptAssistantEntry
        | TranscriptThinkingEntry
        | TranscriptUserEntry
        | TranscriptToolCallEntry
        | TranscriptToolResultEntry
        | TranscriptInitEntry
        | TranscriptRunResultEntry
        | TranscriptStderrEntry
        | TranscriptSystemEntry
        | TranscriptStdoutEntry
        | TranscriptDiffEntry,
        Field(
            description=(
                'One entry of a transcript. Of a type that this version of the schema'
                ' knows.'
            ),
            discriminator='kind',
            title='KnownTranscriptEntry',
        ),
    ],
)


class LeaseInfo(Model):
    """
    Who writes a run.
    """

    runId: Annotated[RunId, Field(description='The root run.')]
    owner: Annotated[
        str, Field(description='Who writes it: host, process and connection.')
    ]
    remainingMs: Annotated[
        int,
        Field(
            description=(
                'For how many milliseconds more it is theirs, unless they renew it;'
                ' negative if they are gone.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    epoch: Annotated[
        int,
        Field(
            description='Which writer of the run it is: a number that rises with each.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class LedgerEntry(Model):
    """
    An entry of the ledger: tokens that count exactly once.
    """

    runId: Annotated[RunId, Field(description='The run that it belongs to.')]
    seq: Annotated[
        int,
        Field(description='The record that says so.', ge=0, le=18446744073709551615),
    ]
    at: Annotated[Time, Field(description='When.')]
    key: Annotated[
        str,
        Field(
            description='Names what was counted: the same key is never counted again.'
        ),
    ]
    source: Annotated[UsageSource, Field(description='Where the numbers come from.')]
    step: Annotated[
        int | None,
        Field(
            description=(
                'The step that used them; null for what belongs to no single step.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    model: Annotated[
        str | None, Field(description='The model; null where it is not known.')
    ]
    usage: Annotated[
        SummaryUsage | None, Field(description='The numbers; null if none are known.')
    ]
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of the input tokens that was written to a cache; not there if'
                ' there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cacheWrite1hTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of those that was written for an hour instead of some'
                ' minutes.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    isRepeated: Annotated[
        bool,
        Field(
            description=(
                'An earlier run of the same session reported the same response: it does'
                ' not count here.'
            )
        ),
    ]
    ofSession: Annotated[
        bool | None,
        Field(
            description=(
                'The runtime stated the total of the whole session, and no earlier run'
                ' of it is known: these numbers may hold what other runs used.'
            )
        ),
    ] = None
    priceModel: Annotated[
        str | None,
        Field(
            description=(
                "The model's name in the price table; not there if no estimate was"
                " asked for, the model is not known, or the run reported its cost."
            )
        ),
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'What the tokens come to in US dollars, estimated; not there for the'
                ' same reasons.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(description='A hash of the price table that the estimate was made with.'),
    ] = None


class Metadata(Model):
    """
    What is known of a run beyond Perstack's fields. Open: other keys may be present.
    """

    runtime: Runtime | None = None
    externalExecution: Annotated[
        bool | None,
        Field(description='An agent CLI did the work, rather than Perstack itself.'),
    ] = None
    sessionId: Annotated[str | None, Field(description='The session to resume.')] = None
    model: Annotated[
        str | None, Field(description="The model's name as the runtime gave it.")
    ] = None
    cliVersion: Annotated[str | None, Field(description="The agent CLI's version.")] = (
        None
    )
    cwd: Annotated[str | None, Field(description='The directory it worked in.')] = None
    argv: Annotated[list[str] | None, Field(description='The command line.')] = None
    host: Annotated[str | None, Field(description='The machine it ran on.')] = None
    user: Annotated[str | None, Field(description='The user it ran as.')] = None
    permissionMode: Annotated[
        str | None,
        Field(
            description=(
                "What the agent may do without asking, by the runtime's own word"
                " for it."
            )
        ),
    ] = None
    gitCommit: Annotated[
        str | None,
        Field(
            description=(
                'The commit that the working directory was at when the run began.'
            )
        ),
    ] = None
    gitBranch: Annotated[
        str | None,
        Field(
            description=(
                'The branch that the working directory was on when the run began.'
            )
        ),
    ] = None
    labels: Annotated[
        Any | None,
        Field(
            description=(
                'Labels that whoever started the run gave it: an object of texts.'
            )
        ),
    ] = None
    exitCode: Annotated[
        int | None, Field(description='The exit code of the process.')
    ] = None
    exitUnknown: Annotated[
        bool | None, Field(description='The exit code is not known.')
    ] = None
    signal: Annotated[
        str | None, Field(description='The signal that ended the process.')
    ] = None
    startedAt: Annotated[
        int | None,
        Field(
            description=(
                'When the process began, in milliseconds since 1970, by the clock of'
                ' the recorder that ran it.'
            )
        ),
    ] = None
    finishedAt: Annotated[
        int | None,
        Field(
            description=(
                'When the process ended, in milliseconds since 1970, by the clock of'
                ' the recorder that ran it.'
            )
        ),
    ] = None
    durationMs: Annotated[
        int | None,
        Field(
            description=(
                'How long the run took, in milliseconds, as the runtime reported it.'
            )
        ),
    ] = None
    costUsd: Annotated[
        float | None, Field(description='What the run cost in US dollars, as reported.')
    ] = None
    rawUsage: Annotated[
        Any | None, Field(description='The usage objects as the runtime printed them.')
    ] = None
    usageUnknown: Annotated[
        list[str] | None,
        Field(
            description='Usage counters that are 0 only because nobody reported them.'
        ),
    ] = None
    outputFormat: Annotated[
        str | None, Field(description='The output format that was read.')
    ] = None
    parserVersion: Annotated[
        str | None,
        Field(description='The version of the parser that made the records.'),
    ] = None
    unparsedLines: Annotated[
        int | None, Field(description='How many lines no parser understood.')
    ] = None
    timeSource: Annotated[
        str | None,
        Field(
            description=(
                "Where times come from; `file` means a file's modification time."
            )
        ),
    ] = None


class ModelFallbackEvent(Model):
    """
    Another model took over.
    """

    type: Annotated[
        Literal['modelFallback'],
        Field(description='Tells that it is this: `modelFallback`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    from_: Annotated[
        str | None, Field(alias='from', description='The model that was to answer.')
    ] = None
    to: Annotated[str | None, Field(description='The model that does.')] = None
    reason: Annotated[str | None, Field(description='Why.')] = None


class NoticeInfo(Model):
    """
    Something that a runtime reported besides: a retry, a rate limit, a denial, a line on stderr.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    step: Annotated[
        int,
        Field(
            description='The step during which it came, 0 before the first.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    seq: Annotated[int, Field(description='Its record.', ge=0, le=18446744073709551615)]
    at: Annotated[Time, Field(description='When.')]
    kind: Annotated[
        str,
        Field(
            description=(
                'What kind of notice: `retry`, `rateLimit`, `permissionDenied`,'
                ' `compaction`, `hook`, `modelFallback`, `task`, `connection`,'
                ' `interaction`, `warning`, `result`, `exitMismatch`,'
                ' `historyMismatch`, `stderr`, `stdout` or `info`.'
            )
        ),
    ]
    text: Annotated[
        str,
        Field(
            description=(
                'What a person should read: the first 80 characters; the record has all'
                ' of it.'
            )
        ),
    ]


class PermissionDenied(Model):
    """
    A tool call was denied.
    """

    type: Annotated[
        Literal['permissionDenied'],
        Field(description='Tells that it is this: `permissionDenied`.'),
    ]
    toolName: Annotated[str, Field(description="The tool's name.")]
    toolCallId: Annotated[ToolCallId | None, Field(description='The call.')] = None
    message: Annotated[str | None, Field(description='Why.')] = None


class PermissionDeniedEvent(Model):
    """
    A tool call was denied.
    """

    type: Annotated[
        Literal['permissionDenied'],
        Field(description='Tells that it is this: `permissionDenied`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    toolName: Annotated[str, Field(description="The tool's name.")]
    toolCallId: Annotated[ToolCallId | None, Field(description='The call.')] = None
    message: Annotated[str | None, Field(description='Why.')] = None


class ProcessExitEvent(Model):
    """
    The process ended.
    """

    type: Annotated[
        Literal['processExit'],
        Field(description='Tells that it is this: `processExit`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    exitCode: Annotated[
        int | None,
        Field(
            description='The exit code.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    signal: Annotated[str | None, Field(description='The signal that ended it.')] = None
    timedOut: Annotated[bool, Field(description='Whether a time limit was reached.')]


class ProxyAccess(Model):
    """
    A container asked for a host.
    """

    type: Annotated[
        Literal['proxyAccess'],
        Field(description='Tells that it is this: `proxyAccess`.'),
    ]
    action: Annotated[ProxyAction, Field(description='Whether it was let through.')]
    domain: Annotated[str, Field(description='The host.')]
    port: Annotated[int, Field(description='The port.', ge=0, le=65535)]
    reason: Annotated[str | None, Field(description='Why it was blocked.')] = None


class ProxyAccessEvent(Model):
    """
    A container asked for a host.
    """

    type: Annotated[
        Literal['proxyAccess'],
        Field(description='Tells that it is this: `proxyAccess`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    action: Annotated[ProxyAction, Field(description='Whether it was let through.')]
    domain: Annotated[str, Field(description='The host.')]
    port: Annotated[int, Field(description='The port.', ge=0, le=65535)]
    reason: Annotated[str | None, Field(description='Why it was blocked.')] = None


class RateLimitEvent(Model):
    """
    The runtime reported a rate limit.
    """

    type: Annotated[
        Literal['rateLimit'], Field(description='Tells that it is this: `rateLimit`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    status: Annotated[
        str,
        Field(
            description=(
                'Whether the request went through: `allowed`, `allowed_warning`,'
                ' `rejected` or other words of the runtime.'
            )
        ),
    ]
    limitType: Annotated[str | None, Field(description='Which limit.')] = None
    resetsAt: Annotated[
        int | None,
        Field(
            description='When it ends, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    utilization: Annotated[
        float | None, Field(description='How much of it is used, from 0 to 1.')
    ] = None


class RawOutput(Model):
    """
    A piece of the raw output that a run's process printed.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int | None,
        Field(
            description=(
                'The record that was made from it; null for a part of a whole tape.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    stream: Annotated[Stream, Field(description='The stream.')]
    start: Annotated[
        int,
        Field(
            description='Its first byte on that stream.', ge=0, le=18446744073709551615
        ),
    ]
    end: Annotated[
        int,
        Field(
            description='The byte after its last one.', ge=0, le=18446744073709551615
        ),
    ]
    text: Annotated[
        str, Field(description='The text; bytes that are not UTF-8 are replaced.')
    ]
    isExact: Annotated[
        bool, Field(description='Whether the text is the bytes exactly.')
    ]


class RebuiltRun(Model):
    """
    A root run whose tables for queries were made anew from its records.
    """

    runId: Annotated[RunId, Field(description='The root run.')]
    runs: Annotated[
        int,
        Field(
            description='Runs of its tree, itself included.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    records: Annotated[
        int, Field(description='Records that were read.', ge=0, le=18446744073709551615)
    ]
    steps: Annotated[
        int, Field(description='Rows of table `step`.', ge=0, le=18446744073709551615)
    ]
    toolCalls: Annotated[
        int,
        Field(description='Rows of table `tool_call`.', ge=0, le=18446744073709551615),
    ]
    notices: Annotated[
        int, Field(description='Rows of table `notice`.', ge=0, le=18446744073709551615)
    ]
    unparsed: Annotated[
        int,
        Field(description='Rows of table `unparsed`.', ge=0, le=18446744073709551615),
    ]
    usageEntries: Annotated[
        int, Field(description='Rows of table `usage`.', ge=0, le=18446744073709551615)
    ]


class RecordReport(Model):
    """
    What `record --report` writes about a run at its end.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    jobId: Annotated[JobId, Field(description='The job.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    sessionId: Annotated[
        str | None,
        Field(description='The session to resume; null if the runtime printed none.'),
    ]
    model: Annotated[
        str | None, Field(description="The model's name as the runtime gave it.")
    ]
    status: Annotated[
        CheckpointStatus,
        Field(
            description='How the run ended, which may differ from how the process did.'
        ),
    ]
    outcome: Annotated[Outcome | None, Field(description='How it went.')] = None
    error: Annotated[
        Failure | None, Field(description='Why it failed; null if it did not.')
    ]
    steps: Annotated[int, Field(description='Steps.', ge=0, le=18446744073709551615)]
    usage: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of the run and its children together; null if none are known.'
            )
        ),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None
    durationMs: Annotated[
        int | None,
        Field(
            description='How long it took in milliseconds, as the runtime reported it.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    finalText: Annotated[
        str | None,
        Field(
            description=(
                'The text of the last model message; null if there is none, or if it is'
                ' longer than 16 MiB.'
            )
        ),
    ]
    exit: Annotated[ExitInfo, Field(description='How the process ended.')]
    isStored: Annotated[bool, Field(description='Whether the database has all of it.')]
    spool: Annotated[
        str | None,
        Field(
            description=(
                'The file that holds what could not be stored, for `runtape recover`;'
                ' null if there is none.'
            )
        ),
    ]
    lostBytes: Annotated[
        int,
        Field(
            description='Bytes of output that are kept nowhere.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class RecoveredRun(Model):
    """
    A run that `recover` closed.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    source: Annotated[RecoverySource, Field(description='Where it came from.')]
    status: Annotated[CheckpointStatus, Field(description='How it ended.')]
    outcome: Annotated[Outcome | None, Field(description='How it went.')] = None
    error: Annotated[
        Failure | None, Field(description='Why it failed; null if it did not.')
    ]


class RedactedRun(Model):
    """
    A root run that was looked at, and what was taken out of it.
    """

    type: Annotated[Literal['run'], Field(description='Tells that it is this: `run`.')]
    runId: Annotated[RunId, Field(description='The run.')]
    byRule: Annotated[
        dict[str, Any] | None,
        Field(
            description=(
                'How many were replaced, by the name of the rule that found them.'
            )
        ),
    ] = None
    unfinished: Annotated[
        int | None,
        Field(
            description=(
                "How many times a beginning that looked like a secret's was kept, since"
                " the rest of it did not come within the bounds."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    seal: Annotated[
        SealName | None,
        Field(description='The seal over what is left; null if nothing was changed.'),
    ]


class Removal(Model):
    """
    A run, or a part of it, that was removed.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    seal: Annotated[
        int,
        Field(
            description='The number of the seal that covered it, in its chain.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    sealChain: Annotated[
        int | None,
        Field(
            description=(
                'The chain of that seal; not there for the first one, which is 0.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None
    reason: Annotated[RemovalReason, Field(description='Why.')]
    at: Annotated[Time, Field(description='When.')]


class RenormalizedRun(Model):
    """
    What normalizing a run again changed.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    runtime: Annotated[Runtime, Field(description='The runtime that it was read as.')]
    same: Annotated[
        int,
        Field(
            description='Records that are the same as before.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    changed: Annotated[
        int,
        Field(
            description='Records under the same number that differ.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    added: Annotated[
        int,
        Field(
            description='Records that were not there before.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    removed: Annotated[
        int,
        Field(
            description='Records that are not there any more.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class ResultNote(Model):
    """
    What is known of a tool result beyond its contents.
    """

    toolCallId: Annotated[ToolCallId, Field(description='The call it answers.')]
    durationMs: Annotated[
        int | None,
        Field(description='How long the call took.', ge=0, le=18446744073709551615),
    ] = None
    callStep: Annotated[
        int | None,
        Field(
            description='The step of the call, where the result came in a later one.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    unmatched: Annotated[
        bool | None, Field(description='No call with this id was seen before.')
    ] = None


class RunInfo(Model):
    """
    What is known of a run, without its records. Unknown is null, or not there.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    rootRunId: Annotated[
        RunId | None,
        Field(description='The run on whose tape it is; null for a root run.'),
    ]
    parentRunId: Annotated[
        RunId | None,
        Field(description='The run whose call started it; null for a root run.'),
    ]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    status: Annotated[
        CheckpointStatus,
        Field(description='How it ended; `proceeding` while it is open.'),
    ]
    outcome: Annotated[
        Outcome | None,
        Field(
            description=(
                'How it went: `running` while it is open, `completed`, `failed`,'
                ' `limit`, `interrupted` or `unfinished`.'
            )
        ),
    ] = None
    expertKey: Annotated[
        str | None, Field(description='The expert that it was given to.')
    ]
    model: Annotated[
        str | None, Field(description="The model's name as the runtime gave it.")
    ]
    sessionId: Annotated[str | None, Field(description='The session to resume.')]
    cwd: Annotated[str | None, Field(description='The directory it worked in.')]
    cliVersion: Annotated[str | None, Field(description="The agent CLI's version.")]
    startedAt: Annotated[
        Time,
        Field(
            description=(
                "When it began: by the recorder's clock where it ran the process, else"
                " as its first record says."
            )
        ),
    ]
    finishedAt: Annotated[
        Time | None,
        Field(description='When it ended, by the same clock; null while it is open.'),
    ]
    durationMs: Annotated[
        int | None,
        Field(
            description=(
                "How long it took in milliseconds: by the recorder's clock where it ran"
                " the process, else as the runtime reported it."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    reportedDurationMs: Annotated[
        int | None,
        Field(
            description='How long it took in milliseconds, as the runtime reported it.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    title: Annotated[
        str | None,
        Field(
            description=(
                'What to call it: what was asked, else what the runtime calls the'
                ' session, else the command line.'
            )
        ),
    ] = None
    prompt: Annotated[
        str | None, Field(description='What was asked, its first 200 characters.')
    ] = None
    argv: Annotated[list[str] | None, Field(description='The command line.')] = None
    permissionMode: Annotated[
        str | None,
        Field(
            description=(
                "What the agent may do without asking, by the runtime's own word"
                " for it."
            )
        ),
    ] = None
    host: Annotated[str | None, Field(description='The machine it ran on.')] = None
    user: Annotated[str | None, Field(description='The user it ran as.')] = None
    exitCode: Annotated[
        int | None,
        Field(
            description='The exit code of its process.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    signal: Annotated[
        str | None, Field(description='The signal that ended its process.')
    ] = None
    gitCommit: Annotated[
        str | None,
        Field(description='The commit that the directory was at when it began.'),
    ] = None
    gitBranch: Annotated[
        str | None,
        Field(description='The branch that the directory was on when it began.'),
    ] = None
    labels: Annotated[
        dict[str, Any] | None,
        Field(description='Labels that whoever started it gave it.'),
    ] = None
    steps: Annotated[
        int, Field(description='Steps that ended.', ge=0, le=18446744073709551615)
    ]
    messages: Annotated[
        int, Field(description='Messages.', ge=0, le=18446744073709551615)
    ]
    records: Annotated[
        int, Field(description='Kept records.', ge=0, le=18446744073709551615)
    ]
    unparsed: Annotated[
        int,
        Field(
            description='Lines that no parser understood.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'What it used by itself, without its children; null if nothing is'
                ' known.'
            )
        ),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None
    error: Annotated[
        Failure | None, Field(description='Why it failed; null if it did not.')
    ]
    seal: Annotated[
        int | None,
        Field(
            description=(
                'The number of the seal that covers it, in its chain; null while it is'
                ' open.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    sealChain: Annotated[
        int | None,
        Field(
            description=(
                'The chain of that seal; not there for the first one, which is 0.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None


class RunOrigin(Model):
    """
    Where a run was before it was imported.
    """

    seal: Annotated[
        SealHead | None,
        Field(
            description=(
                'The seal that covered it there, whose hash can be compared with one'
                ' kept elsewhere; null if none did.'
            )
        ),
    ]
    sealedAt: Annotated[Time | None, Field(description='When it was sealed there.')]
    isVerified: Annotated[
        bool,
        Field(
            description=(
                'Whether all of it was proved to be as it was sealed there, before it'
                ' was taken in.'
            )
        ),
    ]
    importedAt: Annotated[Time, Field(description='When it was taken in.')]


class RunSeal(Model):
    """
    The seal that covers a root run and its children.
    """

    runId: Annotated[RunId, Field(description='The root run.')]
    chain: Annotated[
        int | None,
        Field(
            description=(
                'The chain; not there for the first one, which is 0 and the only one of'
                ' a database in a file.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None
    number: Annotated[
        int,
        Field(
            description='Which entry of its chain it is, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    hash: Annotated[
        str,
        Field(
            description=(
                'Its hash, in hexadecimal digits: it covers the run and all that its'
                ' chain sealed before.'
            )
        ),
    ]
    at: Annotated[Time, Field(description='When the run was sealed.')]


class SearchHit(Model):
    """
    A record in which a search found something.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    seq: Annotated[int, Field(description='The record.', ge=0, le=18446744073709551615)]
    step: Annotated[
        int,
        Field(
            description='The step it belongs to, 0 before the first.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[Time, Field(description='When it happened.')]
    role: Annotated[SearchRole, Field(description='Who it comes from.')]
    reference: Annotated[
        str,
        Field(
            description=(
                'The record by run and number, such as `RUN#17`: `show` and'
                ' `transcript` take it.'
            )
        ),
    ]
    snippet: Annotated[
        list[SnippetPart],
        Field(description='The text around what was found, in pieces.'),
    ]


class SearchedRun(Model):
    """
    A run in which a search found something.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    hits: Annotated[
        int, Field(description='In how many records.', ge=0, le=18446744073709551615)
    ]
    latest: Annotated[SearchHit, Field(description='The last one of them.')]


class SecretPlaceTape(Model):
    """
    On the tape only: no record was made from it.
    """

    type: Annotated[
        Literal['tape'], Field(description='Tells that it is this: `tape`.')
    ]
    stream: Annotated[Stream, Field(description='The stream.')]
    start: Annotated[
        int,
        Field(
            description='The first byte of the line on that stream.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class ServerStatus(Model):
    """
    How a server is.
    """

    version: Annotated[str, Field(description='Its version, as it tells it.')]
    user: Annotated[str, Field(description='The user that it takes us for.')]
    isEncrypted: Annotated[
        bool, Field(description='Whether the connection is encrypted.')
    ]
    isStandby: Annotated[
        bool, Field(description='Whether it is a standby, which cannot be written.')
    ]
    isSynchronous: Annotated[
        bool, Field(description='Whether a commit waits for a standby.')
    ]
    synchronousCommit: Annotated[
        str,
        Field(
            description=(
                "What a commit waits for, in the server's words: `on`, `local`,"
                " `off`, …"
            )
        ),
    ]
    partitions: Annotated[
        int | None,
        Field(
            description=(
                'In how many parts the tables of runs are; null if each is in one'
                ' piece.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    isSharded: Annotated[
        bool, Field(description='Whether they are spread over machines by Citus.')
    ]
    clockDifferenceMs: Annotated[
        int,
        Field(
            description=(
                "By how many milliseconds its clock is ahead of this machine's; behind"
                " if negative."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    leases: Annotated[
        list[LeaseInfo],
        Field(description='Runs that somebody writes, or wrote until a minute ago.'),
    ]
    tables: Annotated[
        list[TableStats],
        Field(description='Bytes of each table with its indexes, largest first.'),
    ]


class SessionAnswer(Model):
    """
    The session to resume, or why there is none.
    """

    sessionId: Annotated[
        str | None, Field(description='The session; null if there is none to resume.')
    ]
    runId: Annotated[RunId | None, Field(description='The run that printed it.')]
    jobId: Annotated[JobId | None, Field(description="That run's job.")]
    runtime: Annotated[Runtime | None, Field(description="That run's runtime.")]
    cwd: Annotated[str | None, Field(description='The directory it worked in.')]
    status: Annotated[CheckpointStatus | None, Field(description='How it ended.')]
    outcome: Annotated[
        Outcome | None,
        Field(description='How it went; not there if there is no session to resume.'),
    ] = None
    startedAt: Annotated[Time | None, Field(description='When it began.')]
    reason: Annotated[
        str | None, Field(description='Why there is no session; null if there is one.')
    ]


class SessionInfo(Model):
    """
    What is known of a session of an agent CLI, made from its runs. Unknown is null.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    sessionId: Annotated[
        str, Field(description="The session's id, as the runtime gave it.")
    ]
    cwd: Annotated[
        str | None, Field(description='The directory its latest run worked in.')
    ]
    title: Annotated[str | None, Field(description='What the runtime calls it.')]
    prompt: Annotated[
        str | None, Field(description='The first words of what was asked for first.')
    ]
    model: Annotated[str | None, Field(description='The model of its latest run.')]
    runs: Annotated[int, Field(description='Root runs.', ge=0, le=18446744073709551615)]
    usage: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'What all its runs and their children used, each response counted once;'
                ' null if nothing is known.'
            )
        ),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None
    status: Annotated[
        CheckpointStatus,
        Field(description='How its latest run ended; `proceeding` while that is open.'),
    ]
    outcome: Annotated[
        Outcome | None, Field(description='How its latest run went.')
    ] = None
    error: Annotated[
        Failure | None,
        Field(description='Why its latest run failed; null if it did not.'),
    ]
    startedAt: Annotated[Time, Field(description='When its first run began.')]
    lastActiveAt: Annotated[
        Time,
        Field(
            description=(
                'When something happened in it last: a run or a step ended, or a run'
                ' began.'
            )
        ),
    ]
    latestRunId: Annotated[RunId, Field(description='Its latest root run.')]
    resume: Annotated[
        str | None,
        Field(
            description=(
                'The command that goes on with it, in its directory; null if there is'
                ' none.'
            )
        ),
    ]


class Span(Model):
    """
    A half-open range of bytes in one stream of the tape.
    """

    stream: Annotated[Stream, Field(description='Which stream.')]
    start: Annotated[
        int, Field(description='The first byte.', ge=0, le=18446744073709551615)
    ]
    end: Annotated[
        int,
        Field(
            description='The byte after the last one.', ge=0, le=18446744073709551615
        ),
    ]


class StartRecord(Model):
    """
    The work begins; the messages before this record are what the run was given: a query, or what was said in a run that this one continues.
    """

    type: Annotated[
        Literal['start'], Field(description='Tells that it is this: `start`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None


class StepInfo(Model):
    """
    What is known of a step, without its messages.
    """

    step: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpointId: Annotated[
        CheckpointId, Field(description='The checkpoint at its end.')
    ]
    seq: Annotated[
        int,
        Field(
            description='The record of that checkpoint.', ge=0, le=18446744073709551615
        ),
    ]
    status: Annotated[CheckpointStatus, Field(description='Where the run stood.')]
    startedAt: Annotated[Time, Field(description='When it began.')]
    finishedAt: Annotated[Time, Field(description='When it ended.')]
    messages: Annotated[
        int,
        Field(description='Messages of the run so far.', ge=0, le=18446744073709551615),
    ]
    toolCalls: Annotated[
        int, Field(description='Tools that were called.', ge=0, le=18446744073709551615)
    ]
    pendingToolCalls: Annotated[
        int, Field(description='Calls without a result.', ge=0, le=18446744073709551615)
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(description='What the step used; null if nothing is known.'),
    ]


class StoreStats(Model):
    """
    How much there is, and what it takes.
    """

    jobs: Annotated[int, Field(description='Jobs.', ge=0, le=18446744073709551615)]
    runs: Annotated[
        int,
        Field(description='Runs, children included.', ge=0, le=18446744073709551615),
    ]
    openRuns: Annotated[
        int,
        Field(
            description='Root runs that are not sealed.', ge=0, le=18446744073709551615
        ),
    ]
    records: Annotated[
        int, Field(description='Kept records.', ge=0, le=18446744073709551615)
    ]
    tapeBytes: Annotated[
        int,
        Field(
            description='Bytes of output on tapes, before compressing.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    recordBytes: Annotated[
        int,
        Field(
            description='Bytes of records, before compressing.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    databaseBytes: Annotated[
        int,
        Field(
            description='Bytes of the database, without its log.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    freeBytes: Annotated[
        int,
        Field(
            description=(
                'Bytes that deleted rows left unused; compacting gives them back.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    searchBytes: Annotated[
        int,
        Field(description='Bytes of the search index.', ge=0, le=18446744073709551615),
    ]
    tables: Annotated[
        list[TableStats],
        Field(description='Bytes of each table and index, largest first.'),
    ]


class StreamToolCall(Model):
    """
    The model called a tool, whose step goes on. Live only.
    """

    type: Annotated[
        Literal['streamToolCall'],
        Field(description='Tells that it is this: `streamToolCall`.'),
    ]
    inStep: Annotated[
        int, Field(description='The step.', ge=0, le=18446744073709551615)
    ]
    toolCallId: Annotated[ToolCallId, Field(description='Names the call.')]
    toolName: Annotated[ToolName, Field(description='The tool.')]
    args: Annotated[
        Any, Field(description='What it was given, as far as it is known, any JSON.')
    ]


class StreamToolCallEvent(Model):
    """
    The model called a tool, whose step goes on. Live only.
    """

    type: Annotated[
        Literal['streamToolCall'],
        Field(description='Tells that it is this: `streamToolCall`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    inStep: Annotated[
        int, Field(description='The step.', ge=0, le=18446744073709551615)
    ]
    toolCallId: Annotated[ToolCallId, Field(description='Names the call.')]
    toolName: Annotated[ToolName, Field(description='The tool.')]
    args: Annotated[
        Any, Field(description='What it was given, as far as it is known, any JSON.')
    ]


class StreamToolResult(Model):
    """
    A tool gave back its result, and the step goes on. Live only.
    """

    type: Annotated[
        Literal['streamToolResult'],
        Field(description='Tells that it is this: `streamToolResult`.'),
    ]
    inStep: Annotated[
        int, Field(description='The step.', ge=0, le=18446744073709551615)
    ]
    toolCallId: Annotated[ToolCallId, Field(description='The call that it answers.')]
    toolName: Annotated[ToolName, Field(description='The tool.')]
    isError: Annotated[
        bool | None,
        Field(
            description=(
                'Whether the call failed; absent where the runtime did not tell.'
            )
        ),
    ] = None


class StreamToolResultEvent(Model):
    """
    A tool gave back its result, and the step goes on. Live only.
    """

    type: Annotated[
        Literal['streamToolResult'],
        Field(description='Tells that it is this: `streamToolResult`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    inStep: Annotated[
        int, Field(description='The step.', ge=0, le=18446744073709551615)
    ]
    toolCallId: Annotated[ToolCallId, Field(description='The call that it answers.')]
    toolName: Annotated[ToolName, Field(description='The tool.')]
    isError: Annotated[
        bool | None,
        Field(
            description=(
                'Whether the call failed; absent where the runtime did not tell.'
            )
        ),
    ] = None


class SummaryRun(Model):
    """
    One run of the tree.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    parentToolCallId: Annotated[
        ToolCallId | None,
        Field(description='The call that started it; null for the main run.'),
    ]


SyncLine = TypeAliasType(
    "SyncLine",
    Annotated[
        SyncedSource | SyncSummary,
        Field(
            description=(
                'A line of what `sync` prints: one for each session that was read or'
                ' could not be, and a summary at the end.'
            ),
            discriminator='type',
            title='SyncLine',
        ),
    ],
)


class Task(Model):
    """
    A sub-agent or background task began, went on or ended.
    """

    type: Annotated[
        Literal['task'], Field(description='Tells that it is this: `task`.')
    ]
    taskId: Annotated[
        str | None, Field(description="Names the task, in the runtime's words.")
    ] = None
    toolCallId: Annotated[
        ToolCallId | None, Field(description='The call that started it.')
    ] = None
    status: Annotated[
        str,
        Field(
            description=(
                'How far it is: `started`, `progress`, `completed`, `failed` or other'
                ' words of the runtime.'
            )
        ),
    ]
    description: Annotated[
        str | None, Field(description='What it does, or what came of it.')
    ] = None


class TaskEvent(Model):
    """
    A sub-agent or background task began, went on or ended.
    """

    type: Annotated[
        Literal['task'], Field(description='Tells that it is this: `task`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    taskId: Annotated[
        str | None, Field(description="Names the task, in the runtime's words.")
    ] = None
    toolCallId: Annotated[
        ToolCallId | None, Field(description='The call that started it.')
    ] = None
    status: Annotated[
        str,
        Field(
            description=(
                'How far it is: `started`, `progress`, `completed`, `failed` or other'
                ' words of the runtime.'
            )
        ),
    ]
    description: Annotated[
        str | None, Field(description='What it does, or what came of it.')
    ] = None


class ToolCall(Model):
    """
    A request of the model to run a tool.
    """

    id: Annotated[ToolCallId, Field(description='Names the call.')]
    skillName: Annotated[
        ToolName,
        Field(
            description=(
                "The skill that offers the tool; for an agent CLI's own tools the"
                " runtime's name."
            )
        ),
    ]
    toolName: Annotated[ToolName, Field(description="The tool's name.")]
    args: Annotated[
        dict[Annotated[str, StringConstraints(min_length=1)], Any],
        Field(
            description=(
                "The tool's arguments by name. What is not such an object is wrapped"
                " under `input`."
            )
        ),
    ]


class ToolCallInfo(Model):
    """
    A call of a tool.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    step: Annotated[int, Field(description='The step.', ge=0, le=18446744073709551615)]
    seq: Annotated[
        int,
        Field(
            description=(
                'The record of the message that made the call; while its step goes on,'
                ' the number that it would have.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[Time, Field(description='When.')]
    tool: Annotated[str, Field(description="The tool's name.")]
    class_: Annotated[
        ToolClass | None,
        Field(
            alias='class',
            description=(
                'What the tool is for; absent for records from before classes were'
                ' known.'
            ),
        ),
    ] = None
    cwd: Annotated[
        str | None,
        Field(
            description='The directory the run worked in; absent where it is not known.'
        ),
    ] = None
    command: Annotated[
        str | None,
        Field(
            description=(
                'The shell command it ran; null for other tools, and where only a'
                ' summary was printed.'
            )
        ),
    ]
    path: Annotated[
        str | None,
        Field(description='The first file it read or wrote; null if it names none.'),
    ]
    paths: Annotated[
        list[str] | None,
        Field(
            description=(
                'All files that it read, wrote or looked through, each once and from'
                ' the root on, without `.` and `..`: so that a file has one path,'
                ' whichever way it was named. As the call named it where the directory'
                ' or the home directory is not known.'
            )
        ),
    ] = None
    url: Annotated[
        str | None, Field(description='The URL it fetched; null if it names none.')
    ]
    knownBy: Annotated[
        KnownBy | None,
        Field(
            description=(
                '`guess` where command, files and URL are taken by the names of the'
                ' arguments, since nobody knows the tool; absent otherwise.'
            )
        ),
    ] = None
    shell: Annotated[
        ShellEffects | None,
        Field(
            description=(
                'What the shell command does as far as its words tell; absent where'
                ' they tell nothing.'
            )
        ),
    ] = None
    isError: Annotated[
        bool | None,
        Field(
            description=(
                'Whether it failed; null if there is no result or it did not tell.'
            )
        ),
    ]
    durationMs: Annotated[
        int | None,
        Field(
            description='How long it took in milliseconds, where known.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    resultSeq: Annotated[
        int | None,
        Field(
            description='The record of the result; null if there is none.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    isRunning: Annotated[
        bool | None,
        Field(
            description=(
                'Whether it goes on: it was made in the step that its run is in, and'
                ' has no result yet.'
            )
        ),
    ] = None


class ToolCallPart(Model):
    """
    The model asks for a tool to be run.
    """

    type: Annotated[
        Literal['toolCallPart'],
        Field(description='Tells that it is this: `toolCallPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    toolCallId: Annotated[
        ToolCallId, Field(description='Names the call; the result carries the same id.')
    ]
    toolName: Annotated[ToolName, Field(description="The tool's name.")]
    args: Annotated[
        Any,
        Field(
            description=(
                "The tool's arguments as the runtime printed them; null when it printed"
                " none."
            )
        ),
    ]


ToolResultContent = TypeAliasType(
    "ToolResultContent",
    Annotated[
        TextPart | ImageInlinePart | FileInlinePart,
        Field(
            description="A piece of a tool's result.",
            discriminator='type',
            title='ToolResultContent',
        ),
    ],
)


class ToolResultPart(Model):
    """
    What a tool gave back.
    """

    type: Annotated[
        Literal['toolResultPart'],
        Field(description='Tells that it is this: `toolResultPart`.'),
    ]
    id: Annotated[PartId, Field(description='Names this part.')]
    toolCallId: Annotated[ToolCallId, Field(description='The call this answers.')]
    toolName: Annotated[ToolName, Field(description="The tool's name.")]
    contents: Annotated[
        list[ToolResultContent],
        Field(description='The result, empty if the runtime printed none.'),
    ]
    isError: Annotated[
        bool | None,
        Field(
            description='Whether the call failed; absent when the runtime did not tell.'
        ),
    ] = None


TranscriptEntry = TypeAliasType(
    "TranscriptEntry",
    Annotated[
        KnownTranscriptEntry | UnknownTranscriptEntry,
        Field(description='One entry of a transcript.', title='TranscriptEntry'),
    ],
)


class TreeRun(Model):
    """
    A root run of a job tree, its children included.
    """

    type: Annotated[Literal['run'], Field(description='Tells that it is this: `run`.')]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    outcome: Annotated[TreeOutcome, Field(description='What became of it.')]
    vintage: Annotated[
        TreeVintage,
        Field(
            description=(
                'Which version of Perstack wrote the job, as far as its files tell.'
            )
        ),
    ]
    children: Annotated[
        int,
        Field(
            description='How many runs it called, and they in turn.',
            ge=0,
            le=18446744073709551615,
        ),
    ]


class UnknownRecord(Model):
    """
    A type that this version does not know. Readers keep it as it is.
    """

    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    type: Annotated[
        str, Field(description='The type, which is none of the known ones.')
    ]


class UsageEntryRecord(Model):
    """
    Tokens that count, exactly once.
    """

    type: Annotated[
        Literal['usage'], Field(description='Tells that it is this: `usage`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    key: Annotated[
        str,
        Field(
            description='Names what was counted: the same key is never counted again.'
        ),
    ]
    source: Annotated[UsageSource, Field(description='Where the numbers come from.')]
    step: Annotated[
        int | None,
        Field(
            description=(
                'The step that used them; absent for what belongs to no single step.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    model: Annotated[str | None, Field(description='The model.')] = None
    ofSession: Annotated[
        bool | None,
        Field(
            description=(
                'The numbers are the total of the whole session so far: what earlier'
                ' runs of it used is in them again.'
            )
        ),
    ] = None
    inputTokens: Annotated[
        int | None,
        Field(
            description=(
                'Prompt tokens that were not read from a cache; cache writes are'
                ' included.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    outputTokens: Annotated[
        int | None,
        Field(
            description='All generated tokens, reasoning included.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    reasoningTokens: Annotated[
        int | None,
        Field(
            description='The part of the generated tokens that was reasoning.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cachedInputTokens: Annotated[
        int | None,
        Field(
            description='Prompt tokens that were read from a cache.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of the input tokens that was written to a cache, where that'
                ' is known and not nothing: its price is another.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    cacheWrite1hTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of those that was written for an hour instead of some'
                ' minutes.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


class UsageGroup(Model):
    """
    What a day, runtime, model, job, session, directory or label used; or two of them together.

    The sums of all groups are the same, whatever they are grouped by.
    """

    name: Annotated[
        str | None,
        Field(
            description=(
                'The day, runtime, model or whatever else comes first; null where it is'
                ' not known.'
            )
        ),
    ]
    keys: Annotated[
        list[UsageKey] | None,
        Field(description='What is grouped by, and the name of each.'),
    ] = None
    runs: Annotated[
        int,
        Field(
            description=(
                'Root runs that reported tokens or a cost: each counts once, when it'
                ' began and with its own model. In a period, those that used something'
                ' in it: one that began before counts when the period begins.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    usage: Annotated[
        SummaryUsage | None, Field(description='The numbers; null if none are known.')
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None


UserPart = TypeAliasType(
    "UserPart",
    Annotated[
        TextPart
        | ImageUrlPart
        | ImageInlinePart
        | ImageBinaryPart
        | FileUrlPart
        | FileInlinePart
        | FileBinaryPart,
        Field(
            description='A part of what a user said.',
            discriminator='type',
            title='UserPart',
        ),
    ],
)


ValidationLine = TypeAliasType(
    "ValidationLine",
    Annotated[
        ValidationFault | ValidationUnknown | ValidationCounts,
        Field(
            description=(
                'A line of what `validate` prints: what is wrong or unknown, and how'
                ' many lines there were.'
            ),
            discriminator='type',
            title='ValidationLine',
        ),
    ],
)


class CheckpointHeadRecord(Model):
    """
    The state at the end of a step, without what other records hold.
    """

    type: Annotated[
        Literal['checkpoint'], Field(description='Tells that it is this: `checkpoint`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    step: Annotated[
        int, Field(description='The step that ended.', ge=0, le=18446744073709551615)
    ]
    status: Annotated[
        CheckpointStatus,
        Field(description='Where the run stands; a terminal status ends it.'),
    ]
    messages: Annotated[
        int,
        Field(
            description='How many messages the run has so far.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    usage: Annotated[TokenCounts, Field(description='What the run used so far.')]
    stepUsage: Annotated[TokenCounts, Field(description='What the step used.')]
    startedAt: Annotated[
        int,
        Field(
            description='When the step began, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    pending: Annotated[
        list[ToolCallId] | None,
        Field(description='Calls without a result, of this step or an earlier one.'),
    ] = None
    text: Annotated[
        str | None,
        Field(description='The answer, where it is not the text of the last message.'),
    ] = None
    error: Annotated[RunError | None, Field(description='Why the run failed.')] = None


class DatabaseStatus(Model):
    """
    What `db status` tells of a database.
    """

    database: Annotated[
        str,
        Field(
            description='Its path, or the address of its server without the password.'
        ),
    ]
    directory: Annotated[
        str | None,
        Field(
            description=(
                'The directory on this machine of what lies beside a database file'
                ' otherwise: the redaction key, spool files; null for a file.'
            )
        ),
    ]
    schema_: Annotated[
        int | None,
        Field(
            alias='schema',
            description='The number of its schema; null if it has none yet.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    fault: Annotated[
        str | None,
        Field(
            description=(
                'Why it cannot be used as it is, and what to do; null if it can.'
            )
        ),
    ]
    bytes: Annotated[
        int | None,
        Field(
            description='Bytes that it takes; null if it cannot be asked.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    server: Annotated[
        ServerStatus | None,
        Field(description='The server; null for a file, and if it cannot be asked.'),
    ]


class DoctorReport(Model):
    """
    What `doctor` found, in the shape of Paperclip's environment test.
    """

    adapterType: Annotated[
        str,
        Field(
            description=(
                "The type of the adapter that was looked at: Paperclip's name for the"
                " runtime, `runtape` for all of them together."
            )
        ),
    ]
    status: Annotated[
        DoctorStatus, Field(description='What all checks together come to.')
    ]
    checks: Annotated[
        list[DoctorCheck], Field(description='The checks, in the order they were made.')
    ]
    testedAt: Annotated[Time, Field(description='When.')]
    history: Annotated[
        list[HistoryPlace] | None,
        Field(
            description=(
                'The directories in which agent CLIs keep sessions, of those that are'
                ' there.'
            )
        ),
    ] = None


ExpertPart = TypeAliasType(
    "ExpertPart",
    Annotated[
        TextPart | ToolCallPart | ThinkingPart,
        Field(
            description=(
                'A part of what the model said, in the order the runtime gave it.'
            ),
            discriminator='type',
            title='ExpertPart',
        ),
    ],
)


class ExportedFile(Model):
    """
    A file that `export` wrote.
    """

    file: Annotated[str, Field(description='The file.')]
    bytes: Annotated[
        int, Field(description='Its bytes.', ge=0, le=18446744073709551615)
    ]
    runs: Annotated[list[RunId], Field(description='The root runs in it.')]
    digest: Annotated[
        str | None,
        Field(
            description=(
                'The BLAKE3 digest of its bytes, in hexadecimal digits: what `b3sum`'
                ' prints, and what `verify --bundle FILE --digest` and `import'
                ' --digest` compare.'
            )
        ),
    ] = None
    seals: Annotated[
        list[RunSeal] | None,
        Field(
            description=(
                'For a bundle, the seals that cover its runs: kept elsewhere, they'
                ' prove it. Else empty.'
            )
        ),
    ] = None
    redaction: Annotated[
        list[AppliedRules] | None,
        Field(
            description=(
                'By which rules secrets were taken out of its runs, each set once.'
                ' Empty if all of them are from before that was done.'
            )
        ),
    ] = None


FaultPlace = TypeAliasType(
    "FaultPlace",
    Annotated[
        FaultPlaceFile
        | FaultPlaceRun
        | FaultPlaceRecord
        | FaultPlaceTape
        | FaultPlaceRow
        | FaultPlaceSeal,
        Field(
            description='A place in the database.',
            discriminator='type',
            title='FaultPlace',
        ),
    ],
)


class FileCall(Model):
    """
    A call of a tool that touched a file.
    """

    path: Annotated[
        str,
        Field(
            description=(
                'The file: a relative path of the call is taken from the directory that'
                ' its run worked in. As the call named it where that directory is not'
                ' known.'
            )
        ),
    ]
    access: Annotated[
        FileAccess | None,
        Field(
            description=(
                'What the tool did with it; absent where its class does not tell.'
            )
        ),
    ] = None
    knownBy: Annotated[
        KnownBy | None,
        Field(description='How that is known, where the call does not say it itself.'),
    ] = None
    call: Annotated[ToolCallInfo, Field(description='The call.')]


class IngestedFile(Model):
    """
    What became of one file.
    """

    type: Annotated[
        Literal['file'], Field(description='Tells that it is this: `file`.')
    ]
    path: Annotated[str, Field(description='The file; `-` for standard input.')]
    outcome: Annotated[IngestOutcome, Field(description='What became of it.')]
    runId: Annotated[
        RunId | None, Field(description='The run that it is; null if it is unusable.')
    ]
    run: Annotated[
        RunInfo | None,
        Field(
            description='What is known of the run; null unless it was stored just now.'
        ),
    ]
    reason: Annotated[
        str | None, Field(description='Why it is unusable; null if it is not.')
    ]


class InitializeRecord(Model):
    """
    The runtime is ready.
    """

    type: Annotated[
        Literal['initialize'], Field(description='Tells that it is this: `initialize`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    expert: Annotated[
        Expert, Field(description='The expert that the run was given to.')
    ]
    model: Annotated[
        str | None, Field(description='The model, where the runtime named it.')
    ] = None
    query: Annotated[str | None, Field(description='What was asked for.')] = None


class InstructionMessage(Model):
    """
    What the expert is told to be.
    """

    type: Annotated[
        Literal['instructionMessage'],
        Field(description='Tells that it is this: `instructionMessage`.'),
    ]
    id: Annotated[MessageId, Field(description='Names this message.')]
    contents: Annotated[list[InstructionPart], Field(description='What it is made of.')]
    cache: Annotated[
        bool | None,
        Field(description='Whether a provider may cache the prompt up to here.'),
    ] = None
    timestamp: Annotated[
        int | None,
        Field(
            description='When it was said, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


class JobDetail(Model):
    """
    A job with its root runs, and the session to go on with.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    status: Annotated[
        JobStatus,
        Field(
            description=(
                'Where it stands: running while any run is open, else as its latest'
                ' root run ended.'
            )
        ),
    ]
    outcome: Annotated[
        Outcome | None,
        Field(
            description=(
                'How it went: `running` while any run is open, else as its latest root'
                ' run.'
            )
        ),
    ] = None
    expertKey: Annotated[
        str, Field(description='The expert that the first root run was given to.')
    ]
    runs: Annotated[int, Field(description='Root runs.', ge=0, le=18446744073709551615)]
    steps: Annotated[
        int, Field(description='Steps of all its runs.', ge=0, le=18446744073709551615)
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(description='What all its runs used; null if nothing is known.'),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None
    startedAt: Annotated[Time, Field(description='When its first run began.')]
    finishedAt: Annotated[
        Time | None,
        Field(description='When its last run ended; null while one is open.'),
    ]
    rootRuns: Annotated[
        list[RunInfo], Field(description='Its root runs, the latest first.')
    ]
    sessionId: Annotated[
        str | None, Field(description='The session to resume; null if there is none.')
    ]
    sessionRunId: Annotated[RunId | None, Field(description='The run that printed it.')]


KnownRuntimeEvent = TypeAliasType(
    "KnownRuntimeEvent",
    Annotated[
        InitializeRuntimeEvent
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
        | StreamToolResultEvent,
        Field(
            description=(
                "One event around a run, in Perstack's shape. Of a type that this"
                " version of the schema knows."
            ),
            discriminator='type',
            title='KnownRuntimeEvent',
        ),
    ],
)


KnownRuntimeEventKind = TypeAliasType(
    "KnownRuntimeEventKind",
    Annotated[
        InitializeRuntime
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
        | StreamToolResult,
        Field(
            description=(
                'What happened around a run. Of a type that this version of the schema'
                ' knows.'
            ),
            discriminator='type',
            title='KnownRuntimeEventKind',
        ),
    ],
)


MessagePart = TypeAliasType(
    "MessagePart",
    Annotated[
        TextPart
        | ImageUrlPart
        | ImageInlinePart
        | ImageBinaryPart
        | FileUrlPart
        | FileInlinePart
        | FileBinaryPart
        | ToolCallPart
        | ToolResultPart
        | ThinkingPart,
        Field(
            description='Any part of a message.',
            discriminator='type',
            title='MessagePart',
        ),
    ],
)


class MetadataPatchRecord(Model):
    """
    More became known about the run.
    """

    type: Annotated[
        Literal['metadata'], Field(description='Tells that it is this: `metadata`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    set: Annotated[
        MetadataPatchRecordSet,
        Field(description='Keys to set; a null removes its key.'),
    ]


class NetworkCall(Model):
    """
    A use of the network by a call of a tool.
    """

    host: Annotated[
        str | None,
        Field(
            description='The host; null where the call names none, such as a search.'
        ),
    ]
    isGuessed: Annotated[
        bool,
        Field(
            description=(
                'Whether the call does not say itself that it reached the host: whether'
                ' it did, nobody knows.'
            )
        ),
    ]
    knownBy: Annotated[
        KnownBy | None,
        Field(
            description='How the host is known, where the call does not say it itself.'
        ),
    ] = None
    call: Annotated[ToolCallInfo, Field(description='The call.')]


class OpenStep(Model):
    """
    The step that a run is in, as far as it was printed. It is no part of the record before it is over.
    """

    step: Annotated[int, Field(description='The step.', ge=0, le=18446744073709551615)]
    startedAt: Annotated[Time, Field(description='When the first of it was printed.')]
    text: Annotated[
        str | None,
        Field(description='What the model said in it so far; null if nothing.'),
    ]
    calls: Annotated[
        list[ToolCallInfo], Field(description='The calls that it made so far.')
    ]


class RunDetail(Model):
    """
    A run with its steps, children and answer.
    """

    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    rootRunId: Annotated[
        RunId | None,
        Field(description='The run on whose tape it is; null for a root run.'),
    ]
    parentRunId: Annotated[
        RunId | None,
        Field(description='The run whose call started it; null for a root run.'),
    ]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    status: Annotated[
        CheckpointStatus,
        Field(description='How it ended; `proceeding` while it is open.'),
    ]
    outcome: Annotated[
        Outcome | None,
        Field(
            description=(
                'How it went: `running` while it is open, `completed`, `failed`,'
                ' `limit`, `interrupted` or `unfinished`.'
            )
        ),
    ] = None
    expertKey: Annotated[
        str | None, Field(description='The expert that it was given to.')
    ]
    model: Annotated[
        str | None, Field(description="The model's name as the runtime gave it.")
    ]
    sessionId: Annotated[str | None, Field(description='The session to resume.')]
    cwd: Annotated[str | None, Field(description='The directory it worked in.')]
    cliVersion: Annotated[str | None, Field(description="The agent CLI's version.")]
    startedAt: Annotated[
        Time,
        Field(
            description=(
                "When it began: by the recorder's clock where it ran the process, else"
                " as its first record says."
            )
        ),
    ]
    finishedAt: Annotated[
        Time | None,
        Field(description='When it ended, by the same clock; null while it is open.'),
    ]
    durationMs: Annotated[
        int | None,
        Field(
            description=(
                "How long it took in milliseconds: by the recorder's clock where it ran"
                " the process, else as the runtime reported it."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    reportedDurationMs: Annotated[
        int | None,
        Field(
            description='How long it took in milliseconds, as the runtime reported it.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    title: Annotated[
        str | None,
        Field(
            description=(
                'What to call it: what was asked, else what the runtime calls the'
                ' session, else the command line.'
            )
        ),
    ] = None
    prompt: Annotated[
        str | None, Field(description='What was asked, its first 200 characters.')
    ] = None
    argv: Annotated[list[str] | None, Field(description='The command line.')] = None
    permissionMode: Annotated[
        str | None,
        Field(
            description=(
                "What the agent may do without asking, by the runtime's own word"
                " for it."
            )
        ),
    ] = None
    host: Annotated[str | None, Field(description='The machine it ran on.')] = None
    user: Annotated[str | None, Field(description='The user it ran as.')] = None
    exitCode: Annotated[
        int | None,
        Field(
            description='The exit code of its process.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    signal: Annotated[
        str | None, Field(description='The signal that ended its process.')
    ] = None
    gitCommit: Annotated[
        str | None,
        Field(description='The commit that the directory was at when it began.'),
    ] = None
    gitBranch: Annotated[
        str | None,
        Field(description='The branch that the directory was on when it began.'),
    ] = None
    labels: Annotated[
        dict[str, Any] | None,
        Field(description='Labels that whoever started it gave it.'),
    ] = None
    steps: Annotated[
        int, Field(description='Steps that ended.', ge=0, le=18446744073709551615)
    ]
    messages: Annotated[
        int, Field(description='Messages.', ge=0, le=18446744073709551615)
    ]
    records: Annotated[
        int, Field(description='Kept records.', ge=0, le=18446744073709551615)
    ]
    unparsed: Annotated[
        int,
        Field(
            description='Lines that no parser understood.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'What it used by itself, without its children; null if nothing is'
                ' known.'
            )
        ),
    ]
    costUsd: Annotated[
        float | None,
        Field(description='US dollars, as runtimes reported it; null where none did.'),
    ]
    costTotalUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars, `costUsd` and `estimatedCostUsd` together; not there where'
                ' neither is known.'
            )
        ),
    ] = None
    costIsEstimated: Annotated[
        bool | None, Field(description='Some of `costTotalUsd` is estimated.')
    ] = None
    estimatedCostUsd: Annotated[
        float | None,
        Field(
            description=(
                'US dollars for the tokens of runs that reported no cost, estimated'
                ' with a price table; not there where there are none, or no price is'
                ' known. It is not part of `costUsd`.'
            )
        ),
    ] = None
    unpricedModels: Annotated[
        list[str] | None,
        Field(
            description=(
                'Models whose tokens are not in the estimate, because the price table'
                ' does not know them.'
            )
        ),
    ] = None
    hasUnnamedModel: Annotated[
        bool | None,
        Field(
            description=(
                'Tokens that are not in the estimate, because no model is named for'
                ' them.'
            )
        ),
    ] = None
    priceTable: Annotated[
        str | None,
        Field(
            description=(
                'A hash of the price table that estimates were made with; not there if'
                ' there was nothing to estimate.'
            )
        ),
    ] = None
    cacheWriteTokens: Annotated[
        int | None,
        Field(
            description=(
                'The part of `usage.inputTokens` that was written to a cache, at a'
                ' price of its own; not there where there is none, or nobody said.'
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None
    countedBefore: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of responses that an earlier run of the same session counted.'
                ' They are in neither `usage` nor the cost.'
            )
        ),
    ] = None
    error: Annotated[
        Failure | None, Field(description='Why it failed; null if it did not.')
    ]
    seal: Annotated[
        int | None,
        Field(
            description=(
                'The number of the seal that covers it, in its chain; null while it is'
                ' open.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    sealChain: Annotated[
        int | None,
        Field(
            description=(
                'The chain of that seal; not there for the first one, which is 0.'
            ),
            ge=0,
            le=4294967295,
        ),
    ] = None
    children: Annotated[list[RunInfo], Field(description='The runs that it started.')]
    stepsEnded: Annotated[list[StepInfo], Field(description='The steps that ended.')]
    query: Annotated[
        str | None,
        Field(description='What was asked, all of it; not there if it is not known.'),
    ] = None
    finalText: Annotated[
        str | None,
        Field(description='The text of the last model message; null if there is none.'),
    ]
    exit: Annotated[
        ExitInfo | None,
        Field(
            description=(
                'How the process ended; null while the run is open, and for a child.'
            )
        ),
    ]
    stdinBytes: Annotated[
        int | None,
        Field(
            description=(
                'Bytes of standard input on the tape; not there if there are none.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    stdoutBytes: Annotated[
        int,
        Field(
            description='Bytes of standard output on the tape.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    stderrBytes: Annotated[
        int,
        Field(
            description='Bytes of standard error on the tape.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    origin: Annotated[
        RunOrigin | None,
        Field(
            description=(
                'Where it was before it was imported; not there for a run that was'
                ' recorded here.'
            )
        ),
    ] = None
    redaction: Annotated[
        RunRedaction | None,
        Field(
            description=(
                'By which rules secrets were taken out of it before it was kept, and'
                ' how many; not there for a child, and for a run from before that was'
                ' done.'
            )
        ),
    ] = None
    openStep: Annotated[
        OpenStep | None,
        Field(
            description=(
                'The step that it is in; not there for a run that has ended, and before'
                ' anything of a step was printed.'
            )
        ),
    ] = None


class RunOpenedRecord(Model):
    """
    The run was opened.
    """

    type: Annotated[Literal['run'], Field(description='Tells that it is this: `run`.')]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    jobId: Annotated[JobId, Field(description='The job.')]
    runtime: Annotated[Runtime, Field(description='The runtime.')]
    delegatedBy: Annotated[
        DelegatedBy | None, Field(description='Where a child run came from.')
    ] = None


class RunSummary(Model):
    """
    A run, with all its children, in one object. Unknown is null, never absent.
    """

    runtime: Annotated[Runtime, Field(description='The runtime.')]
    outputFormat: Annotated[
        str | None, Field(description='The output format that was read.')
    ]
    sessionId: Annotated[str | None, Field(description='The session to resume.')]
    model: Annotated[
        str | None, Field(description="The model's name as the runtime gave it.")
    ]
    cliVersion: Annotated[str | None, Field(description="The agent CLI's version.")]
    cwd: Annotated[str | None, Field(description='The directory it worked in.')]
    status: Annotated[CheckpointStatus, Field(description='How the run ended.')]
    steps: Annotated[
        int,
        Field(
            description='How many messages of the model the main run has.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    durationMs: Annotated[
        int | None,
        Field(
            description=(
                "How long the run took in milliseconds: by the recorder's clock where"
                " it ran the process, else as the runtime reported it."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    usage: Annotated[
        SummaryUsage | None,
        Field(
            description=(
                'Tokens of the main run and its children together; null if none are'
                ' known.'
            )
        ),
    ]
    costUsd: Annotated[
        float | None,
        Field(
            description='What the run cost in US dollars, as the runtime reported it.'
        ),
    ]
    finalText: Annotated[
        str | None,
        Field(
            description=(
                "The text of the main run's last model message; null if it was cut off"
                " or there was none."
            )
        ),
    ]
    texts: Annotated[
        list[str],
        Field(
            description=(
                'Everything the model said, child runs included, in the order it was'
                ' printed.'
            )
        ),
    ]
    thinking: Annotated[
        list[str],
        Field(
            description=(
                'Everything the model thought, child runs included, in the order it was'
                ' printed.'
            )
        ),
    ]
    toolCalls: Annotated[
        list[SummaryToolCall],
        Field(
            description=(
                'Every tool call, child runs included, in the order it was printed.'
            )
        ),
    ]
    error: Annotated[SummaryError | None, Field(description='Why the run failed.')]
    runs: Annotated[
        list[SummaryRun], Field(description='The main run and its children.')
    ]
    notices: Annotated[
        list[SummaryNotice], Field(description='What the runtime reported besides.')
    ]
    unparsed: Annotated[
        list[SummaryUnparsed], Field(description='Output that no parser understood.')
    ]


RuntimeEvent = TypeAliasType(
    "RuntimeEvent",
    Annotated[
        KnownRuntimeEvent | UnknownRuntimeEvent,
        Field(
            description="One event around a run, in Perstack's shape.",
            title='RuntimeEvent',
        ),
    ],
)


RuntimeEventKind = TypeAliasType(
    "RuntimeEventKind",
    Annotated[
        KnownRuntimeEventKind | UnknownRuntimeEventKind,
        Field(description='What happened around a run.', title='RuntimeEventKind'),
    ],
)


SecretPlace = TypeAliasType(
    "SecretPlace",
    Annotated[
        SecretPlaceContext | SecretPlaceRecord | SecretPlaceTape,
        Field(
            description='Where in a run something was found.',
            discriminator='type',
            title='SecretPlace',
        ),
    ],
)


ToolMessagePart = TypeAliasType(
    "ToolMessagePart",
    Annotated[
        ToolResultPart,
        Field(
            description='A part of a tool message: one result.', title='ToolMessagePart'
        ),
    ],
)


class ToolResult(Model):
    """
    What a tool gave back.
    """

    id: Annotated[ToolCallId, Field(description='The call this answers.')]
    skillName: Annotated[ToolName, Field(description='The skill that offers the tool.')]
    toolName: Annotated[ToolName, Field(description="The tool's name.")]
    result: Annotated[list[MessagePart], Field(description="The result's parts.")]


TreeLine = TypeAliasType(
    "TreeLine",
    Annotated[
        TreeRun | TreeFault,
        Field(
            description='A line of what `import` prints of job trees.',
            discriminator='type',
            title='TreeLine',
        ),
    ],
)


class UserMessage(Model):
    """
    What a user said.
    """

    type: Annotated[
        Literal['userMessage'],
        Field(description='Tells that it is this: `userMessage`.'),
    ]
    id: Annotated[MessageId, Field(description='Names this message.')]
    contents: Annotated[list[UserPart], Field(description='What it is made of.')]
    cache: Annotated[
        bool | None,
        Field(description='Whether a provider may cache the prompt up to here.'),
    ] = None
    timestamp: Annotated[
        int | None,
        Field(
            description='When it was said, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


class VerifyFault(Model):
    """
    Something that is not as it was written.
    """

    place: Annotated[FaultPlace, Field(description='Where.')]
    fault: Annotated[str, Field(description='What is wrong there.')]


class VerifyReport(Model):
    """
    What `verify` found.
    """

    runs: Annotated[
        int,
        Field(
            description='Runs that were read, children included.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    openRuns: Annotated[
        int,
        Field(
            description=(
                'Root runs among them that are open: their records are proved, but no'
                ' seal covers them yet.'
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    records: Annotated[
        int, Field(description='Records that were read.', ge=0, le=18446744073709551615)
    ]
    tapeBytes: Annotated[
        int,
        Field(
            description='Bytes of output that were read.', ge=0, le=18446744073709551615
        ),
    ]
    head: Annotated[
        SealHead | None,
        Field(
            description=(
                'The end of the chain of seals; null while nothing was sealed. Kept'
                ' elsewhere, it proves later that nothing before it in its chain'
                ' changed.'
            )
        ),
    ]
    removals: Annotated[list[Removal], Field(description='What was removed, and when.')]
    faults: Annotated[
        list[VerifyFault],
        Field(
            description=(
                'What is wrong, the first fault of each chain; empty if all is as it'
                ' was written.'
            )
        ),
    ]
    bundle: Annotated[
        list[RunSeal] | None,
        Field(
            description=(
                'The seals that cover the runs of a bundle, to be compared with what is'
                ' kept elsewhere; not there for a whole database.'
            )
        ),
    ] = None
    unseen: Annotated[
        list[Unseen] | None,
        Field(
            description=(
                'What could not be seen: in a chain without a head that was kept'
                ' elsewhere, that the last entries were cut off together with their'
                ' runs, or that all hashes were computed anew.'
            )
        ),
    ] = None


class AttemptCompletionEvent(Model):
    """
    The model said that it is done.
    """

    type: Annotated[
        Literal['attemptCompletion'],
        Field(description='Tells that it is this: `attemptCompletion`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    toolResult: Annotated[
        ToolResult, Field(description='The result of the call by which it said so.')
    ]


class EventRecord(Model):
    """
    An event around the run.
    """

    type: Annotated[
        Literal['event'], Field(description='Tells that it is this: `event`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    step: Annotated[
        int,
        Field(
            description='The step during which it happened, 0 before the first.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    event: Annotated[RuntimeEventKind, Field(description='What happened.')]


class ExpertMessage(Model):
    """
    What the model said: thinking, text and tool calls.
    """

    type: Annotated[
        Literal['expertMessage'],
        Field(description='Tells that it is this: `expertMessage`.'),
    ]
    id: Annotated[MessageId, Field(description='Names this message.')]
    contents: Annotated[list[ExpertPart], Field(description='What it is made of.')]
    cache: Annotated[
        bool | None,
        Field(description='Whether a provider may cache the prompt up to here.'),
    ] = None
    timestamp: Annotated[
        int | None,
        Field(
            description='When it was said, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


class FoundMarker(Model):
    """
    A place that has the marker of a secret.
    """

    type: Annotated[
        Literal['marker'], Field(description='Tells that it is this: `marker`.')
    ]
    runId: Annotated[
        RunId, Field(description='The run: the root, or the child whose record it is.')
    ]
    place: Annotated[SecretPlace, Field(description='Where.')]
    marker: Annotated[str, Field(description='The whole marker.')]


class FoundSecret(Model):
    """
    Something in a stored run that looks like a secret.
    """

    type: Annotated[
        Literal['found'], Field(description='Tells that it is this: `found`.')
    ]
    runId: Annotated[
        RunId, Field(description='The run: the root, or the child whose record it is.')
    ]
    place: Annotated[SecretPlace, Field(description='Where.')]
    rule: Annotated[str, Field(description='The rule that found it.')]
    masked: Annotated[
        str, Field(description='The secret without most of its characters.')
    ]


IngestLine = TypeAliasType(
    "IngestLine",
    Annotated[
        IngestedFile | IngestSummary,
        Field(
            description=(
                'A line of what `ingest` prints: one for each file, and a summary at'
                ' the end.'
            ),
            discriminator='type',
            title='IngestLine',
        ),
    ],
)


RedactLine = TypeAliasType(
    "RedactLine",
    Annotated[
        RedactedRun | FoundMarker | RedactSummary,
        Field(
            description='A line of what `redact` prints.',
            discriminator='type',
            title='RedactLine',
        ),
    ],
)


class ResolveToolResultsEvent(Model):
    """
    The tools gave back their results.
    """

    type: Annotated[
        Literal['resolveToolResults'],
        Field(description='Tells that it is this: `resolveToolResults`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    toolResults: Annotated[list[ToolResult], Field(description='The results.')]


class ResumeToolCallsEvent(Model):
    """
    Calls that were pending go on.
    """

    type: Annotated[
        Literal['resumeToolCalls'],
        Field(description='Tells that it is this: `resumeToolCalls`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    pendingToolCalls: Annotated[list[ToolCall], Field(description='The calls.')]
    partialToolResults: Annotated[
        list[ToolResult], Field(description='Results that were there already.')
    ]


ScanLine = TypeAliasType(
    "ScanLine",
    Annotated[
        FoundSecret | ScanSummary,
        Field(
            description='A line of what `scan` prints.',
            discriminator='type',
            title='ScanLine',
        ),
    ],
)


SpokenMessage = TypeAliasType(
    "SpokenMessage",
    Annotated[
        ExpertMessage,
        Field(
            description='A message of the model, where no other can stand.',
            title='SpokenMessage',
        ),
    ],
)


class ToolMessage(Model):
    """
    What the tools gave back.
    """

    type: Annotated[
        Literal['toolMessage'],
        Field(description='Tells that it is this: `toolMessage`.'),
    ]
    id: Annotated[MessageId, Field(description='Names this message.')]
    contents: Annotated[list[ToolMessagePart], Field(description='What it is made of.')]
    cache: Annotated[
        bool | None,
        Field(description='Whether a provider may cache the prompt up to here.'),
    ] = None
    timestamp: Annotated[
        int | None,
        Field(
            description='When it was said, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


AnswerMessage = TypeAliasType(
    "AnswerMessage",
    Annotated[
        UserMessage | ToolMessage,
        Field(
            description="A message that answers the model's calls.",
            discriminator='type',
            title='AnswerMessage',
        ),
    ],
)


class CallDelegateEvent(Model):
    """
    The model handed work to other experts.
    """

    type: Annotated[
        Literal['callDelegate'],
        Field(description='Tells that it is this: `callDelegate`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    newMessage: Annotated[
        SpokenMessage, Field(description='What the model said, calls included.')
    ]
    toolCalls: Annotated[list[ToolCall], Field(description='The calls.')]
    usage: Annotated[Usage, Field(description='What this turn of the model used.')]


class CallInteractiveToolEvent(Model):
    """
    The model called a tool that a person has to answer.
    """

    type: Annotated[
        Literal['callInteractiveTool'],
        Field(description='Tells that it is this: `callInteractiveTool`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    newMessage: Annotated[
        SpokenMessage, Field(description='What the model said, the call included.')
    ]
    toolCall: Annotated[ToolCall, Field(description='The call.')]
    usage: Annotated[Usage, Field(description='What this turn of the model used.')]


class CallToolsEvent(Model):
    """
    The model called tools, all calls of one turn together.
    """

    type: Annotated[
        Literal['callTools'], Field(description='Tells that it is this: `callTools`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    newMessage: Annotated[
        SpokenMessage, Field(description='What the model said, calls included.')
    ]
    toolCalls: Annotated[list[ToolCall], Field(description='The calls.')]
    usage: Annotated[Usage, Field(description='What this turn of the model used.')]


class FinishAllToolCallsEvent(Model):
    """
    All pending calls have their results.
    """

    type: Annotated[
        Literal['finishAllToolCalls'],
        Field(description='Tells that it is this: `finishAllToolCalls`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    newMessages: Annotated[
        list[AnswerMessage],
        Field(description='The user or tool messages that hold them.'),
    ]


class FinishToolCallEvent(Model):
    """
    The results were put into a message.
    """

    type: Annotated[
        Literal['finishToolCall'],
        Field(description='Tells that it is this: `finishToolCall`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    newMessages: Annotated[
        list[AnswerMessage],
        Field(description='The user or tool messages that hold them.'),
    ]


InputMessage = TypeAliasType(
    "InputMessage",
    Annotated[
        InstructionMessage | UserMessage | ToolMessage,
        Field(
            description='A message that a run or step begins with.',
            discriminator='type',
            title='InputMessage',
        ),
    ],
)


Message = TypeAliasType(
    "Message",
    Annotated[
        InstructionMessage | UserMessage | ExpertMessage | ToolMessage,
        Field(
            description='One message of a conversation.',
            discriminator='type',
            title='Message',
        ),
    ],
)


class MessageRecord(Model):
    """
    A message, and what the runtime said about it that has no place inside.
    """

    type: Annotated[
        Literal['message'], Field(description='Tells that it is this: `message`.')
    ]
    runId: Annotated[RunId, Field(description='The run.')]
    seq: Annotated[
        int,
        Field(
            description=(
                "The record's place in its run, counted from 0 without gaps. Order is"
                " this, never a time."
            ),
            ge=0,
            le=18446744073709551615,
        ),
    ]
    at: Annotated[
        int,
        Field(
            description=(
                "When it happened, in milliseconds since 1970: the runtime's own time"
                " where it gave one, else when the output was received."
            ),
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    span: Annotated[
        Span | None,
        Field(
            description=(
                "The raw output it was made from; absent for what came from the"
                " process's exit."
            )
        ),
    ] = None
    step: Annotated[
        int,
        Field(
            description='The step it belongs to, counted from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    message: Annotated[Message, Field(description='The message.')]
    offsets: Annotated[
        list[Offset] | None,
        Field(
            description=(
                "Where in the raw output each part begins, in bytes, in the order of"
                " the message's contents."
            )
        ),
    ] = None
    calls: Annotated[
        list[CallNote] | None,
        Field(description='What is known of tool calls beyond their arguments.'),
    ] = None
    results: Annotated[
        list[ResultNote] | None,
        Field(description='What is known of tool results beyond their contents.'),
    ] = None
    continued: Annotated[
        bool | None,
        Field(
            description=(
                'The message goes on where the one before broke off because it grew too'
                ' long.'
            )
        ),
    ] = None
    cut: Annotated[
        bool | None,
        Field(
            description=(
                'The message was cut off: by a kill, an error, or the end of the'
                ' output.'
            )
        ),
    ] = None


RetryMessage = TypeAliasType(
    "RetryMessage",
    Annotated[
        UserMessage | ExpertMessage | ToolMessage,
        Field(
            description='A message that a retry adds.',
            discriminator='type',
            title='RetryMessage',
        ),
    ],
)


class StartGenerationEvent(Model):
    """
    The model was asked.
    """

    type: Annotated[
        Literal['startGeneration'],
        Field(description='Tells that it is this: `startGeneration`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    messages: Annotated[list[Message], Field(description='What it was asked with.')]


class Step(Model):
    """
    One turn of the model: what it said, the calls it made, what they gave back.
    """

    stepNumber: Annotated[
        int,
        Field(
            description='Counts the steps of a run from 1.',
            ge=0,
            le=18446744073709551615,
        ),
    ]
    inputMessages: Annotated[
        list[InputMessage] | None,
        Field(
            description='What the step began with: instruction, user or tool messages.'
        ),
    ] = None
    newMessages: Annotated[
        list[Message], Field(description='The messages the step added.')
    ]
    toolCalls: Annotated[
        list[ToolCall] | None, Field(description='The calls the model made.')
    ] = None
    toolResults: Annotated[
        list[ToolResult] | None, Field(description='What the calls gave back.')
    ] = None
    pendingToolCalls: Annotated[
        list[ToolCall] | None,
        Field(description='Calls that had no result when the step ended.'),
    ] = None
    partialToolResults: Annotated[
        list[ToolResult] | None,
        Field(description='Results of some of the calls, while others are pending.'),
    ] = None
    usage: Annotated[Usage, Field(description='What this step used.')]
    startedAt: Annotated[
        int,
        Field(
            description='When it began, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    finishedAt: Annotated[
        int | None,
        Field(
            description='When it ended, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ] = None


class Checkpoint(Model):
    """
    The state of a run at the end of a step.
    """

    id: Annotated[
        CheckpointId, Field(description='Names the checkpoint; each step has its own.')
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    status: Annotated[CheckpointStatus, Field(description='Where the run stands.')]
    stepNumber: Annotated[
        int,
        Field(description='The step that ended here.', ge=0, le=18446744073709551615),
    ]
    messages: Annotated[
        list[Message], Field(description='All messages of the run so far.')
    ]
    expert: Annotated[
        Expert, Field(description='The expert that the run was given to.')
    ]
    delegateTo: Annotated[
        list[DelegationTarget] | None,
        Field(description='Work handed to other experts that the run waits for.'),
    ] = None
    delegatedBy: Annotated[
        DelegatedBy | None, Field(description='Where a child run came from.')
    ] = None
    usage: Annotated[Usage, Field(description='What the run used so far.')]
    contextWindow: Annotated[
        int | None,
        Field(
            description="The model's context window in tokens.",
            ge=0,
            le=18446744073709551615,
        ),
    ] = None
    contextWindowUsage: Annotated[
        float | None,
        Field(description='How much of the context window is used, from 0 to 1.'),
    ] = None
    pendingToolCalls: Annotated[
        list[ToolCall] | None, Field(description='Calls without a result.')
    ] = None
    partialToolResults: Annotated[
        list[ToolResult] | None,
        Field(description='Results of some of the calls, while others are pending.'),
    ] = None
    metadata: Annotated[
        Metadata | None,
        Field(description="What is known beyond Perstack's fields; open."),
    ] = None
    error: Annotated[RunError | None, Field(description='Why the run failed.')] = None
    retryCount: Annotated[
        int | None,
        Field(
            description='How often the step was tried again.',
            ge=0,
            le=18446744073709551615,
        ),
    ] = None


class CompleteRunEvent(Model):
    """
    The run ended with an answer.
    """

    type: Annotated[
        Literal['completeRun'],
        Field(description='Tells that it is this: `completeRun`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpoint: Annotated[Checkpoint, Field(description='The state at the end.')]
    step: Annotated[Step, Field(description='The last step.')]
    text: Annotated[str, Field(description='The answer.')]
    usage: Annotated[Usage, Field(description='What the last turn of the model used.')]


class ContinueToNextStepEvent(Model):
    """
    The step ended and another follows.
    """

    type: Annotated[
        Literal['continueToNextStep'],
        Field(description='Tells that it is this: `continueToNextStep`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpoint: Annotated[
        Checkpoint, Field(description='The state at the end of the step.')
    ]
    step: Annotated[Step, Field(description='The step.')]
    nextCheckpoint: Annotated[
        Checkpoint,
        Field(
            description=(
                "The state the next step begins with; its id is that of the next step's"
                " checkpoint."
            )
        ),
    ]


KnownRecord = TypeAliasType(
    "KnownRecord",
    Annotated[
        RunOpenedRecord
        | MetadataPatchRecord
        | InitializeRecord
        | StartRecord
        | MessageRecord
        | UsageEntryRecord
        | CheckpointHeadRecord
        | EventRecord,
        Field(
            description=(
                'One kept record of a run. Of a type that this version of the schema'
                ' knows.'
            ),
            discriminator='type',
            title='KnownRecord',
        ),
    ],
)


Record = TypeAliasType(
    "Record",
    Annotated[
        KnownRecord | UnknownRecord,
        Field(description='One kept record of a run.', title='Record'),
    ],
)


class RetryEvent(Model):
    """
    The model's answer could not be used and it was asked again.
    """

    type: Annotated[
        Literal['retry'], Field(description='Tells that it is this: `retry`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    reason: Annotated[str, Field(description='Why.')]
    newMessages: Annotated[
        list[RetryMessage], Field(description='The messages that tell the model so.')
    ]
    toolCalls: Annotated[
        list[ToolCall] | None, Field(description='The calls it had made.')
    ] = None
    toolResults: Annotated[
        list[ToolResult] | None, Field(description='What they gave back.')
    ] = None
    usage: Annotated[Usage, Field(description='What the unusable answer used.')]


class StartRunEvent(Model):
    """
    The run began.
    """

    type: Annotated[
        Literal['startRun'], Field(description='Tells that it is this: `startRun`.')
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    initialCheckpoint: Annotated[
        Checkpoint, Field(description='The state before the first step.')
    ]
    inputMessages: Annotated[
        list[InputMessage],
        Field(
            description='What the run was given: instruction, user or tool messages.'
        ),
    ]


class StopRunByDelegateEvent(Model):
    """
    The run waits for another expert.
    """

    type: Annotated[
        Literal['stopRunByDelegate'],
        Field(description='Tells that it is this: `stopRunByDelegate`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpoint: Annotated[Checkpoint, Field(description='The state at the end.')]
    step: Annotated[Step, Field(description='The last step.')]


class StopRunByErrorEvent(Model):
    """
    The run failed.
    """

    type: Annotated[
        Literal['stopRunByError'],
        Field(description='Tells that it is this: `stopRunByError`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpoint: Annotated[Checkpoint, Field(description='The state at the end.')]
    step: Annotated[Step, Field(description='The last step.')]
    error: Annotated[RunError, Field(description='Why.')]


class StopRunByExceededMaxStepsEvent(Model):
    """
    The run reached its turn limit.
    """

    type: Annotated[
        Literal['stopRunByExceededMaxSteps'],
        Field(description='Tells that it is this: `stopRunByExceededMaxSteps`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpoint: Annotated[Checkpoint, Field(description='The state at the end.')]
    step: Annotated[Step, Field(description='The last step.')]


class StopRunByInteractiveToolEvent(Model):
    """
    The run waits for an interactive tool.
    """

    type: Annotated[
        Literal['stopRunByInteractiveTool'],
        Field(description='Tells that it is this: `stopRunByInteractiveTool`.'),
    ]
    id: Annotated[EventId, Field(description='Names the event.')]
    expertKey: Annotated[
        str, Field(description='The expert that the run was given to.')
    ]
    timestamp: Annotated[
        int,
        Field(
            description='When it happened, in milliseconds since 1970.',
            ge=-9223372036854775808,
            le=9223372036854775807,
        ),
    ]
    jobId: Annotated[JobId, Field(description='The job.')]
    runId: Annotated[RunId, Field(description='The run.')]
    stepNumber: Annotated[
        int,
        Field(description='The step, counted from 1.', ge=0, le=18446744073709551615),
    ]
    checkpoint: Annotated[Checkpoint, Field(description='The state at the end.')]
    step: Annotated[Step, Field(description='The last step.')]


KnownRunEvent = TypeAliasType(
    "KnownRunEvent",
    Annotated[
        StartRunEvent
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
        | CompleteStreamingRunResultEvent,
        Field(
            description=(
                "One event of a run, in Perstack's shape. Of a type that this version"
                " of the schema knows."
            ),
            discriminator='type',
            title='KnownRunEvent',
        ),
    ],
)


RunEvent = TypeAliasType(
    "RunEvent",
    Annotated[
        KnownRunEvent | UnknownRunEvent,
        Field(description="One event of a run, in Perstack's shape.", title='RunEvent'),
    ],
)




Event = TypeAliasType(
    "Event",
    Annotated[
        Annotated[RunEvent, Tag("run-event")] | Annotated[RuntimeEvent, Tag("runtime-event")],
        Discriminator(event_kind),
    ],
)


#: The model of each kind, by the name that `runtape schema` lists.
KINDS: dict[str, Any] = {
    "adapter-command": AdapterCommand,
    "adapter-environment": AdapterEnvironment,
    "adapter-session": AdapterSession,
    "backup-report": BackupReport,
    "checkpoint": Checkpoint,
    "checkpoint-diff": CheckpointDiff,
    "config-info": ConfigInfo,
    "copy-line": CopyLine,
    "database-status": DatabaseStatus,
    "doctor-report": DoctorReport,
    "document": Document,
    "drift": Drift,
    "event": Event,
    "exported-file": ExportedFile,
    "exported-tree": ExportedTree,
    "failure-sum": FailureSum,
    "file-call": FileCall,
    "file-use": FileUse,
    "gc-report": GcReport,
    "host-use": HostUse,
    "imported-run": ImportedRun,
    "ingest-line": IngestLine,
    "job": Job,
    "job-detail": JobDetail,
    "job-info": JobInfo,
    "ledger-entry": LedgerEntry,
    "message": Message,
    "migration-report": MigrationReport,
    "model-price": ModelPrice,
    "network-call": NetworkCall,
    "notice-info": NoticeInfo,
    "raw-output": RawOutput,
    "rebuilt-run": RebuiltRun,
    "record": Record,
    "record-report": RecordReport,
    "recovered-run": RecoveredRun,
    "redact-line": RedactLine,
    "renormalized-run": RenormalizedRun,
    "run-detail": RunDetail,
    "run-event": RunEvent,
    "run-info": RunInfo,
    "runtime-event": RuntimeEvent,
    "runtime-info": RuntimeInfo,
    "scan-line": ScanLine,
    "schema-info": SchemaInfo,
    "search-hit": SearchHit,
    "searched-run": SearchedRun,
    "serve-info": ServeInfo,
    "session-answer": SessionAnswer,
    "session-info": SessionInfo,
    "sql-row": SqlRow,
    "step": Step,
    "store-stats": StoreStats,
    "summary": RunSummary,
    "sync-line": SyncLine,
    "tool-call-info": ToolCallInfo,
    "tool-use": ToolUse,
    "transcript-entry": TranscriptEntry,
    "tree-line": TreeLine,
    "usage": Usage,
    "usage-group": UsageGroup,
    "validation-line": ValidationLine,
    "verify-report": VerifyReport,
}

#: For each model of unknown types: the key that names the type, and the types that are known.
KNOWN: dict[str, tuple[str, frozenset[str]]] = {
    "UnknownRecord": (
        "type",
        frozenset(
            {
                "run",
                "metadata",
                "initialize",
                "start",
                "message",
                "usage",
                "checkpoint",
                "event",
            }
        ),
    ),
    "UnknownRunEvent": (
        "type",
        frozenset(
            {
                "startRun",
                "startGeneration",
                "retry",
                "callTools",
                "callInteractiveTool",
                "callDelegate",
                "resolveToolResults",
                "attemptCompletion",
                "finishToolCall",
                "resumeToolCalls",
                "finishAllToolCalls",
                "continueToNextStep",
                "stopRunByInteractiveTool",
                "stopRunByDelegate",
                "stopRunByExceededMaxSteps",
                "stopRunByError",
                "completeRun",
                "startStreamingReasoning",
                "streamReasoning",
                "completeStreamingReasoning",
                "startStreamingRunResult",
                "streamRunResult",
                "completeStreamingRunResult",
            }
        ),
    ),
    "UnknownRuntimeEvent": (
        "type",
        frozenset(
            {
                "initializeRuntime",
                "skillStarting",
                "skillConnected",
                "skillStderr",
                "skillDisconnected",
                "dockerBuildProgress",
                "dockerContainerStatus",
                "proxyAccess",
                "apiRetry",
                "rateLimit",
                "permissionDenied",
                "compaction",
                "hook",
                "modelFallback",
                "task",
                "connection",
                "interaction",
                "warning",
                "earlierResult",
                "exitMismatch",
                "historyMismatch",
                "processExit",
                "stderrText",
                "stdoutText",
                "info",
                "unparsedOutput",
                "streamText",
                "streamToolCall",
                "streamToolResult",
            }
        ),
    ),
    "UnknownRuntimeEventKind": (
        "type",
        frozenset(
            {
                "initializeRuntime",
                "skillStarting",
                "skillConnected",
                "skillStderr",
                "skillDisconnected",
                "dockerBuildProgress",
                "dockerContainerStatus",
                "proxyAccess",
                "apiRetry",
                "rateLimit",
                "permissionDenied",
                "compaction",
                "hook",
                "modelFallback",
                "task",
                "connection",
                "interaction",
                "warning",
                "earlierResult",
                "exitMismatch",
                "historyMismatch",
                "processExit",
                "stderrText",
                "stdoutText",
                "info",
                "unparsedOutput",
                "streamText",
                "streamToolCall",
                "streamToolResult",
            }
        ),
    ),
    "UnknownTranscriptEntry": (
        "kind",
        frozenset(
            {
                "assistant",
                "thinking",
                "user",
                "tool_call",
                "tool_result",
                "init",
                "result",
                "stderr",
                "system",
                "stdout",
                "diff",
            }
        ),
    ),
}

#: The optional fields that may be null, where others may only be absent.
NULLABLE: dict[str, frozenset[str]] = {
    "MetadataPatchRecordSet": frozenset(
        {
            "runtime",
            "externalExecution",
            "sessionId",
            "model",
            "cliVersion",
            "cwd",
            "argv",
            "host",
            "user",
            "permissionMode",
            "gitCommit",
            "gitBranch",
            "exitCode",
            "exitUnknown",
            "signal",
            "startedAt",
            "finishedAt",
            "durationMs",
            "costUsd",
            "usageUnknown",
            "outputFormat",
            "parserVersion",
            "unparsedLines",
            "timeSource",
        }
    ),
}
