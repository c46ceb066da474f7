import { type ApiCall, type HttpConnection, isServiceError, type Scope, ServiceError } from '@sluice/client';
import type { OrderBody } from '@sluice/host';
import { RUN_PHASES } from '@sluice/run';
import { z } from 'zod';

/** Reads the files of runs. Throws `ServiceError`. */
export interface JournalSource {
  readPlan(runId: string): Promise<Uint8Array>;
  /** From a byte on. */
  readJournal(runId: string, offset: number, signal?: AbortSignal): Promise<Uint8Array>;
}

const runEntry = z.object({
  runId: z.string(),
  pipeline: z.string(),
  status: z.enum(RUN_PHASES).catch('running'),
  createdAt: z.string(),
  startedAt: z.string().optional(),
  endedAt: z.string().optional(),
  labels: z.record(z.string(), z.string()).exactOptional(),
});

/** A run in the list of a server. Times are RFC 3339. */
export type ServerRun = z.infer<typeof runEntry>;

/** A server that executes runs of an account. */
export interface RunServer extends JournalSource {
  readonly url: string;
  readonly scope: Scope;
  /** Whether the service at this address executes runs. */
  isAvailable(signal?: AbortSignal): Promise<boolean>;
  /** The newest runs of the account. */
  list(count: number, signal?: AbortSignal): Promise<readonly ServerRun[]>;
  listAll(): Promise<readonly ServerRun[]>;
  /** Has the server execute a run with this ID; can be repeated. Returns its address in the dashboard, if there is one. */
  order(runId: string, body: OrderBody): Promise<string>;
  /** The log of an attempt, also if the service has deleted its container but the server has archived it. */
  readLog(
    runId: string,
    of: { readonly step: string; readonly cellIndex: number; readonly attempt: number },
  ): Promise<Uint8Array>;
  /** Has the server delete an ended run; can be repeated. */
  delete(runId: string): Promise<void>;
  act(
    runId: string,
    verb: 'cancel' | 'approve' | 'reject',
    body?: { readonly step: string; readonly by?: string },
  ): Promise<void>;
}

const orderReply = z.object({ url: z.string().default('') });
const listReply = z.object({ runs: z.array(runEntry), nextPageToken: z.string().optional() });
/** The most runs on one page. */
const MAX_PAGE = 100;

async function readPages(
  readPage: (next: { readonly pageToken?: string }) => Promise<z.infer<typeof listReply>>,
): Promise<readonly ServerRun[]> {
  const runs: ServerRun[] = [];
  for (let next: { readonly pageToken?: string } = {}; ; ) {
    const { runs: more, nextPageToken } = await readPage(next);
    runs.push(...more);
    if (nextPageToken === undefined) return runs;
    next = { pageToken: nextPageToken };
  }
}

/** Requests an action. Without a reply, the error says that the server may still do it. */
async function act(api: Pick<ReturnType<HttpConnection['api']>, 'act'>, call: ApiCall): Promise<void> {
  let isOpen = false;
  // Called for each failure after one with which the server may have acted.
  const doneAlready = ({ reason }: ServiceError) => {
    isOpen = true;
    return reason === 'NOT_ASKED' || reason === 'RUN_FINISHED';
  };
  try {
    await api.act(call, { doneAlready });
  } catch (error) {
    throw isOpen && isServiceError(error) ? describeOpen(error) : error;
  }
}

/** The same error, for an action that the server has perhaps done, or still does. */
function describeOpen(error: ServiceError): ServiceError {
  const { message, code } = error;
  return new ServiceError(code, `${message}; the server may still do it: look at the run before you try again`, {
    cause: error,
  });
}

/** The run API of an account on a server. Unknown keys of its replies are ignored. */
export function createRunServer({
  url,
  scope,
  api: open,
}: {
  readonly url: string;
  readonly scope: Scope;
  readonly api: HttpConnection['api'];
}): RunServer {
  const api = open('/api/sluice/v1');
  const account = ['clusters', scope.clusterID, 'accounts', scope.accountID];
  const get = (path: readonly string[], more: Omit<ApiCall, 'method' | 'path'>): ApiCall => ({
    ...{ method: 'GET', path: [...account, ...path] },
    ...more,
  });
  const post = (runId: string, verb: string, body: unknown): ApiCall => ({
    ...{ method: 'POST', path: [...account, 'runs', runId], verb: `:${verb}`, body },
    what: `${verb} run ${runId}`,
  });
  const listPage = (query: { readonly pageSize: number; readonly pageToken?: string }, signal?: AbortSignal) =>
    api.call(get(['runs'], { query, what: `list the runs of ${url}`, signal }), listReply);
  const list = async (pageSize: number, signal?: AbortSignal) => (await listPage({ pageSize }, signal)).runs;
  return {
    url,
    scope,
    async isAvailable(signal) {
      try {
        await list(1, signal);
        return true;
      } catch (error) {
        if (isServiceError(error, 'NOT_FOUND', 'INVALID_REPLY', 'INVALID_ARGUMENT', 'PERMISSION_DENIED')) return false;
        throw error;
      }
    },
    list: (count, signal) => list(Math.min(count, MAX_PAGE), signal),
    listAll: () => readPages((next) => listPage({ pageSize: MAX_PAGE, ...next })),
    async order(runId, body) {
      const call: ApiCall = { method: 'PUT', path: [...account, 'runs', runId], body, what: `order run ${runId}` };
      return (await api.call(call, orderReply)).url;
    },
    readPlan: (runId) => api.bytes(get(['runs', runId, 'plan-file'], { what: `read the plan of run ${runId}` })),
    readJournal: (runId, offset, signal) =>
      api.bytes(
        get(['runs', runId, 'journal'], { query: { offset }, what: `read the journal of run ${runId}`, signal }),
      ),
    readLog: (runId, query) => api.bytes(get(['runs', runId, 'log'], { query, what: `read the log of run ${runId}` })),
    delete: (runId) => api.act({ method: 'DELETE', path: [...account, 'runs', runId], what: `delete run ${runId}` }),
    act: (runId, verb, body) => act(api, post(runId, verb, body ?? {})),
  };
}
