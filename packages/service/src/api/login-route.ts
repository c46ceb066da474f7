import { own } from '@sluice/client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { login } from '../accounts/login.ts';
import type { LoginThrottle } from '../accounts/login-throttle.ts';
import type { Tokens } from '../accounts/tokens.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { UserRow } from '../store/user-row.ts';
import type { ServedService } from './served-service.ts';

/** Endpoint 13. The fields come as a form, as JSON, or in the query, as published clients send them. */
export function loginHandler(service: ServedService, accounts: { throttle: LoginThrottle; tokens: Tokens }) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const fields = { ...asRecord(request.query), ...asRecord(request.body) };
    expectValue(fields, 'token_type', 'TOKEN');
    expectValue(fields, 'third_party', 'SELF');
    const { token, user } = await login(
      { store: service.store, ...accounts },
      { email: textOf(fields, 'email'), password: textOf(fields, 'password'), address: request.ip ?? 'local' },
    );
    void reply.header(service.config.login.tokenHeader, token).type('application/json;charset=UTF-8');
    return renderUser(user);
  };
}

function renderUser(user: UserRow): Record<string, unknown> {
  const date = (time: number) => new Date(time).toISOString().slice(0, 19).replace('T', ' ');
  return {
    userId: user.userID,
    role: 0,
    sex: 0,
    email: user.email,
    name: user.name,
    mphone: null,
    createDate: date(user.createTime),
    updateDate: date(user.updateTime),
    idCardNumber: null,
    ssh: false,
    bossuid: null,
    originChannel: null,
  };
}

/** Both fields have one value that is known; a client that leaves them out means it. */
function expectValue(fields: Readonly<Record<string, unknown>>, name: string, value: string): void {
  const given = own(fields, name);
  if (given === undefined || given === value) return;
  throw new RequestError('FIELD_INVALID', `could not use the field '${name}' because only ${value} is known`, {
    details: { field: name },
  });
}

function textOf(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = own(fields, name);
  if (typeof value === 'string' && value !== '' && value.length <= 320) return value;
  throw new RequestError(
    'FIELD_INVALID',
    `could not log in without the field '${name}' as text of at most 320 characters`,
    {
      details: { field: name },
    },
  );
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
