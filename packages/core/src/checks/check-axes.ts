import { impliedAxes } from '../axes/implied-axes.ts';
import { own } from '../model/own.ts';
import type { Path } from '../parse/source-document.ts';
import type { Check, CheckContext } from './check-context.ts';
import { suggestName } from './nearest-name.ts';

/** Every axis names only axes that exist, and none implies itself. */
export const checkAxes: Check = (context) => {
  const { pipeline, report } = context;
  const { axes } = pipeline;
  if (axes === undefined) return;
  const names = Object.keys(axes);
  const checkName = (axis: string, path: Path, what: string): void => {
    if (Object.hasOwn(axes, axis)) return;
    const message = `${what} \`${axis}\`, which is not an axis of the pipeline`;
    report({ code: 'unknown-axis', message, path, lookedIn: ['axes'], ...suggestName(axis, names) });
  };
  for (const [name, { distinct, of, files }] of Object.entries(axes)) {
    if (files !== undefined) checkFiles(context, name, files.volume);
    if (distinct !== undefined) checkName(distinct.axis, ['axes', name, 'distinct'], `axis \`${name}\` has values of`);
    for (const axis of Object.keys(of))
      checkName(axis, ['axes', name, 'of', axis], `an item of axis \`${name}\` implies`);
  }
  const implied = impliedAxes(pipeline);
  for (const name of names) {
    if (!implied.get(name)!.has(name)) continue;
    const others = names.filter(
      (axis) => axis !== name && implied.get(name)!.has(axis) && implied.get(axis)!.has(name),
    );
    const way = others.length === 0 ? '' : `, through ${others.map((axis) => `\`${axis}\``).join(' and ')}`;
    report({
      code: 'cycle',
      message: `an item of axis \`${name}\` implies one of itself${way}`,
      path: ['axes', name],
      on: 'key',
    });
  }
};

/** Files are listed when a run is planned: only local ones can be. */
function checkFiles({ pipeline, report }: CheckContext, axis: string, name: string): void {
  const path = ['axes', axis, 'items', 'files'];
  const volume = own(pipeline.volumes, name);
  if (volume === undefined) {
    const message = `axis \`${axis}\` has the files of volume \`${name}\`, which does not exist`;
    report({
      code: 'unknown-volume',
      message,
      path,
      lookedIn: ['volumes'],
      ...suggestName(name, Object.keys(pipeline.volumes)),
    });
  } else if (volume.source === undefined) {
    const message = `axis \`${axis}\` has the files of volume \`${name}\`, which has no \`source\`, so they are not known before the run`;
    report({ code: 'bad-axis', message, path, hint: 'let a step list them, as a result' });
  }
}
