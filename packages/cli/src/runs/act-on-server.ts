import { withService } from '../connect/with-service.ts';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { EXIT_CODE } from '../context/exit-code.ts';
import { reject } from '../context/reject.ts';

/** An action on a run that a server executes. */
interface ServerAction {
  readonly runId: string;
  readonly verb: 'cancel' | 'approve' | 'reject';
  readonly step?: string;
}

/** Requests an action of the server, which does it as soon as it can, and prints the result. */
export function actOnServer(
  { runId, verb, step }: ServerAction,
  { context, options, print }: { context: CommandContext; options: GlobalOptions; print: () => number },
): Promise<number> {
  return withService({ context, options }, async ({ runServer }) => {
    const message = `could not ${verb} run ${runId}: the service executes no runs`;
    if (runServer === undefined) return reject({ exitCode: EXIT_CODE.rejected, message }, { context, options });
    await runServer.act(runId, verb, step === undefined ? undefined : { step });
    return print();
  });
}
