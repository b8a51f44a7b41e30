/**
 * Skills: never in the workspace. Claude Code is told a temporary directory; for the others links are
 * put where their CLI looks for skills, and taken away when no agent wants them any more.
 */

import { lstat, mkdir, readFile, readlink, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import path from "node:path";

import { isObject, messageOf, objectOf, textOf } from "./values.js";

/** The skill that teaches the host's API: every agent has it. */
export const OPERATIONAL = "paperclipai/paperclip/paperclip";
/** Which links are ours, and for which agents. */
const LEDGER = ".runtape-links.json";

/** Returns the skills that there are, as far as they can be used as file names. */
function entriesOf(config) {
  const listed = config.paperclipRuntimeSkills;
  const entries = (Array.isArray(listed) ? listed : []).filter(isObject).map((entry) => ({
    key: textOf(entry.key),
    runtimeName: textOf(entry.runtimeName),
    source: textOf(entry.source),
    isMissing: entry.sourceStatus === "missing",
    missingDetail: textOf(entry.missingDetail) || null,
  }));
  return entries.filter(({ key, runtimeName }) => key !== "" && /^[A-Za-z0-9][\w.-]*$/.test(runtimeName));
}

function desiredKeys(config) {
  const wanted = objectOf(config.paperclipSkillSync).desiredSkills;
  const keys = (Array.isArray(wanted) ? wanted : []).map((item) => textOf(isObject(item) ? item.key : item));
  return [...new Set([...keys.filter(Boolean), OPERATIONAL])];
}

/** Returns the skills as the host lists them. */
export function skillSnapshot(adapterType, config) {
  const entries = entriesOf(config);
  const desired = desiredKeys(config).filter((key) => entries.some((entry) => entry.key === key));
  const mode = textOf(config.runtime) === "claude-code" ? "ephemeral" : "persistent";
  return {
    adapterType,
    supported: true,
    mode,
    desiredSkills: desired,
    entries: entries.map((entry) => {
      const isDesired = desired.includes(entry.key);
      return {
        key: entry.key,
        runtimeName: entry.runtimeName,
        desired: isDesired,
        managed: true,
        required: entry.key === OPERATIONAL,
        state: entry.isMissing ? "missing" : isDesired ? "configured" : "available",
        origin: "company_managed",
        sourcePath: entry.source || null,
        targetPath: null,
        detail: entry.missingDetail,
      };
    }),
    warnings: [],
  };
}

/** Returns the skills that the agent gets, and says which it does not. */
async function wantedSkills(config, log) {
  const keys = new Set(desiredKeys(config));
  const wanted = [];
  for (const entry of entriesOf(config).filter(({ key }) => keys.has(key))) {
    if (entry.isMissing || !path.isAbsolute(entry.source)) {
      await log(`skill ${entry.key} is left out: ${entry.missingDetail ?? "its files are not there"}`);
    } else {
      wanted.push(entry);
    }
  }
  return wanted;
}

/** Makes a directory with links to the skills. Returns it, or null if there are none. */
export async function linkIntoTemporary(config, directory, log) {
  const wanted = await wantedSkills(config, log);
  if (wanted.length === 0) return null;
  const skills = path.join(directory, ".claude", "skills");
  await mkdir(skills, { recursive: true });
  for (const entry of wanted) await symlink(entry.source, path.join(skills, entry.runtimeName));
  return directory;
}

/** Runs change the same directory one after the other. */
const turns = new Map();

/** Puts links to the skills where a CLI looks for them; what is there and not ours stays as it is. */
export function linkIntoHome(config, home, agentId, log) {
  const turn = (turns.get(home) ?? Promise.resolve()).then(() => relink(config, home, agentId, log));
  const settled = turn.catch(() => {});
  turns.set(home, settled);
  return turn;
}

async function relink(config, home, agentId, log) {
  const wanted = await wantedSkills(config, log);
  const ledger = await readLedger(home);
  if (wanted.length === 0 && Object.keys(ledger).length === 0) return;
  await mkdir(home, { recursive: true });
  for (const entry of wanted) {
    const place = path.join(home, entry.runtimeName);
    const own = ledger[entry.runtimeName];
    const target = await linkTarget(place);
    if (target === entry.source) {
      if (own) own.agents = [...new Set([...own.agents, agentId])];
    } else if (target === undefined || (own && target === own.source)) {
      if (target !== undefined) await unlink(place);
      await symlink(entry.source, place);
      const agents = own ? own.agents : [];
      ledger[entry.runtimeName] = { source: entry.source, agents: [...new Set([...agents, agentId])] };
    } else {
      await log(`skill ${entry.key} is left out: there is another ${place}`);
    }
  }
  const names = new Set(wanted.map((entry) => entry.runtimeName));
  for (const [name, own] of Object.entries(ledger)) {
    if (names.has(name)) continue;
    own.agents = own.agents.filter((id) => id !== agentId);
    if (own.agents.length > 0) continue;
    const place = path.join(home, name);
    if ((await linkTarget(place)) === own.source) await unlink(place);
    delete ledger[name];
  }
  await writeLedger(home, ledger);
}

/** Returns where a link leads; undefined if nothing is there, null if it is no link. */
async function linkTarget(place) {
  try {
    return (await lstat(place)).isSymbolicLink() ? await readlink(place) : null;
  } catch (error) {
    if (error?.code === "ENOENT") return undefined;
    throw error;
  }
}

async function readLedger(home) {
  try {
    const read = objectOf(JSON.parse(await readFile(path.join(home, LEDGER), "utf8")));
    const sound = Object.entries(read).filter(
      ([name, own]) => /^[A-Za-z0-9][\w.-]*$/.test(name) && textOf(own?.source) !== "" && Array.isArray(own?.agents),
    );
    return Object.fromEntries(sound);
  } catch {
    return {};
  }
}

async function writeLedger(home, ledger) {
  const file = path.join(home, LEDGER);
  if (Object.keys(ledger).length === 0) {
    await rm(file, { force: true });
    return;
  }
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(ledger), { mode: 0o600 });
  await rename(draft, file);
}

/** Gives the agent its skills. Returns the directory for its command line, or null. Skills are no reason to fail. */
export async function provideSkills({ config, agentId, skillsHome, temporary, log }) {
  try {
    if (skillsHome === null) return await linkIntoTemporary(config, temporary, log);
    await linkIntoHome(config, skillsHome, agentId, log);
  } catch (error) {
    await log(`skills could not be provided: ${messageOf(error)}`);
  }
  return null;
}
