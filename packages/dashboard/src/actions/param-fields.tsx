import type { PipelineList } from '@sluice/host';

/** A parameter to be given a value. */
export type ParamField = Pick<PipelineList['pipelines'][number]['params'][number], 'name' | 'enum' | 'description'> & {
  readonly type?: string;
  /** The value without a change, as text; undefined if there is none. */
  readonly initial: string | undefined;
};

/** Values of parameters as texts, by name. */
export type ParamValues = ReadonlyMap<string, string>;

interface ParamFieldsProps {
  readonly fields: readonly ParamField[];
  /** The changed values, by name. */
  readonly values: ParamValues;
  readonly onChange: (values: ParamValues) => void;
}

/** Fields for parameters. Values are texts, as after `-p NAME=`. */
export function ParamFields({ fields, values, onChange }: ParamFieldsProps) {
  const change = (name: string, text: string, initial: string | undefined) => {
    const changed = new Map(values);
    if (text === (initial ?? '')) changed.delete(name);
    else changed.set(name, text);
    onChange(changed);
  };
  return (
    <div class="fields">
      {fields.map(({ name, type, initial, enum: choices, description }) => {
        const value = values.get(name) ?? initial ?? '';
        return (
          <div key={name}>
            <label for={`param-${name}`}>
              {name} {type !== undefined && <span class="soft">{type}</span>}
            </label>
            {choices === undefined ? (
              <input
                id={`param-${name}`}
                value={value}
                placeholder={initial === undefined ? 'required' : ''}
                onInput={(event) => change(name, event.currentTarget.value, initial)}
              />
            ) : (
              <select
                id={`param-${name}`}
                value={value}
                onChange={(event) => change(name, event.currentTarget.value, initial)}
              >
                {initial === undefined && <option value="">required</option>}
                {choices.map(textOf).map((choice) => (
                  <option key={choice}>{choice}</option>
                ))}
              </select>
            )}
            {description !== undefined && <small class="soft">{description}</small>}
          </div>
        );
      })}
    </div>
  );
}

/** A value as it is written after `-p NAME=`. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
