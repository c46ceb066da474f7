import { runCommandLine } from './command-line/run-command-line.ts';
import { EXIT_CODE } from './context/exit-code.ts';
import { createTerminal } from './context/terminal.ts';

// If the process runs out of work before the command has answered, that is not a success.
process.exitCode = EXIT_CODE.runFailed;
const terminal = createTerminal(process, process.env);
const answered = runCommandLine(process.argv.slice(2), {
  terminal,
  env: process.env,
  cwd: workingDirectory(),
  onSignal: (signal, listener) => {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
  exit: (code) => process.exit(code),
});
void answered.then(async (exitCode) => {
  await terminal.flush();
  const fault = terminal.fault();
  if (fault !== undefined) terminal.err(`sluice: could not write all of the output: ${fault.message}`);
  // An open log follower or idle connection must not keep the process alive.
  process.exit(fault !== undefined && exitCode === EXIT_CODE.ok ? EXIT_CODE.runFailed : exitCode);
});

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    terminal.err('sluice: could not use the working directory: it no longer exists; change to another directory');
    process.exit(EXIT_CODE.rejected);
  }
}
