import { useEffect, useRef } from 'preact/hooks';
import { findAccount } from '../api/server-account.ts';
import { prepareLayout } from '../layout/request-layout.ts';
import { useEndNotice } from '../live/end-notice.ts';
import type { LiveRun } from '../live/open-run.ts';
import { linkTo, type Route, useRoute } from '../live/route.ts';
import { useLiveRun } from '../live/use-live-run.ts';
import { useRunTitle } from '../live/use-run-title.ts';
import { ErrorBoundary } from '../parts/error-boundary.tsx';
import { Note } from '../parts/note.tsx';
import { CellScreen } from './cell-screen.tsx';
import { CompareScreen } from './compare-screen.tsx';
import { DataScreen } from './data-screen.tsx';
import { HomeScreen } from './home-screen.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { RunScreen } from './run-screen.tsx';
import { ScheduleScreen } from './schedule-screen.tsx';
import { StepScreen } from './step-screen.tsx';

/** The dashboard: navigation, and the screen of the current route. */
export function App() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const place = route.path.join('/');
  const account = findAccount(location.href);
  useEffect(() => {
    // That of a run has its status.
    if (route.path[0] !== 'runs')
      document.title = place === '' ? 'Sluice' : `${route.path.slice(1).join(' ') || route.path[0]} · Sluice`;
    scrollTo(0, 0);
  }, [place]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the contents
      </button>
      <nav class="top" aria-label="Main">
        <a class="brand" href={linkTo([])}>
          Sluice
        </a>
        <a href={linkTo([])} aria-current={place === '' ? 'page' : undefined}>
          Runs
        </a>
        <a href={linkTo(['schedules'])} aria-current={route.path[0] === 'schedules' ? 'page' : undefined}>
          Schedules
        </a>
        <a href={linkTo(['compare'])} aria-current={place === 'compare' ? 'page' : undefined}>
          Compare
        </a>
        <KeyboardHelp />
        {account !== undefined && (
          <a class="account" href={account.url} title="All accounts, and logging out">
            {account.name}
          </a>
        )}
      </nav>
      <main ref={main} tabIndex={-1}>
        <ErrorBoundary of={place} what="This screen">
          <Screen route={route} />
        </ErrorBoundary>
      </main>
    </>
  );
}

function Screen({ route }: { route: Route }) {
  const [first, runId] = route.path;
  if (first === undefined) return <HomeScreen route={route} />;
  if (first === 'schedules') return <ScheduleScreen key={runId} route={route} />;
  if (first === 'compare') return <CompareScreen route={route} />;
  if (first === 'runs' && runId !== undefined) return <OfRun key={runId} runId={runId} route={route} />;
  return (
    <>
      <h1 class="hidden">No screen</h1>
      <Note tone="bad">There is no such screen.</Note>
    </>
  );
}

/** The screens of one run share its events. */
function OfRun({ runId, route }: { runId: string; route: Route }) {
  const run = useLiveRun(runId);
  useEffect(prepareLayout, []);
  return run === undefined ? null : <OpenedRun run={run} route={route} />;
}

function OpenedRun({ run, route }: { run: LiveRun; route: Route }) {
  useRunTitle(run, route);
  useEndNotice(run);
  const [, , section, step, third, fourth, fifth, ...rest] = route.path;
  if (section === 'steps' && step !== undefined) {
    if (third !== 'cells') return <StepScreen run={run} route={route} name={step} />;
    return <CellScreen key={`${step}/${fourth}`} run={run} route={route} name={step} cell={Number(fourth)} />;
  }
  if (section === 'data' && step !== undefined && fifth !== undefined && (fourth === 'input' || fourth === 'output')) {
    const port = { kind: fourth, name: fifth } as const;
    return (
      <DataScreen
        key={route.path.join('/')}
        {...{ run, step, port, path: rest, query: route.query }}
        cell={Number(third)}
      />
    );
  }
  return <RunScreen run={run} route={route} />;
}
