import { own } from '@sluice/client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { login } from '../accounts/login.ts';
import type { LoginThrottle } from '../accounts/login-throttle.ts';
import type { Tokens } from '../accounts/tokens.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { UserRow } from '../store/user-row.ts';
import type { ServedService } from './served-service.ts';

/** Handles endpoint 13. Published clients send the fields as a form, as JSON or in the query. */
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
    userId: user.userId,
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

/** Rejects another value than the only supported one. An absent field means that value. */
function expectValue(fields: Readonly<Record<string, unknown>>, name: string, value: string): void {
  const given = own(fields, name);
  if (given === undefined || given === value) return;
  throw new RequestError('FIELD_INVALID', `could not use the field '${name}' because only ${value} is supported`, {
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
