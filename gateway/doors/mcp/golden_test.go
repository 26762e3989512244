package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata with what the tools say now")

// situation is one call, and the world in which it happens; testdata holds what the agent reads.
// The facts of the world are as on the wire: frame and session change those of newFake, more adds a
// session, then changes the frame after its first read, and read, wait, input, request, release and
// say are the next answers of the gateway. An answer that begins with ! is an error.
type situation struct {
	name, tool string
	facts      []string
	answer     string
}

var (
	header = regexp.MustCompile(`^(terminal_\w+): (.*)$`)
	macro  = regexp.MustCompile(`@(\d+)([* ])([^@]*)@`)
)

// readSituations returns the head of the file, and what follows.
func readSituations(t *testing.T, path string) (head string, all []situation) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	parts := strings.Split(string(text), "\n=== ")
	for _, part := range parts[1:] {
		call, answer, _ := strings.Cut(part, "\n--- ")
		lines := strings.Split(call, "\n")
		title := header.FindStringSubmatch(lines[0])
		require.NotNil(t, title, part)
		all = append(all, situation{title[2], title[1], lines[1:], "--- " + strings.TrimSuffix(answer, "\n")})
	}
	return parts[0], all
}

// expand replaces what stands for a long text, or for many rows, which differ so that they are not
// folded.
func expand(fact string) []byte {
	return []byte(macro.ReplaceAllStringFunc(fact, func(m string) string {
		part := macro.FindStringSubmatch(m)
		n, _ := strconv.Atoi(part[1])
		if part[2] == "*" {
			return strings.Repeat(part[3], n)
		}
		var rows []string
		for i := range n {
			rows = append(rows, fmt.Sprint(part[3], " ", i))
		}
		return strings.Join(rows, `\n`)
	}))
}

// world are the facts of a situation that are not f's own.
type world struct {
	*fake
	t       *testing.T
	answers map[string][]string
	then    []byte // changes the frame after its first read
	read    bool
}

// next fills in the next answer of a kind; the last one stays.
func (w *world) next(kind string, into any) error {
	all := w.answers[kind]
	if len(all) == 0 {
		return nil
	}
	if len(all) > 1 {
		w.answers[kind] = all[1:]
	}
	fact, failed := strings.CutPrefix(all[0], "!")
	if failed {
		into = new(protocol.Error)
	}
	require.NoError(w.t, json.Unmarshal(expand(fact), into), fact)
	refused, ok := into.(*protocol.Error)
	if ok && refused.Code == "" {
		return errors.New(refused.Message)
	} else if ok {
		return refused
	}
	return nil
}

// playWorld gives f the facts of a situation, and returns the arguments of its call, and the host of
// programs, if there is one.
func playWorld(t *testing.T, f *fake, facts []string) (arguments args, programs Programs) {
	t.Helper()
	w := &world{fake: f, t: t, answers: map[string][]string{}}
	h := &host{fake: f}
	for _, fact := range facts {
		word, rest, _ := strings.Cut(fact, " ")
		var into any
		switch word {
		case "call":
			into = &arguments
		case "frame":
			into = &f.frame
		case "session":
			into = &f.sessions[0]
		case "more":
			f.sessions = append(f.sessions, info(""))
			into = &f.sessions[len(f.sessions)-1]
		case "lacks":
			into = &f.lacks
		case "none":
			f.sessions = nil
			continue
		case "looks":
			f.looked = true
			continue
		case "host":
			programs = h
			continue
		case "then":
			w.then = []byte(rest)
			continue
		case "draw":
			w.setDrawing(rest)
			continue
		default:
			w.answers[word] = append(w.answers[word], rest)
			continue
		}
		require.NoError(t, json.Unmarshal(expand(rest), into), fact)
	}
	f.failing, h.refuse = w.next("fails", nil), w.next("refuse", nil)
	f.setAnswers(w)
	return arguments, programs
}

func (w *world) copyFrame() protocol.Frame {
	frame := w.frame
	frame.Screen.Lines = slices.Clone(frame.Screen.Lines) // decoding writes into it
	return frame
}

func (w *world) setDrawing(of string) {
	drawing(w.fake)
	blank := w.draw
	w.draw = func(s protocol.Screen, side int) ([]byte, image.Point, error) {
		w.answers["draw"] = []string{of}
		if size, err := strconv.Atoi(of); err == nil {
			return make([]byte, size), image.Pt(9, 18), nil
		}
		if of != "" {
			return nil, image.Point{}, w.next("draw", nil)
		}
		return blank(s, side)
	}
}

// setAnswers makes f answer as the world says.
func (f *fake) setAnswers(w *world) {
	if len(w.answers["read"]) > 0 || w.then != nil {
		f.read = func(*protocol.Read) (*protocol.ReadResult, error) {
			frame := w.copyFrame()
			if w.read && w.then != nil {
				require.NoError(w.t, json.Unmarshal(w.then, &frame))
			}
			w.read = true
			got := &protocol.ReadResult{Frame: &frame}
			return got, w.next("read", got)
		}
	}
	if len(w.answers["wait"]) > 0 {
		f.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
			frame := w.copyFrame()
			got := &protocol.WaitResult{Frame: &frame}
			return got, w.next("wait", got)
		}
	}
	if len(w.answers["input"]) > 0 {
		f.input = func(m *protocol.Input) (*protocol.InputResult, error) {
			frame := w.copyFrame()
			got := &protocol.InputResult{Status: protocol.StatusWritten, WrittenBytes: len(m.Data), Seq: frame.Seq, Frame: &frame}
			return got, w.next("input", got)
		}
	}
	f.release = func(*protocol.ControlRelease) error { return w.next("release", nil) }
	f.say = func(*protocol.Note) (wait protocol.Waiting, err error) { err = w.next("say", &wait); return wait, err }
	if asked := w.answers["request"]; len(asked) > 0 {
		f.request = func(ctx context.Context, _ *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
			if asked[0] == "pending" {
				<-ctx.Done()
				return nil, nil, ctx.Err()
			}
			var got struct {
				Grant  *protocol.ControlGrant
				Revoke *protocol.ControlRevoke
			}
			err := w.next("request", &got)
			return got.Grant, got.Revoke, err
		}
	}
}

// TestSituations compares every answer with testdata, and in every era the first answer of each tool.
func TestSituations(t *testing.T) {
	path := filepath.Join("testdata", "situations.txt")
	head, situations := readSituations(t, path)
	texts := []string{head}
	for n, era := range eras {
		told := map[string]bool{}
		for _, at := range situations {
			if n > 0 && told[at.tool] {
				continue
			}
			told[at.tool] = true
			f := newFake()
			arguments, programs := playWorld(t, f, at.facts)
			s := connectTo(t, f, programs, era, nil)
			if f.looked {
				first, _ := call(t, s, "terminal_read", nil)
				require.Contains(t, first, "eggs")
			}
			text, isError := call(t, s, at.tool, arguments)
			got := fmt.Sprintf("--- %s\n%s", map[bool]string{false: "answer", true: "error"}[isError], text)
			if n == 0 {
				texts = append(texts, strings.Join(append([]string{at.tool + ": " + at.name}, append(at.facts, got)...), "\n")+"\n")
			}
			if !*update {
				require.Equal(t, at.answer, got, "%s: %s, %s", at.tool, at.name, era)
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(texts, "\n=== ")), 0o600))
	}
}
