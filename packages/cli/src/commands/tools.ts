import { z } from 'zod';
import type { CommandContext, GlobalOptions } from '../context/command-context.ts';
import { captureCommand } from './capture-command.ts';
import { checkFile } from './check-file.ts';
import { clipOutput } from './clip-output.ts';
import { printReport } from './print-report.ts';
import { runs } from './runs.ts';
import { show } from './show.ts';

/** A command that an assistant can call. It changes no run. */
interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly call: (input: unknown, given: CallOptions) => Promise<ToolResult>;
}

/** What every tool call depends on; `options` are those of the server. */
interface CallOptions {
  readonly context: CommandContext;
  readonly options: GlobalOptions;
}

/** The output of a tool. A failed command is a result too, so that an assistant can read why. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

const MAX_TAIL = 1_000;
/** A log has any size. */
const MAX_LOG_CHARACTERS = 1_000_000;

const run = z.string().optional().describe('the ID of a run or its beginning (default: the newest run)');
const step = z.string().describe('the name of a step, or STEP/CELL');
const line = z.int().min(1).default(1).describe('the first line to return; long outputs have pages');

/** The tools, in the order in which they are listed. */
export const TOOLS: readonly Tool[] = [
  defineTool({
    name: 'runs',
    description: 'List the runs, newest first, with their status.',
    input: z.strictObject({ line }),
    act: (_, { context, options }) => runs(context, options),
  }),
  defineTool({
    name: 'show',
    description: 'Show a run: its steps, failures with the ends of their logs, results and files.',
    input: z.strictObject({ run, line }),
    act: (input, { context, options }) => show(input.run, context, options),
  }),
  defineTool({
    name: 'why',
    description:
      'Explain a step: why it waits, failed, was skipped, was retried or was not reused, with all attempts; or why it differs from that of another run.',
    input: z.strictObject({
      ...{ step, run },
      against: z
        .string()
        .optional()
        .describe('compare with the step of this run: the ID of a run or its beginning, or `previous`'),
      line,
    }),
    act: async (input, { context, options }) => {
      const { why } = await import('./why.ts');
      const { against } = input;
      return why(input.step, context, { ...options, ...select(input), ...(against !== undefined && { against }) });
    },
  }),
  defineTool({
    name: 'logs',
    description: 'Read the end of the log of a container.',
    input: z.strictObject({
      ...{ step, run },
      attempt: z.int().min(1).optional().describe('the attempt (default: the last)'),
      tail: z.int().min(1).max(MAX_TAIL).default(100).describe('the number of lines'),
    }),
    act: async ({ tail, attempt, ...input }, { context, options }) => {
      const { logs } = await import('./logs.ts');
      return logs(input.step, context, {
        ...options,
        ...select(input),
        tail,
        ...(attempt !== undefined && { attempt }),
      });
    },
  }),
  defineTool({
    name: 'report',
    description:
      'Read all data of a run as JSON: parameters, every attempt with its times, the critical path and the use of instances.',
    input: z.strictObject({ run, line }),
    act: (input, given) => printReport(input.run, given),
  }),
  defineTool({
    name: 'check',
    description: 'Check a pipeline file in the working directory; returns all errors with their positions.',
    input: z.strictObject({
      file: z.string().default('pipeline.yaml').describe('its path'),
      params: z.record(z.string(), z.string()).optional().describe('values of its parameters'),
      line,
    }),
    act: ({ file, params }, given) => checkFile(file, { ...given, param: params }),
  }),
];

function select({ run }: { readonly run?: string | undefined }): { readonly run?: string } {
  return run === undefined ? {} : { run };
}

/** A tool that runs a command and returns its output, or the end of it if `tail` is part of its input. */
function defineTool<S extends z.ZodObject>(declared: {
  readonly name: string;
  readonly description: string;
  readonly input: S;
  readonly act: (input: z.output<S>, given: CallOptions) => Promise<number>;
}): Tool {
  const { name, description, input, act } = declared;
  return {
    ...{ name, description, input },
    call: async (value, { context, options }) => {
      const parsed = input.safeParse(value);
      if (!parsed.success) return { text: `could not call ${name}: ${z.prettifyError(parsed.error)}\n`, isError: true };
      const { tail, line = 1 } = parsed.data as { readonly tail?: number; readonly line?: number };
      const captured = captureCommand(context, tail === undefined ? undefined : MAX_LOG_CHARACTERS);
      const exitCode = await act(parsed.data, { context: captured.context, options });
      const part = tail === undefined ? { first: line } : { last: tail };
      return { text: clipOutput(captured.text(), part), isError: exitCode !== 0 };
    },
  };
}
