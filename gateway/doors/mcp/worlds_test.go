package mcp

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"time"

	"terminalproxy/protocol"
)

func holding(level protocol.Level) func(*fake) {
	return with(func(f *protocol.Frame) {
		f.Keyboard = protocol.Keyboard{Holder: protocol.HolderAgent, AgentID: "a-1", AgentName: "claude-code", Level: level, Epoch: 3}
	})
}

// typing gives every input the same answer, deciding every request for control, and history every
// read, with that many rows of history.
func typing(r *protocol.InputResult, err error) func(*fake) {
	return func(f *fake) { f.input = func(*protocol.Input) (*protocol.InputResult, error) { return r, err } }
}

func refusing(code protocol.Code, message string) func(*fake) {
	return typing(&protocol.InputResult{Status: protocol.StatusRefused, Reason: code, Message: message}, nil)
}

func deciding(grant *protocol.ControlGrant, revoke *protocol.ControlRevoke, err error) func(*fake) {
	return func(f *fake) {
		f.request = func(context.Context, *protocol.ControlRequest) (*protocol.ControlGrant, *protocol.ControlRevoke, error) {
			return grant, revoke, err
		}
	}
}

func revoking(reason protocol.Reason) func(*fake) {
	return deciding(nil, &protocol.ControlRevoke{Reason: reason}, nil)
}

func history(rows int, r protocol.ReadResult) func(*fake) {
	return func(f *fake) {
		if rows > 0 {
			f.frame.Screen.Alt, f.frame.Screen.Scrollback = false, rows
		}
		r.Frame = &f.frame
		f.read = func(*protocol.Read) (*protocol.ReadResult, error) { return &r, nil }
	}
}

// follows is a terminal that the agent has looked at before it changed.
func follows(change func(*protocol.Frame)) func(*fake) {
	return func(f *fake) {
		f.looked = true
		f.read = func(*protocol.Read) (*protocol.ReadResult, error) {
			frame := f.frame
			if f.frames > 0 {
				change(&frame)
			}
			f.frames++
			return &protocol.ReadResult{Frame: &frame}, nil
		}
	}
}

// used is two terminals, of which the user used the second one last.
func used(f *fake) {
	f.sessions = append(f.sessions, info("bash-1111", func(s *protocol.SessionInfo) {
		s.Command, s.Args, s.Cwd = "/bin/bash", nil, "/home/ada"
		s.Foreground, s.Directory, s.UsedAt = "make", "/home/ada/src", clock.Add(-12*time.Second).UnixMilli()
	}))
}

// command is an answer about a command. It shows two rows, the second with text that the user
// cannot see.
func command(c protocol.Command) func(*fake) {
	return func(f *fake) {
		c.StartedAt = clock.Add(-5 * time.Minute).UnixMilli()
		history(0, protocol.ReadResult{Text: "cc a.c\ncc b.c", FirstLine: 70, NextLine: 72, OldestLine: 60, HiddenText: []int{1}, Command: &c})(f)
	}
}

func after(lines ...string) func(*fake) {
	return func(f *fake) {
		next := notes()
		next.Seq, next.IdleMs, next.Screen.Lines = 415, 300, lines
		f.input = func(in *protocol.Input) (*protocol.InputResult, error) {
			return &protocol.InputResult{Status: protocol.StatusWritten, WrittenBytes: len(in.Data), Seq: 415, Frame: &next}, nil
		}
		f.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
			return &protocol.WaitResult{Met: true, Frame: &next}, nil
		}
	}
}

func all(worlds ...func(*fake)) func(*fake) {
	return func(f *fake) {
		for _, w := range worlds {
			w(f)
		}
	}
}

// hide makes a frame one of a hidden screen; ask adds a password prompt.
func hide(f *protocol.Frame) {
	f.Screen = protocol.Screen{Cols: 40, Rows: 6, Lines: make([]string, 6)}
	f.Blackout = &protocol.Hidden{Why: protocol.BlackoutUser, SinceMs: 12_300}
}

func ask(how protocol.SecretPrompt) func(*protocol.Frame) {
	return func(f *protocol.Frame) {
		f.Screen.Lines = []string{"$ sudo true", "[sudo] password for ada:"}
		f.Blackout = &protocol.Hidden{Why: protocol.BlackoutPassword, Secret: how, SinceMs: 900}
	}
}

// drawing is a server that draws blank pictures of the right size.
func drawing(f *fake) {
	f.draw = func(s protocol.Screen, side int) ([]byte, image.Point, error) {
		if side != 1568 {
			return nil, image.Point{}, fmt.Errorf("a side of %d pixels", side)
		}
		var b bytes.Buffer
		err := png.Encode(&b, image.NewGray(image.Rect(0, 0, s.Cols*9, s.Rows*18)))
		return b.Bytes(), image.Pt(9, 18), err
	}
}

// hidesAfter is a screen that the user hides after n reads.
func hidesAfter(n int) func(*fake) {
	return func(f *fake) {
		shown, left := f.frame, n
		f.read = func(*protocol.Read) (*protocol.ReadResult, error) {
			frame := shown
			if left--; left < 0 {
				hide(&frame)
			}
			return &protocol.ReadResult{Frame: &frame}, nil
		}
	}
}

func saying(w protocol.Waiting, err error) func(*fake) {
	return func(f *fake) { f.say = func(*protocol.Note) (protocol.Waiting, error) { return w, err } }
}

// menu is a screen with many highlighted parts.
func menu(f *protocol.Frame) {
	for row := range 6 {
		f.Highlights = append(f.Highlights, protocol.Highlight{Row: row, Cols: 12, Text: fmt.Sprintf("entry number %d", row)})
	}
}

func listening(f *protocol.Frame) { f.Screen.Modes.Mouse = true }

// waited ends every wait with r, and sets the program's activity.
func waited(r protocol.WaitResult, a *protocol.Activity) func(*fake) {
	return func(f *fake) {
		f.wait = func(context.Context, *protocol.Wait) (*protocol.WaitResult, error) {
			f.frame.Activity, r.Frame = a, &f.frame
			return &r, nil
		}
	}
}
