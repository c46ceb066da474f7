import { Help } from 'commander';
import { ENVIRONMENT_VARIABLES } from '../context/environment-variables.ts';
import { EXIT_CODE_MEANINGS } from '../context/exit-code.ts';
import { listSchemas } from '../json/schema-files.ts';

/** A page of `sluice help TOPIC`. */
interface HelpTopic {
  readonly summary: string;
  /** The paragraphs and tables; called only for this topic. */
  readonly parts: () => readonly (string | Table)[];
  /** Where the documentation has more. */
  readonly page: string;
}

type Table = Readonly<Record<string, string>>;

/** The forms of the command grammar that name something. */
const ADDRESSES: Table = {
  RUN: 'a run, by its ID or the start of its ID',
  STEP: 'a step',
  'STEP/CELL': 'a cell of a step with `matrix` or `foreach`',
  'STEP.OUTPUT': 'an output of a step; of a step with cells, those of all cells',
  'STEP/CELL.OUTPUT': 'an output of one cell',
  'STEP.OUTPUT/PATH': 'a file or directory in an output; only `pull` accepts it',
  OUTPUT: 'an output that the pipeline declares; only `pull` accepts it',
  FILE: 'a pipeline file (default: pipeline.yaml)',
};

/** The topics of `sluice help`, by name. */
export const HELP_TOPICS: ReadonlyMap<string, HelpTopic> = new Map<string, HelpTopic>([
  [
    'environment',
    {
      summary: 'the variables that the command reads',
      parts: () => ['An option precedes its variable.', ENVIRONMENT_VARIABLES],
      page: 'docs/command.md, "Environment variables"',
    },
  ],
  [
    'exit-codes',
    {
      summary: 'what the exit codes mean',
      parts: () => [EXIT_CODE_MEANINGS],
      page: 'docs/command.md, "Exit codes"',
    },
  ],
  [
    'json',
    {
      summary: 'what --json prints',
      parts: () => [
        'With --json, a command prints one JSON value per line on standard output; errors are also printed as text on standard error. Each value begins with `schema`, which is 1, and `type`. `sluice schema TYPE` prints the JSON Schema of a type:',
        listSchemas('values').join(', '),
      ],
      page: 'docs/conventions.md, "JSON contract"',
    },
  ],
  [
    'addresses',
    {
      summary: 'how to name a run, a step, a cell and an output',
      parts: () => [
        'Commands about a run as a whole take it as an argument, those about something inside it with -r RUN.',
        ADDRESSES,
      ],
      page: 'docs/conventions.md, "Command grammar"',
    },
  ],
]);

const WIDTH = 80;

/** The text of a topic. */
export function renderHelpTopic({ parts, page }: HelpTopic): string {
  const texts = parts().map((part) => (typeof part === 'string' ? wrap(part) : renderTerms(part)));
  return `${[...texts, `More: ${page}`].join('\n\n')}\n`;
}

/** The list of the topics, for the end of `sluice --help`. */
export function renderHelpTopics(): string {
  const terms = Object.fromEntries([...HELP_TOPICS].map(([name, { summary }]) => [`help ${name}`, summary]));
  return `\nTopics:\n${renderTerms(terms)}`;
}

function wrap(text: string): string {
  return new Help().boxWrap(text, WIDTH);
}

function renderTerms(terms: Table): string {
  const help = Object.assign(new Help(), { helpWidth: WIDTH });
  const width = Math.max(...Object.keys(terms).map((term) => term.length));
  return Object.entries(terms)
    .map(([term, meaning]) => help.formatItem(term, width, meaning, help))
    .join('\n');
}
