// The second generation of the TypeScript SDK as a client: the stateless revision, and those before.
//   SDK_ROOT=FOLDER ERA=legacy|auto|modern node sdk2.mjs stdio COMMAND [ARG...] | http URL TOKEN
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './checks.mjs';

const find = createRequire(path.join(process.env.SDK_ROOT, 'x.js'));
const load = name => import(pathToFileURL(find.resolve(name)).href.replace(/\.cjs$/, '.mjs'));
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const [how, target, ...rest] = process.argv.slice(2);
const era = process.env.ERA;
const client = new Client({ name: 'sdk2', version: '1' }, {
  capabilities: {}, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : era },
});
await client.connect(how === 'stdio'
  ? new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' })
  : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: 'Bearer ' + rest[0] } } }));
await run({
  client,
  instructions: client.getInstructions(),
  call: (name, args, options) => client.callTool({ name, arguments: args }, options),
});
