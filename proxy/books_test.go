//go:build linux

package proxy

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"terminalproxy/protocol"
	"terminalproxy/proxy/detached/headless"
)

// asListener makes the test binary a program that writes what it reads to a file. Its value is a
// mode and the file, with a colon between.
const asListener = "PROXY_TEST_READER"

// listeners are the ways to read a terminal. Each ends with the user's Q or an agent's q.
var listeners = map[string]func(r *listener){
	// Whole lines, as cat does.
	"lines": func(r *listener) {
		for r.read(4096) {
		}
	},
	// Everything available, as editors do.
	"raw": func(r *listener) {
		r.raw()
		for r.read(4096) {
		}
	},
	// As a shell does: raw until Enter, and lines while a command runs.
	"shell": func(r *listener) {
		for {
			r.raw()
			for r.last = 0; r.last != '\r'; {
				if !r.read(1) {
					return
				}
			}
			r.restore()
		}
	},
	// A little, and then nothing until the file go exists.
	"deaf": func(r *listener) {
		r.raw()
		for range 50 {
			if !r.read(10) {
				return
			}
		}
		for {
			if _, err := os.Stat(r.out.Name() + ".go"); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		for r.read(4096) {
		}
	},
	// Slowly.
	"slow": func(r *listener) {
		r.raw()
		for r.read(7) {
			time.Sleep(100 * time.Microsecond)
		}
	},
}

type listener struct {
	out   *os.File
	saved *unix.Termios
	last  byte
}

// listen runs the listener if this process is one.
func listen() bool {
	what := os.Getenv(asListener)
	if what != "" {
		readAs(what)
	}
	return what != ""
}

// readAs runs a listener, and leaves the terminal as it was.
func readAs(what string) {
	mode, file, _ := strings.Cut(what, ":")
	out, err := os.Create(file)
	if err != nil {
		panic(err)
	}
	saved, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		panic(err)
	}
	r := &listener{out: out, saved: saved}
	fmt.Println("ready")
	listeners[mode](r)
	r.restore()
}

func (r *listener) raw() {
	now := *r.saved
	now.Lflag &^= unix.ICANON | unix.ISIG | unix.IEXTEN
	now.Iflag &^= unix.ICRNL | unix.IXON
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	_ = unix.IoctlSetTermios(0, unix.TCSETS, &now)
}

func (r *listener) restore() { _ = unix.IoctlSetTermios(0, unix.TCSETS, r.saved) }

// read reads at most that many bytes, until the key that ends it.
func (r *listener) read(most int) (more bool) {
	b := make([]byte, most)
	n, err := os.Stdin.Read(b)
	if err == io.EOF {
		return true // the user's ^D on an empty line
	}
	if err != nil {
		return false
	}
	_, _ = r.out.Write(b[:n])
	r.last = b[n-1]
	return !bytes.ContainsAny(b[:n], "qQ")
}

// round is one session in which an agent types at random, and which ends at random.
type round struct {
	t    *testing.T
	r    *rand.Rand
	mode string
	a    *typing
	got  map[string][]*protocol.InputResult // receipts, in their order
	file string
}

// gather collects receipts until a wanted message comes.
func gather[T protocol.Message](x *round, wanted func(T) bool) T {
	x.t.Helper()
	var found T
	hear(x.a.p, func(m protocol.Message) bool {
		if r, ok := m.(*protocol.InputResult); ok {
			x.got[r.RequestID] = append(x.got[r.RequestID], r)
		}
		var ok bool
		found, ok = m.(T)
		return ok && (wanted == nil || wanted(found))
	})
	return found
}

// waitReceipts waits until each input has that many receipts.
func (x *round) waitReceipts(n int) {
	x.t.Helper()
	for _, m := range x.a.sent {
		for len(x.got[m.RequestID]) < n {
			gather[*protocol.InputResult](x, nil)
		}
	}
}

// letters returns random text without the keys that end a listener. For a listener that reads
// lines, it contains newlines.
func (x *round) letters(most int) string {
	b := make([]byte, 1+x.r.IntN(most))
	line := 0
	for i := range b {
		b[i] = "abcdefghijklmnop"[x.r.IntN(16)]
		if line++; x.r.IntN(60) == 0 || line > 1000 {
			b[i], line = '\n', 0
		}
	}
	return string(b)
}

// typeRandom sends a random input.
func (x *round) typeRandom() {
	switch x.r.IntN(5) {
	case 0:
		x.a.typeParts(named("a b enter c"))
	case 1:
		x.a.typeParts(text(x.letters(3)), named("enter"))
	case 2:
		x.a.typeParts(protocol.InputPart{InputKind: protocol.InputPaste, Data: x.letters(300)})
	case 3:
		x.a.typeParts(text(x.letters(900)))
	default:
		x.a.typeParts(text(x.letters(20)))
	}
}

