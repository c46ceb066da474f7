import type { Result } from '@sluice/core';
import { ANSWER_MS, type Disk } from '@sluice/home';
import type { RunError } from '@sluice/run';
import { createEvidenceReader } from './journal-evidence.ts';
import type { SimulatedRun, World } from './live-run.ts';
import type { PersonRequest } from './person-request.ts';
import { createProcess } from './simulated-process.ts';

/** The name of the approval step. */
export const ASKING_STEP = 'ask';
/** From then on, the user answers without further incidents until the answer is accepted. */
const ANSWERED_AFTER_MS = 25 * 60_000;
const ANSWERED_AGAIN_MS = 60_000;

type Outcome = 'done' | 'open' | 'failed';

/** What the clients return for an answer, a cancellation and a suspension. */
type RequestResult = { readonly isApplied: boolean } | { readonly isExecuted: boolean } | boolean;

/** A request, and its outcome as far as it is known. */
interface SentRequest {
  readonly by: string;
  /** The outcome that the client has reported to the user. */
  reported?: Outcome;
  isAccepted?: boolean;
  /** The client has reported that the journal contains it. */
  isConfirmed?: boolean;
}

/** Sends the requests of a run's script. At the end of the run, `check` compares the journal with the reported outcomes. */
export function sendRequests(world: World, run: SimulatedRun): { readonly check: () => void } {
  const { clock, violations } = world;
  const sent: SentRequest[] = [];
  const start = (request: PersonRequest, number: number) => {
    const known: SentRequest = { by: `person ${number}` };
    sent.push(known);
    return send(world, run, { ...request, known }).catch(
      (error: Error) => void violations.push(`thrown: ${error.stack}`),
    );
  };
  const requests = run.script.requests ?? [];
  for (const [number, request] of requests.entries()) {
    clock.setTimer(clock.now() + request.afterMs, () => void start(request, number));
  }
  if (run.script.steps.some(({ asks }) => asks)) {
    void answerAtLast(world, run, () => start({ verb: 'approve', afterMs: 0, stoppedMs: 0 }, sent.length));
  }
  return { check: () => checkJournal(world, run, sent) };
}

async function answerAtLast({ clock }: World, run: SimulatedRun, answer: () => Promise<void>): Promise<void> {
  await clock.delay(ANSWERED_AFTER_MS);
  while (!run.isFinished) {
    await answer();
    await clock.delay(ANSWERED_AGAIN_MS);
  }
}

async function send(
  world: World,
  run: SimulatedRun,
  { verb, known, ...request }: PersonRequest & { readonly known: SentRequest },
): Promise<void> {
  const { clock, runner, violations } = world;
  if (run.isFinished) return;
  const { runId, clients } = run;
  const { by } = known;
  const client = createProcess({
    ...world,
    service: world.service.service,
    disk: delayRequests(world, run, { ...request, known }),
  });
  clients.push(client);
  const options = { home: '/home', runId, by, disk: client.disk, clock: client.clock };
  const ask = (): Promise<Result<RequestResult, RunError>> => {
    if (verb === 'cancel') return runner.requestCancel(options);
    if (verb === 'suspend') return runner.suspendRun(options);
    return runner.approveRun('/home', { runId, step: ASKING_STEP, approved: verb === 'approve', by }, options);
  };
  const result = await Promise.race([ask(), client.died]);
  if (result === undefined) return;
  known.reported = result.ok ? 'done' : isOpen(result.error.message) ? 'open' : 'failed';
  known.isConfirmed = result.ok && isRecorded(world, result.value);
  if (known.reported === 'failed' && known.isAccepted) {
    violations.push(`${verb} of ${by} was carried out before it was reported as failed: ${JSON.stringify(result)}`);
  }
  clock.defer(() => client.kill());
}

/** A run that waits for its concurrency group keeps its cancellation only in memory. */
function isRecorded({ scenario }: World, value: RequestResult): boolean {
  if (typeof value === 'boolean') return false;
  return 'isApplied' in value || (value.isExecuted && scenario.group === undefined);
}

function isOpen(message: string): boolean {
  return message.includes('it is not known whether') || message.includes('may still');
}

/** The disk of a process whose requests reach one that is stopped, or whose replies are lost. */
function delayRequests(
  { disk, clock, violations }: World,
  run: SimulatedRun,
  { stoppedMs, losesReply, known }: Omit<PersonRequest, 'verb'> & { readonly known: SentRequest },
): Disk {
  const ask: Disk['ask'] = async (directory, line) => {
    if (line === '' || (await disk.ask(directory, '')) === undefined) return disk.ask(directory, line);
    const receiver = run.processes.at(-1);
    const isReceived = () => receiver?.alive === true && run.processes.at(-1) === receiver;
    const answered = clock.delay(stoppedMs).then(async () => {
      // A connection ends with the process that accepted it.
      const answer = isReceived() ? await disk.ask(directory, line) : '';
      if (answer === 'ok') known.isAccepted = true;
      if (answer === 'ok' && known.reported) {
        violations.push(`${line.slice(line.indexOf('{'))} was carried out after it was reported as ${known.reported}`);
      }
      return answer;
    });
    if (stoppedMs < ANSWER_MS && losesReply !== true) return answered;
    await clock.delay(ANSWER_MS);
    return '';
  };
  return { ...disk, ask };
}

/** Checks that the journal contains every request that was confirmed, and none that was reported as failed. */
function checkJournal({ disk, violations }: World, run: SimulatedRun, sent: readonly SentRequest[]): void {
  const { records } = createEvidenceReader(disk, `${run.directory}/journal.ndjson`)();
  const recorded = new Set(
    records.flatMap((record) => (record.kind === 'event' && 'by' in record.event ? record.event.by : [])),
  );
  for (const { by, isConfirmed } of sent) {
    if (isConfirmed && !recorded.has(by))
      violations.push(`a request of ${by} was confirmed, and is not in the journal`);
  }
  const failed = new Set(sent.filter(({ reported }) => reported === 'failed').map(({ by }) => by));
  for (const record of records) {
    if (record.kind !== 'event' || !('by' in record.event) || !failed.has(record.event.by)) continue;
    violations.push(`${record.event.type} of ${record.event.by} is in the journal, and was reported as failed`);
  }
}
