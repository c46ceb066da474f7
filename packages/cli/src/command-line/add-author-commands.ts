import { type AddCommand, DEFAULT_FILE } from './add-command.ts';
import { fileOptions, reuseOptions } from './command-options.ts';

/** Adds the commands for authors of pipelines. `addOfHome` adds those that need a home. */
export function addAuthorCommands(add: AddCommand, addOfHome: AddCommand): void {
  add({
    usage: 'check [file]',
    description: `check a pipeline file and show all errors (default: ${DEFAULT_FILE})`,
    options: fileOptions(),
    load: async (file = DEFAULT_FILE) => {
      const { check } = await import('../commands/check.ts');
      return (context, options) => check(file, context, options);
    },
  });
  addOfHome({
    usage: 'plan [file]',
    description: `show what a run would do; start nothing (default: ${DEFAULT_FILE})`,
    options: [...fileOptions(), ...reuseOptions()],
    load: async (file = DEFAULT_FILE) => {
      const { plan } = await import('../commands/plan.ts');
      return (context, options) => plan(file, context, options);
    },
  });
  add({
    usage: 'schema [type]',
    description: 'print the JSON Schema of a file or of a value that --json prints (default: list the names)',
    load: async (type) => {
      const { schema } = await import('../commands/schema.ts');
      return (context) => schema(type, context);
    },
  });
}
