import { fail, type Notify, ok, type Result, resolveText } from '@sluice/core';
import { createRunContext, endMessage, type FailureGroup, type RunStatus, viewFailures } from '@sluice/run';
import { secretNames } from '../session/create-redactor.ts';
import type { Notification, NotifiedFailure } from '../session/notification.ts';
import { pause, type RunSession } from '../session/run-session.ts';
import { createSystemNotifier, type Notifier } from '../session/system-notifier.ts';
import { warn } from '../session/warn.ts';

const TRIES = 3;
const PAUSE_MS = 2000;
/** The most failures in a notification; a webhook's body must stay small. */
const MAX_FAILURES = 20;
/** Of each end of a message about a notification that could not be sent. */
const MAX_PART = 300;

/**
 * Sends the notifications that the pipeline defines for this status, each at least once and with bounded retries. If one
 * cannot be sent, only a warning is reported.
 */
export async function notify(session: RunSession, status: RunStatus, given?: Notifier): Promise<void> {
  const { plan, facts } = session;
  const wanted = plan.pipeline.notify.flatMap((notification, index) =>
    notification.on.includes(status) && !facts.notified.has(index) ? [{ notification, index }] : [],
  );
  if (wanted.length === 0) return;
  const notifier = given ?? createSystemNotifier();
  const content = describe(session, status);
  await Promise.all(
    wanted.map(async ({ notification, index }) => {
      // Their expressions are evaluated one after the other, and other work of the process continues in between.
      await new Promise<void>(session.clock.defer);
      await send(session, notification, { notifier, content });
      session.note({ kind: 'notified', at: session.clock.now(), index });
    }),
  );
}

async function send(
  session: RunSession,
  notification: Notify,
  { notifier, content }: { readonly notifier: Notifier; readonly content: Notification },
): Promise<void> {
  const target = resolveTarget(session, notification);
  let why = target.ok ? '' : target.error;
  for (let tries = 1; target.ok && tries <= TRIES; tries++) {
    if (tries > 1) await pause(session, PAUSE_MS * (tries - 1));
    const { webhook, command } = target.value;
    const sent =
      webhook === undefined
        ? await notifier.run(command, content, session.facts.header!.baseDir)
        : await notifier.post(webhook, content);
    if (sent.ok) return;
    why = sent.error;
  }
  const what = notification.webhook === undefined ? 'command' : 'webhook';
  const cause = shortenMiddle(session.redactor.text(why));
  const message = `could not notify by ${what} that the run ${content.status}: ${cause}`;
  warn(session, message);
}

/** Keeps the end, because the last output of a command is the cause of its failure. Call it after secrets are hidden. */
function shortenMiddle(text: string): string {
  return text.length <= 2 * MAX_PART ? text : `${text.slice(0, MAX_PART)} … ${text.slice(-MAX_PART)}`;
}

type Target =
  | { readonly webhook: string; readonly command?: undefined }
  | { readonly webhook?: undefined; readonly command: readonly string[] };

function resolveTarget(session: RunSession, { webhook, command = [] }: Notify): Result<Target, string> {
  const secrets: Record<string, string> = {};
  for (const name of secretNames(session.plan)) {
    const value = session.secrets(name);
    if (value !== undefined) secrets[name] = value;
  }
  const context = createRunContext(session, 1);
  if (webhook !== undefined) {
    const url = resolveText(session.plan, webhook, { ...context, secrets });
    return url.ok ? ok({ webhook: url.value }) : url;
  }
  const argv: string[] = [];
  for (const template of command) {
    const argument = resolveText(session.plan, template, context);
    if (!argument.ok) return fail(argument.error);
    argv.push(argument.value);
  }
  return ok({ command: argv });
}

function describe(session: RunSession, status: RunStatus): Notification {
  const { runId, plan, facts } = session;
  const { name } = plan.pipeline;
  const message = endMessage(facts, status);
  return session.redactor.data({
    schema: 1,
    type: 'notification',
    text: `${name} ${status}${message === undefined ? '' : ` (${message})`}: run ${runId}`,
    runId,
    pipeline: name,
    status,
    ...(message !== undefined && { message }),
    failures: viewFailures(session).failureGroups.slice(0, MAX_FAILURES).map(pickFailure),
  });
}

function pickFailure({ step, cell, cellCount, attempt, status, reason, message }: FailureGroup): NotifiedFailure {
  return { step, cell, cellCount, attempt, status, ...(reason !== undefined && { reason }), message };
}
