import { useEffect } from 'preact/hooks';
import { runLook } from '../model/statuses.ts';
import type { LiveRun } from './open-run.ts';
import type { Route } from './route.ts';
import { useStore } from './use-store.ts';

const SIZE = 32;

/** The title and the icon of the tab: the pipeline, what is shown of it, and the status of the run. */
export function useRunTitle(run: LiveRun, { path }: Route): void {
  useStore(run);
  const { status } = run;
  const pipeline = run.details?.pipeline;
  const [, , section, step, , cell] = path;
  const part = section === 'steps' && step !== undefined ? ` / ${[step, cell].filter(Boolean).join(' / ')}` : '';
  useEffect(() => {
    if (status === undefined || pipeline === undefined) return;
    document.title = `${runLook(status).mark} ${pipeline}${part} ${status} · Sluice`;
  }, [status, pipeline, part]);
  useEffect(() => (status === undefined ? undefined : showIcon(runLook(status))), [status]);
}

/** Draws a circle in the color of the status as the icon of the tab, until the returned function is called. */
function showIcon({ tone }: { readonly tone: string }): () => void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  const before = link?.href ?? '';
  const probe = document.body.appendChild(document.createElement('i'));
  probe.className = `tone-${tone}`;
  const color = getComputedStyle(probe).getPropertyValue('--tone');
  probe.remove();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SIZE;
  const drawing = canvas.getContext('2d');
  let url: string | undefined;
  let isReplaced = false;
  if (drawing !== null && link !== null) {
    drawing.fillStyle = color;
    drawing.arc(SIZE / 2, SIZE / 2, SIZE / 2 - 2, 0, 2 * Math.PI);
    drawing.fill();
    canvas.toBlob((blob) => {
      if (blob === null || isReplaced) return;
      url = URL.createObjectURL(blob);
      link.href = url;
    });
  }
  return () => {
    isReplaced = true;
    if (link !== null && url !== undefined) link.href = before;
    if (url !== undefined) URL.revokeObjectURL(url);
  };
}
