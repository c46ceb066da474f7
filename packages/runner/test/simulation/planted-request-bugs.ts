import type { PlantedBug } from './planted-bugs.ts';
import { createCrashesAfterRequest, drawRequestScenario, drawServerScenario } from './request-scenarios.ts';
import type { Scenario } from './scenario.ts';

/** The simulation with these seeds must find each bug. */
const MAX_SEEDS = 200;

function draw(name: string, drawOne: (seed: string) => Scenario): Scenario[] {
  return Array.from({ length: MAX_SEEDS }, (_, seed) => drawOne(`${name}-${seed}`));
}

const REQUESTS = draw('request', drawRequestScenario);
const SERVERS = draw('server', drawServerScenario);

/** Bugs that carry out requests after their clients gave up, or undo a replacement. */
export const PLANTED_REQUEST_BUGS: readonly PlantedBug[] = [
  {
    name: 'carries out a request after its client has given up',
    file: 'session/control-run.ts',
    find: 'if (how?.isAwaited !== true && isLate(request.before, clock)) return LATE;',
    replace: 'void isLate;',
    within: REQUESTS,
  },
  {
    name: 'confirms a request before it is recorded',
    file: 'session/control-run.ts',
    find: "return (await handle.recorded()) ? 'ok' : '';",
    replace: "return 'ok';",
    within: [...createCrashesAfterRequest(60)],
  },
  {
    name: 'waits for its group, and carries out a late request',
    file: 'concurrency/control-entry.ts',
    find: 'if (how?.isAwaited !== true && isLate(request?.before, clock)) return LATE;',
    replace: 'void isLate;',
    within: SERVERS,
  },
  {
    name: 'accepts a request for longer than its client waits',
    file: '../../home/src/control/request-deadline.ts',
    find: 'replyMs * ACCEPTED_SHARE',
    replace: 'replyMs * (1 + ACCEPTED_SHARE)',
    within: REQUESTS,
  },
  {
    name: 'is resumed, and replaces a later run',
    file: 'concurrency/enter-group.ts',
    find: "if (mode !== 'resume' || createdAt === undefined) return true;",
    replace: "if (mode !== 'force' || createdAt === undefined) return true;",
    within: SERVERS,
  },
];
