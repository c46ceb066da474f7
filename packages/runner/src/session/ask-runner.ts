import {
  ANSWER_MS,
  type Clock,
  createDeadline,
  type Disk,
  describeUnanswered,
  enteringDirectory,
  OTHER_LEASE,
  readLease,
  sleep,
} from '@sluice/home';
import type { BootTime } from '@sluice/run';
import type { ControlRequest, SentRequest } from './control-request.ts';
import { RESUMING } from './control-run.ts';

const PAUSE_MS = 50;
/** A process that resumes a run for longer than this waits for something, such as its concurrency group. */
export const RESUME_MS = 10_000;

/**
 * Sends a request to the living runner of a run, or to the process that waits for the run's concurrency group. Returns `ok`
 * or the reason for rejecting it; undefined if no process has the run. A request without a reply expires, so that it has no effect
 * after this function has returned.
 */
export async function askRunner(
  { disk, clock }: { readonly disk: Disk; readonly clock: Clock },
  directory: string,
  request: ControlRequest,
): Promise<string | undefined> {
  let lease = await readLease(disk, directory);
  let before: BootTime | undefined;
  const render = () => {
    before = createDeadline(clock, ANSWER_MS);
    const sent: SentRequest = { ...request, ...(before && { before }) };
    return `${lease?.control ?? ''} ${JSON.stringify(sent)}`;
  };
  const ask = async () =>
    (await disk.ask(directory, render())) ?? (await disk.ask(enteringDirectory(directory), render()));
  const until = clock.now() + ANSWER_MS;
  let answer = await ask();
  // A process that has just taken the run does not listen yet, and one that has just left it no longer replies.
  while ((answer === '' || answer === OTHER_LEASE) && clock.now() < until) {
    await sleep(clock, PAUSE_MS);
    lease = await readLease(disk, directory);
    answer = await ask();
  }
  if (answer !== '') return answer;
  const who = lease ? `its runner process, ${lease.pid} on ${lease.host},` : 'its runner process';
  return `${who} ${describeUnanswered(before)}; look at the run, then try again or end that process: the containers keep running`;
}

/** As `askRunner`, but gives a process that is resuming the run the time for it. */
export async function askResumedRunner(...asked: Parameters<typeof askRunner>): Promise<string | undefined> {
  const [{ clock }] = asked;
  const until = clock.now() + RESUME_MS;
  let answer = await askRunner(...asked);
  while (answer === RESUMING && clock.now() < until) {
    await sleep(clock, PAUSE_MS);
    answer = await askRunner(...asked);
  }
  return answer;
}
