import { isDeepStrictEqual } from 'node:util';
import { own } from '@sluice/client';
import { isMap, isSeq, parseDocument, stringify, type YAMLMap, type YAMLSeq } from 'yaml';
import { applySplice, type Splice, spliceFieldIn, spliceItemIn, spliceItemOut } from './splice-yaml.ts';

/** Fields of a cluster or an instance type as in the file, unchecked. */
export type ConfigFields = Readonly<Record<string, unknown>>;

/** A change that an operator makes by command. */
export type ConfigEdit =
  | { readonly type: 'addAccount' | 'removeAccount'; readonly clusterID: string; readonly accountID: string }
  | { readonly type: 'addInstanceType'; readonly clusterID: string; readonly fields: ConfigFields }
  | { readonly type: 'removeInstanceType'; readonly clusterID: string; readonly typeId: string }
  | { readonly type: 'addCluster'; readonly fields: ConfigFields }
  | { readonly type: 'removeCluster'; readonly clusterID: string };

/** The edited text, or why the edit was rejected. */
export type EditResult =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/**
 * Applies one edit to the text of a configuration and keeps every other character. Checks only that the edit was applied;
 * `parseServiceConfig` checks whether the result is valid.
 */
export function editConfig(text: string, edit: ConfigEdit): EditResult {
  const document = parseDocument(text, { prettyErrors: false });
  const clusters = document.get('clusters');
  if (document.errors.length > 0 || !isSeq(clusters)) return byHand('it has no readable list of clusters');
  const change = changeOf(edit, { text, clusters });
  if (typeof change === 'string') return { ok: false, message: change };
  const edited = applySplice(text, change.splice);
  const reread = parseDocument(edited, { prettyErrors: false });
  // Anchors, merges and similar features can change the meaning of an edit; such a result is discarded.
  const isMeant = reread.errors.length === 0 && isDeepStrictEqual(reread.toJS(), change.expect(document.toJS()));
  return isMeant ? { ok: true, text: edited } : byHand('it uses YAML features that this command cannot edit');
}

function byHand(why: string): EditResult {
  return { ok: false, message: `could not change the file because ${why}; edit it by hand` };
}

interface Change {
  readonly splice: Splice;
  /** The expected content after the edit. */
  readonly expect: (content: Content) => Content;
}

interface Content {
  clusters: { [field: string]: unknown }[];
}

interface Place {
  readonly text: string;
  readonly clusters: YAMLSeq;
}

function changeOf(edit: ConfigEdit, { text, clusters }: Place): Change | string {
  const ids = clusters.items.map((item) => (isMap(item) ? item.get('id') : undefined));
  if (edit.type === 'addCluster') {
    if (ids.includes(edit.fields.id)) return `cluster ${edit.fields.id} already exists`;
    return {
      splice: spliceItemIn(text, clusters, renderFlow(edit.fields)),
      expect: (content) => ({ ...content, clusters: [...content.clusters, edit.fields] }),
    };
  }
  const at = ids.indexOf(edit.clusterID);
  const cluster = clusters.items[at];
  if (!isMap(cluster)) {
    return `there is no cluster ${edit.clusterID}; the configuration has ${ids.join(', ') || 'none'}`;
  }
  if (edit.type === 'removeCluster') {
    return {
      splice: spliceItemOut(text, clusters, at),
      expect: (content) => ({ ...content, clusters: content.clusters.toSpliced(at, 1) }),
    };
  }
  const change = listChange(edit, text, cluster);
  if (typeof change === 'string') return change;
  const withList = (before: Content['clusters'][number]) => ({
    ...before,
    [change.field]: change.expect((own(before, change.field) as unknown[] | undefined) ?? []),
  });
  return {
    splice: change.splice,
    expect: (content) => ({
      ...content,
      clusters: content.clusters.map((one, index) => (index === at ? withList(one) : one)),
    }),
  };
}

type ListEdit = Exclude<ConfigEdit, { type: 'addCluster' | 'removeCluster' }>;

function listChange(
  edit: ListEdit,
  text: string,
  cluster: YAMLMap,
): { field: string; splice: Splice; expect: (list: unknown[]) => unknown[] } | string {
  const isAccount = edit.type === 'addAccount' || edit.type === 'removeAccount';
  const field = isAccount ? 'accounts' : 'instanceTypes';
  const list = cluster.get(field);
  const values: unknown[] = isSeq(list) ? (list.toJSON() as unknown[]) : [];
  const nameOf = (value: unknown) => (isAccount ? value : (value as { id?: unknown } | null)?.id);
  const thing = isAccount ? 'account' : 'instance type';
  const value = namedValue(edit);
  const id = nameOf(value);
  const index = values.findIndex((one) => nameOf(one) === id);
  if (edit.type === 'addAccount' || edit.type === 'addInstanceType') {
    if (index !== -1) return `cluster ${edit.clusterID} already has the ${thing} ${id}`;
    const splice = isSeq(list)
      ? spliceItemIn(text, list, renderFlow(value))
      : spliceFieldIn(text, cluster, `${field}: [${renderFlow(value)}]`);
    return { field, splice, expect: (before) => [...before, value] };
  }
  if (index === -1 || !isSeq(list)) {
    const known = values.map(nameOf).join(', ') || 'none';
    return `cluster ${edit.clusterID} has no ${thing} ${id}; it has ${known}`;
  }
  return { field, splice: spliceItemOut(text, list, index), expect: (before) => before.toSpliced(index, 1) };
}

/** The value to add, or enough of the value to remove to identify it. */
function namedValue(edit: ListEdit): string | ConfigFields {
  switch (edit.type) {
    case 'addInstanceType':
      return edit.fields;
    case 'removeInstanceType':
      return { id: edit.typeId };
    default:
      return edit.accountID;
  }
}

/** A value in one line, as `{ id: small, cpu: 1 }`. */
function renderFlow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}
