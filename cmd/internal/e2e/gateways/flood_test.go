package gateways_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"terminalproxy/cmd/internal/dev/browser"
	"terminalproxy/cmd/internal/e2e/world"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

var figures = flag.Bool("figures", false, "measure longer what tests state beside what they check; with -v and -run")

// meter counts, in a page, the rows received and the most of them that waited for an
// acknowledgement. It notes when a line "ENDmilliseconds." first appeared.
const meter = `window.wire = {rows: 0, acks: 0, most: 0, bytes: 0};
	window.seen = {};
	const Own = WebSocket, send = Own.prototype.send;
	Own.prototype.send = function (data) { if (data.includes('terminal.ack')) wire.acks++; return send.call(this, data); };
	window.WebSocket = class extends Own {
		constructor(...args) {
			super(...args);
			this.addEventListener('message', ({data}) => {
				if (!data.includes('"terminal.rows"')) return;
				wire.bytes += new Blob([data]).size;
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
// has more than one screen to draw, and it shows the end. The logged figures are the delay after
// the program's last words, and what a browser receives and spends.
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
	turns := 1
	if *figures {
		turns = 5
	}
	for _, flood := range []string{"plain plain plain plain", "colours colours"} {
		var late []float64
		took := measureDrawing(b, flood, func() {
			for range turns {
				browser.JS[bool](b, "seen = {}, true")
				s.Typed("clear; cat " + flood + "; echo END$(date +%s%3N).\n")
				b.WaitFor("Object.values(seen).length > 0")
				late = append(late, browser.JS[[]float64](b, "Object.values(seen)")...)
			}
		})
		slices.Sort(late)
		t.Logf("%s, seen %.0f ms after the end", took, late)
	}
	if *figures {
		s.Typed("vim -u NONE -n plain\n")
		b.WaitFor(browser.Text(".session .sheet") + ".includes('All') || " + browser.Text(".session .sheet") + ".includes('000005')")
		t.Log(measureDrawing(b, "vim scrolls", func() {
			for range 100 {
				s.Press("C-e")
				time.Sleep(40 * time.Millisecond)
			}
		}))
		s.Typed(":q\n")
	}
	s.Typed("exit\n")
	require.Zero(t, s.Status())
	o.Press("C-c")
	require.Zero(t, o.Status())
}

// measureDrawing measures what a browser receives and spends while do runs. No screen ever waits
// behind another one.
func measureDrawing(b *browser.Tab, name string, do func()) string {
	b.T.Helper()
	browser.JS[bool](b, `Object.assign(wire, {rows: 0, acks: 0, most: 0, bytes: 0}), true`)
	cpu, began := chromium(), time.Now()
	do()
	took, spent := time.Since(began).Seconds(), (chromium() - cpu).Seconds()
	wire := browser.JS[map[string]float64](b, "wire")
	require.LessOrEqual(b.T, wire["most"], 1.0, "screens that wait")
	return fmt.Sprintf("%s: %.0f screens and %.0f KiB in %.1f s, %.0f %% CPU", name, wire["rows"], wire["bytes"]/1024, took, 100*spent/took)
}

// chromium returns the processor time of the browsers that this process started.
func chromium() (spent time.Duration) {
	parents, times := map[int]int{}, map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		head, tail, _ := strings.Cut(string(stat), ") ")
		word, name, _ := strings.Cut(head, " (")
		pid, _ := strconv.Atoi(word)
		f := strings.Fields(tail)
		parents[pid], _ = strconv.Atoi(f[1])
		if strings.HasPrefix(name, "chrom") {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			times[pid] = user + system
		}
	}
	for pid, ticks := range times {
		for up := pid; up > 1; up = parents[up] {
			if up == os.Getpid() {
				spent += time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 (proc(5))
				break
			}
		}
	}
	return spent
}
