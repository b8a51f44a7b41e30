// An agent in node: runs a command (its arguments, `ls` without any) and says what came of it.
// Each line it prints is an entry of a transcript; see docs/your-own-agent.md.
import { spawnSync } from 'node:child_process'

const tell = (kind, fields) =>
  console.log(JSON.stringify({ ts: new Date().toISOString(), kind, ...fields }))

const command = process.argv.slice(2).join(' ') || 'ls'
tell('init', { model: 'example-model', sessionId: `js-${process.pid}` })
tell('user', { text: `Run ${command}` })
tell('thinking', { text: 'One call will do.' })
tell('assistant', { text: 'I run it.' })
tell('tool_call', { name: 'shell', toolUseId: 'call-1', input: { command } })
const { stdout, stderr, status } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
tell('tool_result', { toolUseId: 'call-1', content: stdout + stderr, isError: status !== 0 })
const answer = status === 0 ? 'It worked.' : 'It failed.'
tell('assistant', { text: answer })
tell('result', {
  text: answer, inputTokens: 120, outputTokens: 34, cachedTokens: 80, costUsd: 0.002,
  subtype: 'completed', isError: false, errors: [],
})
