// An OpenID provider for the tests, one issuer a process: oidc-provider with what Keepline asks for, and two doors
// of the tests' own (sign-in without a password, new keys). Its settings are the JSON in the first argument; when it
// listens, it prints its issuer.

import { randomBytes, webcrypto } from 'node:crypto';
import { createServer } from 'node:http';

import { Provider } from 'oidc-provider';

const settings = JSON.parse(process.argv[2]);
const { algorithm, audience, clients, people, scope } = settings;
const cookieKeys = [randomBytes(32).toString('hex')];
const KINDS = {
  RS256: { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  EdDSA: { name: 'Ed25519' },
};

async function makeKey() {
  const pair = await webcrypto.subtle.generateKey(KINDS[algorithm], true, ['sign', 'verify']);
  const { key_ops: _operations, ext: _extractable, ...jwk } = await webcrypto.subtle.exportKey('jwk', pair.privateKey);
  return { ...jwk, use: 'sig', alg: algorithm, kid: randomBytes(8).toString('hex') };
}

function makeProvider(issuer, keys) {
  const provider = new Provider(issuer, {
    clients: clients.map((client) => ({
      id_token_signed_response_alg: algorithm,
      grant_types: ['authorization_code', 'refresh_token'],
      ...client,
    })),
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    jwks: { keys },
    cookies: { keys: cookieKeys },
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub', 'groups', 'roles', 'teams'], profile: ['name'], email: ['email'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: {
      backchannelLogout: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope, audience, accessTokenFormat: 'jwt', jwt: { sign: { alg: algorithm } },
        }),
      },
      rpInitiatedLogout: { enabled: true },
    },
    enabledJWA: { idTokenSigningAlgValues: [algorithm] },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people[sub] }) }),
    extraTokenClaims: (_context, token) => people[token.accountId],
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    loadExistingGrant: async (context) => {
      const { client, session } = context.oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile email offline_access');
      grant.addResourceScope(audience, scope);
      await grant.save();
      return grant;
    },
    // Keepline is on loopback in the tests, where the library's own guard would not let it send anything.
    fetch: (url, { dispatcher: _guard, ...options }) => globalThis.fetch(url, options),
  });
  provider.on('backchannel.error', (_context, error) => console.error('back-channel logout:', error.message));
  provider.on('server_error', (_context, error) => console.error(error));
  return provider;
}

function read(request) {
  return new Promise((resolve) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => resolve(new URLSearchParams(Buffer.concat(parts).toString())));
  });
}

const server = createServer();
server.listen(0, '127.0.0.1', async () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  let keys = [await makeKey()];
  let provider = makeProvider(issuer, keys);
  let answer = provider.callback();

  server.on('request', async (request, response) => {
    if (request.method === 'POST' && request.url.startsWith('/interaction/')) {
      const form = await read(request);
      // Consent is given along with the sign-in; a native client is asked for it each time.
      const result = { login: { accountId: form.get('person') }, consent: {} };
      await provider.interactionFinished(request, response, result);
    } else if (request.method === 'POST' && request.url === '/new-keys') {
      // Sessions, grants and tokens stay: they are in a store that all instances of a process share.
      const form = await read(request);
      keys = [await makeKey(), ...(form.get('keep') ? keys : [])];
      provider = makeProvider(issuer, keys);
      answer = provider.callback();
      response.end();
    } else {
      answer(request, response);
    }
  });
  console.log(issuer);
});
