import { fail, ok, type Result, SluiceError } from '@sluice/core';
import {
  createSystemDisk,
  findRunId,
  listRunIds,
  placeOf,
  readCustody,
  runCustody,
  type ServerPlace,
} from '@sluice/home';
import type { RunError } from '@sluice/run';
import { chooseService } from '../connect/choose-service.ts';
import { copyFromServer } from '../runs/copy-from-server.ts';
import { openAsCommand, prepareOwnHome, runServerOf, type ServiceChoice } from './connection.ts';
import { attempt, type SluiceErrorCode } from './error-code.ts';
import { homeOf } from './home-of.ts';
import { createProgramContext } from './program-context.ts';

/** A run that a program names. */
export interface FoundRun {
  readonly home: string;
  /** The whole ID. */
  readonly runId: string;
  /** The server that executes the run, or has executed it; undefined: this home does. */
  readonly place: ServerPlace | undefined;
}

type Rejection = RunError | SluiceError<SluiceErrorCode>;

/**
 * The run of the home; one that it does not have is copied from the server of the given or chosen service. `runId` may be
 * shortened.
 */
export async function findRun(runId: string, choice: ServiceChoice): Promise<Result<FoundRun, Rejection>> {
  const home = homeOf(choice);
  const found = await findRunId(createSystemDisk(), home, runId);
  if (found.ok) return describe(home, found.value);
  const isAmbiguous = (await listRunIds(createSystemDisk(), home)).some((id) => id.startsWith(runId));
  if (isAmbiguous) return found;
  const copied = await attempt(() => copyRun(runId, choice));
  if (!copied.ok) return copied;
  return copied.value === undefined ? found : describe(home, copied.value);
}

async function describe(home: string, runId: string): Promise<Result<FoundRun, never>> {
  return ok({ home, runId, place: placeOf(await readCustody(runCustody(home, runId))) });
}

async function copyRun(prefix: string, choice: ServiceChoice): Promise<Result<string | undefined, Rejection>> {
  const { profile, service } = choice;
  if (service === undefined && !choosesService(choice)) return ok(undefined);
  const home = await prepareOwnHome(choice.home);
  if (!home.ok) return home;
  const opened = service ? ok(service) : await openAsCommand({ home: choice.home, profile });
  if (!opened.ok) return opened;
  try {
    const server = runServerOf(opened.value);
    if (server === undefined) return ok(undefined);
    const copied = await copyFromServer({ home: home.value, prefix, server, profile });
    if (copied.ok) return copied;
    return fail(new SluiceError('SYSTEM', `could not copy run ${prefix} from ${server.url}: ${copied.error}`));
  } finally {
    if (service === undefined) await opened.value.close();
  }
}

/** Whether a profile or a variable names a service. A given profile that cannot be used does, too: opening it says why. */
function choosesService({ home, profile }: ServiceChoice): boolean {
  const options = { ...(home !== undefined && { home }), ...(profile !== undefined && { profile }) };
  const chosen = chooseService(options, createProgramContext());
  return chosen.ok ? chosen.value.url !== undefined : profile !== undefined;
}
