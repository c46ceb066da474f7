import { spawn } from 'node:child_process';
import { fail, ok, type Result } from '@sluice/core';
import type { Notification } from './notification.ts';

/** Sends one notification once; errors are messages for people. */
export interface Notifier {
  post(url: string, content: Notification): Promise<Result<void, string>>;
  /** Starts `command` in `directory`, with the notification as JSON on its standard input. */
  run(command: readonly string[], content: Notification, directory: string): Promise<Result<void, string>>;
}

const WEBHOOK_MS = 10_000;
const COMMAND_MS = 60_000;
/** Of the end of the error output. It is cut further when secrets in it are hidden. */
const MAX_ERROR_LENGTH = 65_536;
/** How long after its end a command's output is still read. */
const LAST_WORDS_MS = 1000;

/** Sends over HTTP, and by processes of this machine. */
export function createSystemNotifier(): Notifier {
  return { post: postJson, run: runCommand };
}

async function postJson(url: string, content: Notification): Promise<Result<void, string>> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(content),
      signal: AbortSignal.timeout(WEBHOOK_MS),
    });
    await response.body?.cancel();
    return response.ok ? ok(undefined) : fail(`it answered ${response.status}`);
  } catch (error) {
    const cause = (error as { cause?: Error }).cause;
    return fail(`${(error as Error).message}${cause?.message ? `: ${cause.message}` : ''}`);
  }
}

async function runCommand(
  argv: readonly string[],
  content: Notification,
  directory: string,
): Promise<Result<void, string>> {
  try {
    return await runProgram(argv, content, directory);
  } catch (error) {
    // Thrown instead of emitted: an argument that no program can accept, or too many of them.
    return fail((error as Error).message);
  }
}

function runProgram(
  [program = '', ...args]: readonly string[],
  content: Notification,
  directory: string,
): Promise<Result<void, string>> {
  return new Promise((resolve) => {
    const { runId, pipeline, status } = content;
    const env = { ...process.env, SLUICE_RUN_ID: runId, SLUICE_RUN_NAME: pipeline, SLUICE_RUN_STATUS: status };
    const child = spawn(program, args, {
      cwd: directory,
      env,
      stdio: ['pipe', 'ignore', 'pipe'],
      timeout: COMMAND_MS,
      killSignal: 'SIGKILL',
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-MAX_ERROR_LENGTH);
    });
    child.on('error', (error) => resolve(fail(error.message)));
    // Processes that it left behind may keep its error output open indefinitely.
    child.on('exit', () => setTimeout(() => child.stderr.destroy(), LAST_WORDS_MS).unref());
    child.on('close', (code, signal) => {
      if (code === 0) resolve(ok(undefined));
      else resolve(fail(`${program} ended with ${code ?? signal}${said === '' ? '' : `: ${said.trimEnd()}`}`));
    });
    // A command that does not read its input has not failed.
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(content));
  });
}
