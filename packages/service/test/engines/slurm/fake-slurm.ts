import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the programs have in common; `$0` is in the directory of the state. A job is a line `state|node|uid|name|directory`. */
const COMMON = `state=\${0%/*}
echo "\${0##*/} $*" >>"$state/calls"
option() { for word; do case "$word" in "--$name="*) echo "\${word#*=}" ;; esac; done; }
jobs() { for path in "$state"/jobs/*; do [ ! -f "$path" ] || echo "\${path##*/}|$(cat "$path")"; done; }
set_job() { echo "$2" >"$state/new-$$" && mv "$state/new-$$" "$state/jobs/$1"; }
`;

const PROGRAMS = {
  // As in 22.05: a user that is not known is left out, with an error and exit code 0.
  squeue: `[ ! -e "$state/mute" ] || { echo "squeue: error: Invalid user: 1" >&2; exit 0; }
users=$(name=user option "$@")
for user in $(echo "$users" | tr , ' '); do
  [ ! -e "$state/unknown-$user" ] || echo "squeue: error: Invalid user: $user" >&2
done
jobs | while IFS='|' read -r id status node uid name directory; do
  [ -z "$users" ] || case ",$users," in *",$uid,"*) [ ! -e "$state/unknown-$uid" ] || continue ;; *) continue ;; esac
  mark=\${SQUEUE_FORMAT%%|*}
  echo "$mark|$id|$status|$node|$uid|None$mark;$name$mark;$directory"
done`,
  sbatch: `cat >/dev/null
directory=$(name=chdir option "$@")
: >"$directory/claim"
echo '{"node":"n1","jobId":"'$$'"}' >"$directory/start.json"
set_job $$ "RUNNING|n1|$(id -u)|$(name=job-name option "$@")|$directory"
echo $$`,
  scancel: `wanted=$(name=name option "$@")
for number; do :; done
jobs | while IFS='|' read -r id status node uid name directory; do
  [ "$name $id" != "$wanted $number" ] || set_job "$id" "CANCELLED|$node|$uid|$name|$directory"
done`,
  sinfo: `case "$*" in *%o*) echo "n1|127.0.0.1" ;; *) echo "main*|n1|(null)" ;; esac`,
  scontrol: `[ ! -e "$state/no-settings" ] || { echo "scontrol: error: no answer" >&2; exit 1; }
echo "TaskPlugin              = task/none"`,
} as const;

/** A Slurm of shell scripts, whose jobs all run at once on the node n1 and end only when they are canceled. */
export interface FakeSlurm {
  /** The calls of a program so far, as command lines. */
  calls(program: keyof typeof PROGRAMS): string[];
  /** Makes a fault: `mute`, `no-settings` or `unknown-<user ID>`. */
  fail(fault: string): void;
  mend(fault: string): void;
  remove(): void;
}

/** Engines that are created from now on find these programs in front of Slurm's own, until `remove`. */
export function createFakeSlurm(): FakeSlurm {
  const { PATH = '' } = process.env;
  const state = mkdtempSync(join(tmpdir(), 'sluice-fake-slurm-'));
  mkdirSync(join(state, 'jobs'));
  for (const [program, script] of Object.entries(PROGRAMS))
    writeFileSync(join(state, program), `#!/bin/sh\n${COMMON}${script}\n`, { mode: 0o755 });
  process.env.PATH = `${state}:${PATH}`;
  const calls = join(state, 'calls');
  return {
    calls: (program) => {
      const lines = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n') : [];
      return lines.filter((line) => line.startsWith(`${program} `));
    },
    fail: (fault) => writeFileSync(join(state, fault), ''),
    mend: (fault) => rmSync(join(state, fault)),
    remove() {
      process.env.PATH = PATH;
      rmSync(state, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
