import { replaceQuery } from '../live/route.ts';

interface Choice {
  readonly label: string;
  /** The parameter of the address that is set while the box is checked, and its value. */
  readonly name: string;
  readonly value: string;
  readonly isChecked: boolean;
}

/** A checkbox whose state is in the address. */
export function QueryCheckbox({ label, name, value, isChecked }: Choice) {
  return (
    <label>
      <input
        type="checkbox"
        checked={isChecked}
        onChange={(event) => replaceQuery({ [name]: event.currentTarget.checked ? value : undefined })}
      />
      {label}
    </label>
  );
}
