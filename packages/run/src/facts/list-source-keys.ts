import type { VolumePlace } from '../records/journal-record.ts';

/** The uploaded sources among a run's volumes, each as `<volume>/<digest>`. */
export function listSourceKeys(volumes: Readonly<Record<string, VolumePlace>>): string[] {
  return Object.values(volumes).flatMap(({ volumeID, path }) => {
    const digest = /^sources\/([^/]+)\//.exec(path)?.[1];
    return digest === undefined ? [] : [`${volumeID}/${digest}`];
  });
}
