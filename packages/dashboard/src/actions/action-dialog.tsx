import type { ActionReply } from '@sluice/host';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageFor, postRequest } from '../api/fetch-reply.ts';
import { linkTo } from '../live/route.ts';
import { localTime } from '../model/planned-days.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Note } from '../parts/note.tsx';
import { RerunGraph } from './rerun-graph.tsx';

/** An action before it is confirmed. */
export interface ActionRequest {
  /** Of the endpoint, below the prefix of the API. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly title: string;
  /** The label of the button that does it. */
  readonly verb: string;
  /** The time zone of planned times; absent: that of the browser. */
  readonly timezone?: string;
  /** A form below the dialog, with the values of the action, stays until it is done. */
  readonly hasForm?: boolean;
  /** Of a rerun: the run, whose graph is drawn with what would happen. */
  readonly rerunOf?: string;
  /** Called when it is done. */
  readonly onDone?: () => void;
}

/** Shows what an action would do and the equivalent command, and does it after a confirmation. */
export function ActionDialog({ request, onClose }: { request: ActionRequest; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [preview, setPreview] = useState<ActionReply>();
  const [done, setDone] = useState<ActionReply>();
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  // One key for all attempts to send: a lost reply does not act twice.
  const [key] = useState(createKey);
  const { path, body, title, verb } = request;
  useEffect(() => {
    dialog.current?.showModal();
    postRequest<ActionReply>(path, { ...body, dryRun: true }).then(setPreview, (thrown) =>
      setError(messageFor(thrown)),
    );
  }, []);
  const send = async () => {
    setSending(true);
    setError(undefined);
    try {
      setDone(await postRequest<ActionReply>(path, body, key));
      request.onDone?.();
    } catch (thrown) {
      setError(messageFor(thrown));
    }
    setSending(false);
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <h2 id="dialog-title">{title}</h2>
      {error !== undefined && <Note tone="bad">{error}</Note>}
      {done !== undefined ? (
        <Done reply={done} path={path} onFollow={onClose} />
      ) : (
        <Preview reply={preview} request={request} hasFailed={error !== undefined} />
      )}
      <div class="buttons">
        {done === undefined && (
          <button
            type="button"
            class="primary"
            disabled={preview === undefined || isSending}
            onClick={() => void send()}
          >
            {isSending ? 'Sending…' : verb}
          </button>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          {done !== undefined ? 'Close' : request.hasForm ? 'Back' : 'Do nothing'}
        </button>
      </div>
    </dialog>
  );
}

/** Without `randomUUID`, which pages of a server without TLS do not have. */
function createKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

interface PreviewProps {
  readonly reply: ActionReply | undefined;
  readonly request: ActionRequest;
  readonly hasFailed: boolean;
}

function Preview({ reply, request: { timezone, rerunOf }, hasFailed }: PreviewProps) {
  if (reply === undefined) return hasFailed ? null : <p class="soft">Checking the effect…</p>;
  return (
    <>
      <p>{reply.message}</p>
      {rerunOf !== undefined && reply.run !== undefined && <RerunGraph runId={rerunOf} reply={reply} />}
      <StepNames label="Run" names={reply.run} />
      <StepNames label="Reused" names={reply.reused} />
      <StepNames label="Planned times" names={reply.plannedAt?.map((at) => localTime(at, timezone))} />
      <p class="soft">Equivalent command:</p>
      <CommandLine command={reply.command} />
    </>
  );
}

const MAX_NAMES = 60;

function StepNames({ label, names }: { label: string; names: readonly string[] | undefined }) {
  if (names === undefined) return null;
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  return (
    <p class="names">
      <b>
        {label} ({names.length}):
      </b>{' '}
      {names.length === 0 ? 'none' : names.slice(0, MAX_NAMES).join(', ') + more}
    </p>
  );
}

function Done({ reply, path, onFollow }: { reply: ActionReply; path: string; onFollow: () => void }) {
  return (
    <Note tone="good">
      {reply.message}
      {reply.runId !== undefined && !path.includes(reply.runId) && (
        <>
          {' '}
          <a href={linkTo(['runs', reply.runId])} onClick={onFollow}>
            Open run {reply.runId}
          </a>
        </>
      )}
    </Note>
  );
}
