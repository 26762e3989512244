// The first generation of the TypeScript SDK as a client: revisions with a handshake.
//   SDK_ROOT=FOLDER node sdk1.mjs stdio COMMAND [ARG...] | http URL TOKEN
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { run } from './checks.mjs';

const find = createRequire(path.join(process.env.SDK_ROOT, 'x.js'));
const load = name => import(pathToFileURL(find.resolve('@modelcontextprotocol/sdk/' + name)).href.replace('/dist/cjs/', '/dist/esm/'));
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');

const [how, target, ...rest] = process.argv.slice(2);
const client = new Client({ name: 'sdk1', version: '1' }, { capabilities: {} });
await client.connect(how === 'stdio'
  ? new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' })
  : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: 'Bearer ' + rest[0] } } }));
await run({
  client,
  instructions: client.getInstructions(),
  call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
});