// read returns how many of the agent's bytes the program has read: those before the user's Q.
func (x *round) read() int {
	b, err := os.ReadFile(x.file)
	require.NoError(x.t, err)
	agents, _, _ := bytes.Cut(b, []byte("Q"))
	return len(agents)
}

// For random inputs, programs and moments at which the user takes the keyboard back or a key ends
// the program, the receipts add up to what the programs read, to the byte. RECEIPTS_SEED repeats a
// run, and RECEIPTS_ROUNDS sets the number of sessions.
func TestTheReceiptsAreWhatTheProgramsRead_Client(t *testing.T) {
	rounds, workers := 30, 6
	if os.Getenv("CLIENTS") != "" {
		rounds = 1000
	}
	if n, err := strconv.Atoi(os.Getenv("RECEIPTS_ROUNDS")); err == nil {
		rounds = n
	}
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("RECEIPTS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("RECEIPTS_SEED=%d", seed)
	self, err := os.Executable()
	require.NoError(t, err)
	modes := slices.Sorted(maps.Keys(listeners))
	dir := t.TempDir()
	for worker := range workers {
		t.Run(fmt.Sprint("worker ", worker), func(t *testing.T) {
			t.Parallel()
			g := newFakeGateway(t)
			g.run(headless.Config{})
			for n := worker; n < rounds; n += workers {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				x := &round{t: t, r: r, mode: modes[r.IntN(len(modes))], got: map[string][]*protocol.InputResult{}, file: filepath.Join(dir, fmt.Sprint("got", n))}
				m := starting(self)
				m.RequestID, m.Env = fmt.Sprint("a-1:r", n), []string{asListener + "=" + x.mode + ":" + x.file}
				p, id := g.startProgram(m)
				x.a = &typing{p: p, id: id}
				p.waitForText("ready")
				x.play(n)
			}
		})
	}
}

func (x *round) play(n int) {
	x.t.Helper()
	p := x.a.p
	p.attaches(x.a.id, 90, 30)
	ends := x.r.IntN(3) == 0
	for range 1 + x.r.IntN(6) {
		x.typeRandom()
		for range x.r.IntN(3) * x.r.IntN(200) { // a moment
			_ = os.Getpid()
		}
		if x.r.IntN(4) == 0 {
			x.waitReceipts(1)
		}
	}
	what := fmt.Sprintf("round %d, %s", n, x.mode)
	if ends {
		x.endProgram(what)
		return
	}
	p.types(x.a.id, "\x1c")
	gather(x, func(m *protocol.ControlRevoke) bool { return m.Reason == protocol.ReasonReclaimed })
	x.waitReceipts(1)
	p.send(&protocol.Read{RequestID: "a-1:look", SessionID: x.a.id}) // by then the receipts are corrected
	gather[*protocol.ReadResult](x, nil)
	for _, m := range x.a.sent {
		p.send(m)
	}
	x.waitReceipts(2)
	require.NoError(x.t, os.WriteFile(x.file+".go", nil, 0o600))
	p.types(x.a.id, "Q")
	if x.mode == "lines" {
		p.types(x.a.id, "\r")
	}
	gather[*protocol.SessionClose](x, nil)
	written := 0
	for _, m := range x.a.sent {
		r := x.got[m.RequestID][1]
		written += r.WrittenBytes
		sum := 0
		for _, part := range r.Parts {
			sum += part.WrittenBytes
		}
		if len(r.Parts) > 0 {
			require.Equal(x.t, r.WrittenBytes, sum, what)
		}
	}
	require.Equal(x.t, x.read(), written, "%s: what it read, and what the receipts say", what)
}

// endProgram lets the agent end the program by a key.
func (x *round) endProgram(what string) {
	x.t.Helper()
	require.NoError(x.t, os.WriteFile(x.file+".go", nil, 0o600))
	switch x.mode {
	case "lines":
		x.a.typeParts(text("q"), named("enter"))
	default:
		x.a.typeParts(text("q"))
	}
	gather[*protocol.SessionClose](x, nil)
	written := 0
	for _, m := range x.a.sent {
		require.Len(x.t, x.got[m.RequestID], 1, what)
		written += x.got[m.RequestID][0].WrittenBytes
	}
	require.Equal(x.t, x.read(), written, "%s ended: what it read, and what the receipts say", what)
}
