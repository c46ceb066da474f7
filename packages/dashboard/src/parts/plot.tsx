import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { messageFor } from '../api/fetch-reply.ts';
import { readPalette } from '../draw/palette.ts';

/** Points by ascending x. */
export interface PlotProps {
  readonly points: readonly { readonly x: number; readonly y: number; readonly label: string }[];
  /** The texts that the numbers on the x axis stand for. */
  readonly texts: readonly string[] | undefined;
  readonly xName: string;
  readonly yName: string;
}

const HEIGHT = 280;
const MAX_LABEL = 12;

/** A plot of points, drawn by a library that is loaded with the first plot. The table beside it has the same values. */
export function Plot(props: PlotProps) {
  const { points, xName, yName } = props;
  const box = useRef<HTMLDivElement>(null);
  const [error, setError] = useState<string>();
  useEffect(() => {
    const element = box.current!;
    let plot: uPlot | undefined;
    let isClosed = false;
    const resize = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }));
    const theme = matchMedia('(prefers-color-scheme: dark)');
    const draw = () => {
      import('uplot').then(
        ({ default: Plotter }) => {
          if (isClosed) return;
          plot?.destroy();
          plot = new Plotter(
            optionsFor(props, element.clientWidth),
            [points.map(({ x }) => x), points.map(({ y }) => y)],
            element,
          );
        },
        (thrown) => setError(messageFor(thrown)),
      );
    };
    draw();
    resize.observe(element);
    theme.addEventListener('change', draw);
    return () => {
      isClosed = true;
      resize.disconnect();
      theme.removeEventListener('change', draw);
      plot?.destroy();
    };
  }, [JSON.stringify(points), xName, yName]);
  const label = `${yName} by ${xName}, ${points.length} points; the table has the values`;
  return error === undefined ? (
    <div ref={box} class="plot" role="img" aria-label={label} />
  ) : (
    <p class="bad">{error}</p>
  );
}

function optionsFor({ points, texts, xName, yName }: PlotProps, width: number): uPlot.Options {
  const { ink, line, accent } = readPalette();
  const nameOf = (x: number) => texts?.[x] ?? '';
  const axis = { stroke: ink, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return {
    ...{ width, height: HEIGHT },
    scales: { x: { time: false, range: (_, min, max) => widen(min, max) } },
    cursor: { drag: { x: true, y: true } },
    axes: [
      {
        ...{ ...axis, label: xName },
        ...(texts && {
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
          values: (_: uPlot, splits: number[]) => splits.map((x) => nameOf(x).slice(0, MAX_LABEL)),
        }),
      },
      { ...axis, label: yName },
    ],
    series: [
      { label: xName, value: (...[, x, , index]) => pointLabel(index === null ? undefined : points[index], nameOf(x)) },
      { label: yName, stroke: accent, paths: () => null, points: { show: true, size: 7, fill: accent } },
    ],
  };
}

function pointLabel(point: PlotProps['points'][number] | undefined, text: string): string {
  if (point === undefined) return '–';
  return text === '' || text === point.label ? `${text || point.x} (${point.label})` : `${text} (${point.label})`;
}

/** Points at the edge of the plot would be cut. */
function widen(min: number, max: number): [number, number] {
  const margin = (max - min) / 20 || 1;
  return [min - margin, max + margin];
}
