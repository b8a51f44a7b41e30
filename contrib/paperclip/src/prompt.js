/** What the agent is told. */

import { readFile } from "node:fs/promises";
import path from "node:path";

import { hostHelpers } from "./host-helpers.js";
import { isObject, messageOf, objectOf, textOf } from "./values.js";
import * as own from "./wake.js";

/** Runtimes that are told the task as the host wrote it down; the others' wake text has it. */
const WITH_TASK = new Set(["claude-code", "codex", "hermes"]);
/** Runtimes that do not look at their environment unless they are told. */
const WITH_VARIABLES = new Set(["cursor", "gemini"]);

/** Returns the value of a dotted path, as text. */
function valueAt(data, dotted) {
  let value = data;
  for (const key of dotted.split(".")) {
    if (!isObject(value) && !Array.isArray(value)) return "";
    value = Object.hasOwn(value, key) ? value[key] : undefined;
  }
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Fills in `{{a.b}}`; what is not known is empty. */
export function renderTemplate(template, data) {
  return template.replace(/\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}/g, (_, dotted) => valueAt(data, dotted));
}

/** Returns the instructions that go in front of the prompt, or into a file for the system prompt. */
export async function readInstructions(config, log) {
  const file = textOf(config.instructionsFilePath);
  if (file === "") return "";
  try {
    const text = (await readFile(file, "utf8")).trim();
    if (text === "") return "";
    const place = `The instructions above were read from ${file}; paths in them are relative to ${path.dirname(file)}/.`;
    return `${text}\n\n${place}`;
  } catch (error) {
    await log(`the instructions could not be read: ${messageOf(error)}`);
    return "";
  }
}

function variablesNote(runtime, variables) {
  if (!WITH_VARIABLES.has(runtime)) return "";
  const names = Object.keys(variables).filter((name) => name.startsWith("PAPERCLIP_")).sort();
  if (names.length === 0) return "";
  const lines = [
    "Paperclip runtime note:",
    `These environment variables are set for you: ${names.join(", ")}. Look at them in your shell before you say that one is missing.`,
  ];
  if (runtime === "gemini" && variables.PAPERCLIP_API_KEY && variables.PAPERCLIP_API_URL) {
    lines.push(
      "Call the Paperclip API with curl through run_shell_command, for example:",
      `curl -s -H "Authorization: Bearer $PAPERCLIP_API_KEY" "$PAPERCLIP_API_URL/api/agents/me"`,
      `Send X-Paperclip-Run-Id: $PAPERCLIP_RUN_ID with every change.`,
    );
  }
  return lines.join("\n");
}

/** Returns the wake payload as the host writes it down for agents, or null. */
export async function wakePayload(context) {
  const helpers = await hostHelpers();
  try {
    if (helpers) return helpers.stringifyPaperclipWakePayload(context.paperclipWake);
  } catch {
    // A payload that the host's own code cannot read is passed on as it is.
  }
  return own.payloadText(context.paperclipWake);
}

async function partsOfHost(context, runtime, isResumed) {
  const conversationMode = context.conversationMode === true;
  const isTold = WITH_TASK.has(runtime) || conversationMode;
  const helpers = await hostHelpers();
  if (helpers) {
    try {
      const task = isTold ? textOf(helpers.selectPaperclipTaskMarkdown(context, { resumedSession: isResumed })) : "";
      const wake = helpers.renderPaperclipWakePrompt(context.paperclipWake, {
        resumedSession: isResumed,
        conversationMode,
        suppressIssueDescription: task !== "",
      });
      return {
        task,
        wake: textOf(wake),
        isRecovery: helpers.isPaperclipRecoveryWakePayload(context.paperclipWake) === true,
        template: conversationMode
          ? helpers.DEFAULT_PAPERCLIP_CONVERSATION_PROMPT_TEMPLATE
          : helpers.DEFAULT_PAPERCLIP_AGENT_PROMPT_TEMPLATE,
      };
    } catch {
      // A payload that the host's own code cannot read is told in our words.
    }
  }
  const task = isTold ? own.taskMarkdown(context, isResumed) : "";
  return {
    task,
    wake: own.wakeText(context.paperclipWake, { leavesOutDescription: task !== "" }),
    isRecovery: own.isRecovery(context.paperclipWake),
    template: conversationMode ? own.CONVERSATION_TEMPLATE : own.AGENT_TEMPLATE,
  };
}

/** Returns the prompt of a run, and how long its parts are. */
export async function buildPrompt({ ctx, runtime, resume, instructions, variables }) {
  const config = objectOf(ctx.config);
  const context = objectOf(ctx.context);
  const isResumed = resume !== null;
  const agent = objectOf(ctx.agent);
  const data = {
    agentId: agent.id,
    companyId: agent.companyId,
    runId: ctx.runId,
    company: { id: agent.companyId },
    agent,
    run: { id: ctx.runId, source: "on_demand" },
    context,
  };
  const host = await partsOfHost(context, runtime, isResumed);
  // A session that goes on is told what is new, and nothing else.
  const isDelta = isResumed && host.wake !== "";
  const template = typeof config.promptTemplate === "string" && config.promptTemplate.trim() !== ""
    ? config.promptTemplate
    : host.template;
  const bootstrap = textOf(config.bootstrapPromptTemplate);
  const isWithInstructions = runtime !== "claude-code" && !(runtime === "codex" && isDelta);
  const parts = {
    instructions: isWithInstructions ? instructions : "",
    bootstrapPrompt: isResumed ? "" : renderTemplate(bootstrap, data).trim(),
    wakePrompt: host.wake,
    sessionHandoff: textOf(context.paperclipSessionHandoffMarkdown),
    taskContext: host.task,
    runtimeNote: variablesNote(runtime, variables),
    heartbeatPrompt: isDelta || host.isRecovery ? "" : renderTemplate(template, data).trim(),
  };
  const prompt = Object.values(parts).filter((part) => part !== "").join("\n\n");
  const metrics = { promptChars: prompt.length };
  for (const [name, part] of Object.entries(parts)) metrics[`${name}Chars`] = part.length;
  return { prompt, metrics };
}
