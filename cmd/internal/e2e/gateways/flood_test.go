package gateways_test

import (
	"fmt"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// meter counts, in a page, the rows received and the most of them that waited for an
// acknowledgement. It notes when a line "ENDmilliseconds." first appeared.
const meter = `window.wire = {rows: 0, acks: 0, most: 0};
	window.seen = {};
	const Own = WebSocket, send = Own.prototype.send;
	Own.prototype.send = function (data) { if (data.includes('terminal.ack')) wire.acks++; return send.call(this, data); };
	window.WebSocket = class extends Own {
		constructor(...args) {
			super(...args);
			this.addEventListener('message', ({data}) => {
				if (!data.includes('"terminal.rows"')) return;
				wire.most = Math.max(wire.most, ++wire.rows - wire.acks);
			});
		}
	};
	const look = () => {
		const end = document.querySelector('.session .sheet')?.textContent.match(/END(\d{13})\./);
		if (end) seen[end[1]] ??= performance.timeOrigin + performance.now() - Number(end[1]);
	};
	document.addEventListener('DOMContentLoaded', () => new MutationObserver(look).observe(document.body, {subtree: true, childList: true, characterData: true}));`

// A program prints far more than a person can read, on the page as at the terminal. The page never
// has more than one screen to draw, and it shows the end. The test logs the delay after the
// program's last words.
func TestAFloodOnThePage_Client(t *testing.T) {
	b := browser.Chromium(t)
	w := world.New(t, "vim")
	s, o := w.Terminal(100, 30), w.Terminal(100, 30)
	id := s.RunBash("")
	_, link := o.OpenPage(id)
	b.RunBeforeScripts(meter)
	b.RunSteps(chromedp.Navigate(link))
	b.WaitFor(browser.Text(".session .sheet") + ".includes('$')")
	var plain, colours strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&plain, "%06d %s\n", i, strings.Repeat("lorem ipsum ", i%7))
		for j := range 8 {
			fmt.Fprintf(&colours, "\x1b[38;5;%dm%04d ", (i+j)%256, i)
		}
		colours.WriteString("\x1b[m\n")
	}
	w.Write("plain", plain.String())
	w.Write("colours", colours.String())
	for _, flood := range []string{"plain plain plain plain", "colours colours"} {
		browser.JS[bool](b, "seen = {}, true")
		s.Typed("clear; cat " + flood + "; echo END$(date +%s%3N).\n")
		b.WaitFor("Object.values(seen).length > 0")
		t.Logf("%s, seen %.0f ms after the end", flood, browser.JS[[]float64](b, "Object.values(seen)"))
	}
	require.LessOrEqual(t, browser.JS[float64](b, "wire.most"), 1.0, "screens that wait")
	s.Typed("exit\n")
	require.Zero(t, s.Status())
	o.Press("C-c")
	require.Zero(t, o.Status())
}
