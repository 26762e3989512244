package consent_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// framebuffer starts an X server whose screen is a file.
func framebuffer(w *world.World) (display, file string) {
	w.T.Helper()
	dir := w.Path("fb")
	require.NoError(w.T, os.Mkdir(dir, 0o700))
	return startDisplay(w, "-fbdir", dir), filepath.Join(dir, "Xvfb_screen0")
}

// pixels reads a screen in the format of xwd: a header of at least 25 numbers, a table of colours,
// then the rows.
func pixels(w *world.World, file string) (pixel func(x, y int) [3]byte, width, height int) {
	w.T.Helper()
	data, err := os.ReadFile(file)
	require.NoError(w.T, err)
	number := func(i int) int { return int(binary.BigEndian.Uint32(data[4*i:])) }
	const headerSize, pixmapWidth, pixmapHeight, bytesPerLine, colors = 0, 4, 5, 12, 19
	at, line := number(headerSize)+12*number(colors), number(bytesPerLine)
	return func(x, y int) [3]byte {
		p := data[at+y*line+4*x:]
		return [3]byte{p[2], p[1], p[0]}
	}, number(pixmapWidth), number(pixmapHeight)
}

// luminance is that of WCAG 2.
func luminance(c [3]byte) float64 {
	sum := 0.0
	for i, weight := range [3]float64{0.2126, 0.7152, 0.0722} {
		v := float64(c[i]) / 255
		if v <= 0.03928 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// legible counts the rows of pixels with an amber ground in which ground and glyphs have a contrast
// of at least 7.
func legible(w *world.World, file string) (rows int) {
	pixel, width, height := pixels(w, file)
	for y := range height {
		count := map[[3]byte]int{}
		for x := range width {
			count[pixel(x, y)]++
		}
		colors := make([][3]byte, 0, len(count))
		for c := range count {
			colors = append(colors, c)
		}
		slices.SortFunc(colors, func(a, b [3]byte) int { return count[b] - count[a] })
		if len(colors) < 2 || count[colors[1]] < 10 {
			continue
		}
		ground, glyph := luminance(colors[0]), luminance(colors[1])
		amber := colors[0][0] > 200 && colors[0][1] > 120 && colors[0][2] < 140
		if amber && (ground+0.05)/(glyph+0.05) >= 7 {
			rows++
		}
	}
	return rows
}

// hostile makes every colour the same, before the question and while it stands. It asks for a
// colour meanwhile, and prints the colours afterwards. Its steps wait for files.
const hostile = `
stty raw -echo
every() { for i in $(seq 0 255); do printf '\033]4;%d;%s\a' $i $1; done; printf '\033]10;%s\a\033]11;%s\a' $1 $1; }
ask() { printf '\033]%s;?\033\\' "$1"; IFS= read -r -d '\' -t 10 answer; printf '%s\n' "${answer#?}" >> "$2"; }
waits() { until [ -e $1 ]; do sleep 0.05; done; }
every '#ffffff'
printf '\033[2J\033[Hhello'
ask 11 ready
waits during
every '#102030'
ask 11 meanwhile
if IFS= read -r -N 1 -t 1 more; then echo more >> meanwhile; fi
echo done >> meanwhile
waits after
for n in 10 11 '4;0' '4;16' '4;214' '4;232' '4;255'; do ask $n colours; done
echo done >> colours
`

// In a real xterm, the question is legible whatever the program does to its colours. Afterwards the
// colours are what they would be without the proxy, and each query for one is answered once.
func TestTheQuestionIsLegibleR67_Client(t *testing.T) {
	w := world.OnDisplays(t, "xterm")
	display, screen := framebuffer(w)
	w.Env = append(w.Env, "DISPLAY="+display)
	w.Write("hostile.sh", hostile)
	for _, name := range []string{"during", "after"} {
		w.Write(name, "")
	}
	bare := w.Start("xterm", "-geometry", "100x24+0+0", "-e", "bash", "hostile.sh")
	want := w.WaitHeard("colours", "done\n")
	require.Regexp(t, `1010/2020/3030`, want)
	require.Zero(t, bare.Wait().Status)
	for _, name := range []string{"during", "after", "ready", "meanwhile", "colours"} {
		require.NoError(t, os.Remove(w.Path(name)))
	}

	x := w.Start("xterm", "-geometry", "100x24+0+0", "-e", "proxy", "--agent", "bash", "hostile.sh")
	id := w.Session()
	w.WaitHeard("ready", "ffff/ffff/ffff")
	require.Zero(t, legible(w, screen))
	asking := w.Start("gateway", "request", id, "--reason", "see whether it can be read", "--as", "claude")
	stands := func() { // a row of text is 13 pixels high; some of them hold no part of a letter
		w.Until(func() bool { return legible(w, screen) >= 6 }, func() string { return "the question cannot be read" })
	}
	stands()
	w.Write("during", "")
	meanwhile := w.WaitHeard("meanwhile", "done\n")
	require.Equal(t, 1, strings.Count(meanwhile, "rgb:"), "%q", meanwhile)
	require.NotContains(t, meanwhile, "more")
	stands()
	w.Until(func() bool {
		pressKeyInX(w, "ctrl+backslash")
		return strings.Contains(asking.Err.String(), "declined") || legible(w, screen) == 0
	},
		func() string { return "the question stays" })
	require.Equal(t, 1, asking.Wait().Status)
	w.Write("after", "")
	require.Equal(t, want, w.WaitHeard("colours", "done\n"))
	require.Zero(t, x.Wait().Status)
}

// In a terminal without colours, the question is in reverse video, and its words say the rest.
func TestWithoutColoursR67(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(100, 12)
	s.Run("TERM=vt100 proxy --agent listener heard")
	s.Wait("listening")
	asking := w.Start("gateway", "request", w.Session(), "--reason", "look", "--as", "claude")
	s.WaitQuestion()
	require.Contains(t, s.Colours(), "\x1b[7m “claude” asks to drive")
	require.NotContains(t, s.Colours(), "48;5;")
	s.Answer(`C-\`)
	require.Equal(t, 1, asking.Wait().Status)
	s.QuitProgram("\x04")
}

// Vim asks what to do with a swap file, on the rows that the proxy's question usually takes.
func TestTheQuestionLeavesVimsOwnVisibleR68(t *testing.T) {
	w := world.New(t, "vim")
	s := w.Terminal(90, 16)
	w.Write("notes.txt", "one\n")
	s.Run("vim -u NONE notes.txt")
	s.Wait(`"notes.txt" 1`)
	s.Typed("ix")
	w.Until(func() bool { _, err := os.Stat(w.Path(".notes.txt.swp")); return err == nil }, func() string { return "no swap file" })
	s.Typed("\x1b:preserve\n")
	s.Wait("File preserved")
	s.Typed(":!kill -9 $PPID\n")
	s.Status()
	s.Run("proxy --agent vim -u NONE notes.txt")
	const prompt = "(E)dit anyway"
	s.See("vim's question", func(screen string) bool {
		if strings.Contains(screen, "-- More --") {
			s.Typed(" ")
		}
		return strings.Contains(screen, prompt)
	})
	asking := w.Start("gateway", "request", w.Session(), "--reason", "decide what to do with the swap file", "--as", "claude")
	s.WaitQuestion()
	s.Wait(prompt)
	require.True(t, strings.HasPrefix(s.Screen(), " “claude” asks to drive"), s.Screen())
	s.Answer(`C-\`)
	require.Equal(t, 1, asking.Wait().Status)
	s.Typed("q")
	s.Status()
}

// No word of the question is cut either.
func TestTheKeysStayWholeOnANarrowScreenR68(t *testing.T) {
	w := world.New(t)
	s := w.Terminal(24, 14)
	s.Run("proxy --agent listener heard")
	s.Wait("listening")
	asking := w.Start("gateway", "request", w.Session(), "--reason", "rewrite the introduction", "--as", "claude")
	for _, words := range []string{"Ctrl+G allows", `Ctrl+\ refuses`, "“claude” asks to drive", "introduction"} {
		s.Wait(words)
	}
	s.Answer(`C-\`)
	require.Equal(t, 1, asking.Wait().Status)
	s.QuitProgram("\x04")
}

// signed matches the sign at the right end of a row.
var signed = regexp.MustCompile(`(?m) claude (drives|types|paused)[^\n]* · Ctrl\+\\$`)

func waitSign(s *world.Terminal, what string) {
	s.W.T.Helper()
	s.SeeShown(what, func(screen string) bool { return strings.Contains(signed.FindString(screen), what) })
}

// The sign stands over real programs. It shows who drives and for how long, and that the user's
// keys pause the agent. The agent cannot read it, and it leaves nothing behind when the grant ends.
func TestASignStaysWhileAnAgentDrivesR69(t *testing.T) {
	t.Parallel()
	for _, at := range []struct {
		needs, line, ready, leave string
		more                      []string
		says                      string
	}{
		{"vim", "vim -u NONE long.txt", "long.txt", "\x1b:q!\n", []string{"--for", "10m"}, "drives 10 min"},
		{"htop", "htop -d 5 -p 1", "F10", "q", nil, "drives"},
		{"bash", "bash --norc --noprofile -i", "bash-", "\x15exit\n", []string{"--level", "type"}, "types"},
	} {
		t.Run(at.needs, func(t *testing.T) {
			w := world.New(t, at.needs)
			s := w.Terminal(100, 16)
			w.Write("long.txt", world.LongText(60))
			s.Run("proxy --agent --grant drive " + at.line)
			s.Wait(at.ready)
			id := w.Session()
			w.RequestGrant(id, append([]string{"--as", "claude"}, at.more...)...)
			waitSign(s, at.says)
			require.NotContains(t, w.MustGateway("read", id), "Ctrl+", "the agent sees the program")
			s.Press("Down")
			waitSign(s, "paused")
			waitSign(s, at.says)
			s.Press(`C-\`)
			s.See("no sign", func(screen string) bool { return !strings.Contains(screen, "claude") })
			require.NotContains(t, s.Screen(), `Ctrl+\`)
			s.Typed(at.leave)
			s.Status()
		})
	}
}

// plenty prints lines of all kinds, faster and slower, within margins and across the end of the
// row.
const plenty = `
until [ -e go ]; do sleep 0.05; done
for i in $(seq 1 60); do echo "line $i"; [ $((i % 10)) = 0 ] && sleep 0.05; done
printf '%0160d\n' 7; sleep 0.3; printf '%080d' 1; sleep 0.3; printf 'goes on\n'; sleep 0.3
printf '\033[3;9r\033[9;1H'; for i in $(seq 1 20); do echo "within $i"; sleep 0.02; done; printf '\033[r\033[16;1H'
for i in $(seq 1 20); do printf '世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世 %d\n' $i; sleep 0.03; done
seq 61 140; sleep 0.4; printf '\033[2J\033[H'; sleep 0.3; for i in $(seq 141 200); do
	echo "line $i"; sleep 0.01; [ $i != 170 ] || until [ -e on ]; do sleep 0.05; done
done
`

// The user can scroll back to the same rows as without the proxy.
func TestTheSignIsNeverScrolledAwayR69(t *testing.T) {
	w := world.New(t)
	w.Write("plenty.sh", plenty)
	all := func(s *world.Terminal) string { return s.Tmux("capture-pane", "-e", "-p", "-S", "-") }
	w.Write("go", "")
	w.Write("on", "")
	bare := w.Terminal(80, 16)
	bare.Run("bash plenty.sh")
	require.Zero(t, bare.Status())
	require.NoError(t, os.Remove(w.Path("go")))
	require.NoError(t, os.Remove(w.Path("on")))

	s := w.Terminal(80, 16)
	s.Run("proxy --agent --grant drive bash plenty.sh")
	w.RequestGrant(w.Session(), "--as", "claude")
	waitSign(s, "drives")
	w.Write("go", "")
	s.Wait("line 170")
	waitSign(s, "drives") // in the middle of it, too
	w.Write("on", "")
	require.Zero(t, s.Status())
	body := func(all string) string { // without the command line and what follows it
		_, all, _ = strings.Cut(all, "\n")
		all, _, _ = strings.Cut(all, "\n@")
		return all
	}
	require.Equal(t, body(all(bare)), body(all(s)))
}

// Without the notice, the window's title still says who drives.
func TestWithoutTheNoticeTheTitleShowsTheDriverR69(t *testing.T) {
	w, s, id := world.StartListener(t, 80, 12, "--agent --grant drive --no-notice")
	w.RequestGrant(id, "--as", "claude")
	s.WaitTitle("[claude drives]")
	w.MustGateway("send", id, "--as", "claude", "--text", "x", "--until", "idle=300ms")
	require.NotContains(t, s.Screen(), "claude")
	s.QuitProgram("\x04")
}
