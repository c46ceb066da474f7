import { z } from 'zod';
import { describeClusters } from '../runs/describe-clusters.ts';
import { openPage, pageFrom, pageQuery } from '../runs/page-query.ts';
import { clusterList } from '../schemas/cluster-replies.ts';
import { pipelineList } from '../schemas/pipeline-replies.ts';
import { type ApiRoute, defineRoute } from './api-route.ts';
import { serviceOf } from './run-api.ts';

/** The endpoints about the home as a whole. */
export const HOME_ROUTES: readonly ApiRoute[] = [
  defineRoute({
    operationId: 'listClusters',
    summary: 'The clusters of the service of the newest run, and the pools of the home, with their load',
    ...{ method: 'GET', path: '/clusters' },
    query: z.strictObject({}),
    reply: clusterList,
    handle: ({ api }) => describeClusters({ ...api, openService: (runId) => serviceOf(api, runId) }),
  }),
  defineRoute({
    operationId: 'listPipelines',
    summary: 'The pipeline files of the project that contains the home, with their parameters',
    ...{ method: 'GET', path: '/pipelines' },
    query: z.strictObject({ ...pageQuery }),
    reply: pipelineList,
    async handle({ api, query }) {
      const all = (await api.executor?.listPipelines()) ?? [];
      const { shown, next } = pageFrom(all, openPage('pipelines', query));
      return { pipelines: shown, ...next };
    },
  }),
];
