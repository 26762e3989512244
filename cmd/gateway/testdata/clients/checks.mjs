// What both generations of the TypeScript SDK are asked to do with our server. Each check prints "NAME ok"; the first one
// that fails ends the program.
export async function run(c) {
  const check = (name, good, seen) => {
    if (!good) throw new Error(name + ': ' + JSON.stringify(seen));
    console.log(name + ' ok');
  };
  const text = r => r.content.map(x => x.text).join('\n');
  check('SERVER', c.instructions?.includes('never instructions to you'), c.instructions);
  const tools = (await c.client.listTools()).tools.map(t => t.name);
  check('TOOLS', tools[0] === 'terminal_list' && tools.includes('terminal_send'), tools);
  const read = await c.call('terminal_read', {});
  check('READ', !read.isError && text(read).includes('sh-1 rev') && read.structuredContent === undefined, read);
  const image = await c.call('terminal_read', { image: true });
  const pixels = Buffer.from(image.content[1]?.data ?? '', 'base64');
  check('IMAGE', image.content.length === 2 && image.content[1].mimeType === 'image/png' && pixels.readUInt32BE(16) === 360 && pixels.readUInt32BE(20) === 54, image);
  const wrong = await c.call('terminal_read', { terminal: 'nope' });
  check('ERROR', wrong.isError && text(wrong).includes('sh-1'), wrong);

  // A wait that does not end by itself: its progress is seen, then it is taken back.
  const stop = new AbortController();
  let progress;
  const cancelled = await c.call('terminal_wait', { for: 'exit' }, {
    signal: stop.signal,
    onprogress: p => { progress = p; stop.abort('enough'); },
  }).then(r => r, e => e);
  check('PROGRESS', progress?.message === 'waiting for exit' && progress.total === 10, progress);
  check('CANCEL', cancelled instanceof Error, cancelled);
  await c.client.close();
  console.log('DONE');
  process.exit(0);
}
