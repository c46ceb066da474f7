import type { RawStep } from '../schema/step-schema.ts';
import { besideFile } from './beside-file.ts';

/** The kinds of environments, which are also the keys of a step and the names of the input and the output. */
export const ENVIRONMENT_KINDS = ['venv', 'conda'] as const;

/** An environment of a step: its programs, made from a file that lists packages. */
export interface Environment {
  readonly kind: (typeof ENVIRONMENT_KINDS)[number];
  /** As written. */
  readonly file: string;
}

interface Recipe {
  /** Where it is made and mounted: its programs contain this path. */
  readonly path: string;
  /** The variable by which other programs recognize it. */
  readonly variable: string;
  /** A script that makes it at `$1` from the file `$2`. */
  readonly make: string;
}

/** How environments are made and entered. */
export const RECIPES: Readonly<Record<Environment['kind'], Recipe>> = {
  venv: {
    path: '/opt/venv',
    variable: 'VIRTUAL_ENV',
    make: 'python3 -m venv "$1"\n"$1/bin/python" -m pip --disable-pip-version-check install --no-cache-dir -r "$2"',
  },
  conda: {
    path: '/opt/conda-env',
    variable: 'CONDA_PREFIX',
    make: 'conda env create --quiet --prefix "$1" --file "$2"',
  },
};

/** The environment of a step with `defaults` applied. If a faulty file has two, the first. */
export function environmentOf(step: RawStep): Environment | undefined {
  for (const kind of ENVIRONMENT_KINDS) {
    const file = step[kind];
    if (file !== undefined) return { kind, file };
  }
  return undefined;
}

/** A step of the file `uses`, whose environment is made from a file relative to that one. */
export function besideEnvironment(step: RawStep, uses: string): RawStep {
  const environment = environmentOf(step);
  return environment === undefined ? step : { ...step, [environment.kind]: besideFile(uses, environment.file) };
}

/** It is read-only, so Python does not try to write bytecode beside its modules. */
const ENTER = 'export "$2=$1" "PATH=$1/bin:$PATH" PYTHONDONTWRITEBYTECODE=1\nshift 2\nexec "$@"';

/** The argv that runs `command` with the programs of the environment first in `PATH`. */
export function commandInEnvironment({ kind }: Environment, command: readonly string[]): readonly string[] {
  const { path, variable } = RECIPES[kind];
  return ['sh', '-c', ENTER, 'sh', path, variable, ...command];
}
