import { runCommandLine } from './run-command-line.ts';
import { createTerminal } from './terminal.ts';

const terminal = createTerminal(process, process.env);
const exitCode = await runCommandLine(process.argv.slice(2), {
  terminal,
  env: process.env,
  cwd: process.cwd(),
  onSignal: (signal, listener) => {
    process.on(signal, listener);
    return () => process.off(signal, listener);
  },
  leave: (code) => process.exit(code),
});
await terminal.flush();
// Whatever is still open (a follower of a log, an idle connection) must not hold the command back.
process.exit(exitCode);
