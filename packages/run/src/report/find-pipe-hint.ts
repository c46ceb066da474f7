import { choosesPipefail, type Step } from '@sluice/core';

/** 128 + SIGPIPE, the exit code of shells. */
const ENDED_BY_SIGPIPE = 141;

/** The hint for a command with a pipe that failed because a reader ended before its producer; undefined for others. */
export function findPipeHint({ command }: Pick<Step, 'command'>, exitCode: number | undefined): string | undefined {
  if (exitCode !== ENDED_BY_SIGPIPE || !choosesPipefail(command)) return undefined;
  return 'a program before a pipe was ended by SIGPIPE (141), because the program after it ended first: where that is right, write `(PROGRAM || test $? = 141) | READER`';
}
