import { DIALECT_SCENARIOS } from './dialect-scenarios.ts';
import type { PlantedBug } from './planted-bugs.ts';

const within = DIALECT_SCENARIOS;

/** Ways not to get on with a service whose lists or replies are peculiar. */
export const PLANTED_REPLY_BUGS: readonly PlantedBug[] = [
  {
    name: 'learns nothing where the list fails',
    file: 'watch/poll-account.ts',
    find: "!(await checkEach(account, due))) return 'all';",
    replace: "due.length > 0) return 'all';",
    within,
  },
  {
    name: 'keeps to itself that the list fails',
    file: 'watch/poll-account.ts',
    find: 'if (choice.managedAlone()) warnOfLists(live, scope, error);',
    replace: 'choice.managedAlone();',
    within,
  },
  {
    name: 'never asks for the list of everything',
    file: 'watch/list-choice.ts',
    find: '    isAll = true;\n',
    replace: '',
    within,
  },
  {
    name: 'waits for ever for what no list can show to be lost',
    file: 'watch/lost-container.ts',
    find: "return missing.found === 'nothing' && missing.lasted >= session.absenceLimit.ms * LONGER_WITHOUT_LIST;",
    replace: 'return missing.lasted < LONGER_WITHOUT_LIST * 0;',
    within,
  },
  {
    name: 'says nothing of a phase that it does not know',
    file: 'watch/observe-container.ts',
    find: '  warnOfPhase(session, attempt, seen);\n',
    replace: '',
    within,
  },
  {
    name: 'says nothing of replies that it cannot read',
    file: 'watch/check-container.ts',
    find: '    if (isServiceError(error)) noteUnanswered(session, attempt, error);\n',
    replace: '',
    within,
  },
  {
    name: 'warns of each container whose replies it cannot read',
    file: 'watch/warn-of-replies.ts',
    find: "error.message.replaceAll(attempt.ref.id, '')",
    replace: 'error.message',
    within,
  },
  {
    name: 'takes a reply that it cannot read for a service that is away',
    file: 'watch/check-container.ts',
    find: 'else polls.answered();',
    replace: 'else polls.failed(error);',
    within,
  },
  {
    name: 'adopts nothing where the list fails',
    file: 'watch/find-run-containers.ts',
    find: '    return possible;\n',
    replace: '    throw error;\n',
    among: ({ dialect, runs }) =>
      dialect.list !== 'works' && runs.some(({ mishaps }) => mishaps.some(({ kind }) => kind === 'lose')),
  },
  {
    name: 'takes a run without a journal for one that never began',
    seed: 82,
    file: 'run/resume-run.ts',
    find: 'return fail(await rejectUnbegun(options, given));',
    replace: "return fail({ code: rejectUnbegun ? 'RUN_NOT_FOUND' : 'JOURNAL_LOST', message: 'it had not begun' });",
    among: ({ resumesLost }) => resumesLost === true,
  },
  {
    name: 'asks for the containers of a run without a journal, and does not look at the answer',
    seed: 347,
    file: 'run/reject-unbegun.ts',
    find: 'if (found.length > 0)',
    replace: 'if (found.length < 0)',
    among: ({ resumesLost }) => resumesLost === true,
  },
];
