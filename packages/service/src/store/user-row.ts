import type { Account } from '@sluice/client';

/** A user who may log in. `password` is the scrypt hash of the wire password, which is the MD5 of the raw password. */
export interface UserRow {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly password: PasswordHash;
  /** When the password was set; earlier tokens are invalid. */
  readonly passwordTime: number;
  readonly accounts: readonly Account[];
  readonly createTime: number;
  readonly updateTime: number;
}

/** A result of scrypt with its parameters; salt and hash are in base64. */
export interface PasswordHash {
  readonly salt: string;
  readonly hash: string;
  /** Cost: N is 2 to this power. */
  readonly logN: number;
}

/** An issued token. The row's key is the token's hash. */
export interface TokenRow {
  readonly email: string;
  readonly createTime: number;
  readonly expireTime: number;
  /** When the password was set with which the user logged in. */
  readonly passwordTime: number;
}
