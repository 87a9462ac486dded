/**
 * What a provider wants to see again beside its reasoning and its calls (a signature, encrypted
 * thoughts), as the protocol's `encryptedValue`: it travels through the client and goes back only to
 * the provider that issued it (AG-UI reasoning).
 */
import type { ProviderMetadata } from "ai";

/** References into a provider's own store stay here: a client must not choose what they name. */
const STAYS = "itemId";

type Values = Record<string, Record<string, string>>;

/** Strings under two names, and nothing else: no option of a call can come back this way. */
function read(metadata: unknown): Values | undefined {
  const values: Values = {};
  if (!isRecord(metadata)) return undefined;
  for (const [provider, given] of Object.entries(metadata)) {
    if (!isRecord(given)) continue;
    const strings = Object.entries(given).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && entry[0] !== STAYS,
    );
    if (strings.length > 0) values[provider] = Object.fromEntries(strings);
  }
  return Object.keys(values).length > 0 ? values : undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value to send for a part's metadata; `undefined` where there is nothing to keep. */
export function wrapValues(issuer: string, metadata: ProviderMetadata | undefined): string | undefined {
  const values = read(metadata);
  return values === undefined ? undefined : JSON.stringify({ issuer, values });
}

/** What came back, for the provider that issued it; `undefined` for any other and for what is not ours. */
export function unwrapValues(issuer: string, encryptedValue: string | undefined): Values | undefined {
  if (encryptedValue === undefined) return undefined;
  try {
    const wrapped: unknown = JSON.parse(encryptedValue);
    return isRecord(wrapped) && wrapped.issuer === issuer ? read(wrapped.values) : undefined;
  } catch {
    return undefined;
  }
}
