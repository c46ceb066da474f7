/**
 * Loads environment modules, up to `--`, and becomes the rest of its arguments. `/etc/profile`, as a
 * login shell reads it, says what `module` is and where the site has its modules.
 */
const LOAD_MODULES = [
  'if [ -r /etc/profile ]; then . /etc/profile; fi',
  'command -v module >/dev/null 2>&1 || {',
  '  echo "sluice: there are no environment modules here: /etc/profile does not define \\`module\\`, which \\`modules\\` of the step needs" >&2',
  '  exit 127',
  '}',
  'while [ "$1" != -- ]; do',
  '  module load "$1" || {',
  '    echo "sluice: could not load the module $1; \\`module avail\\` lists those of this machine" >&2',
  '    exit 127',
  '  }',
  '  shift',
  'done',
  'shift',
  'exec "$@"',
].join('\n');

/** The argv that loads the modules, in their order, and then runs `command`. */
export function loadModules(modules: readonly string[], command: readonly string[]): readonly string[] {
  return ['sh', '-c', LOAD_MODULES, 'sh', ...modules, '--', ...command];
}
