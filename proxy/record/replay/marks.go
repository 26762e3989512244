package replay

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/record"
	"terminalproxy/proxy/view/redact"
)

const (
	// mostMarks is how many marks an answer has, and mostKept how many are looked at.
	mostMarks, mostKept = 400, 20_000
	// markText is how long the text of a mark is, in characters.
	markText = 80
	// apart is how far two marks of one author lie apart at least.
	apart = time.Second
)

// ReadMarks adds to r who did what when, and how long the recording is. own is as for [New]. The
// error is as that of Read.
func ReadMarks(
	ctx context.Context, file io.ReaderAt, own *redact.Own, r *protocol.RecordsReadResult,
) error {
	tape, err := record.NewTape(file)
	if err != nil {
		return err
	}
	author, all := "", []protocol.Mark(nil)
	for n := 0; ; n++ {
		if n%looks == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		e, err := tape.Next(isForMarks)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		r.LengthMs = e.At.Milliseconds()
		if e.Code == record.CodeAuthor {
			author = protocol.Visible(e.DecodeAuthor().Agent)
		} else if mark, ok := markOf(&e, author); ok {
			all = appendMark(all, mark, apart.Milliseconds())
		}
	}
	r.Marks = joinClose(all, r.LengthMs)
	for i := range r.Marks {
		text, _ := own.Text(r.Marks[i].Text, -1)
		r.Marks[i].Text = shorten(text)
	}
	return nil
}

// isForMarks reports whether the data of events with a code is needed for marks.
func isForMarks(code byte) bool {
	return code == record.CodeInput || code == record.CodeMarker || code == record.CodeExit ||
		code == record.CodeAuthor || code == record.CodeUser
}

// markOf returns the mark of an event. author types the input.
func markOf(e *record.Event, author string) (m protocol.Mark, ok bool) {
	m.AtMs = e.At.Milliseconds()
	switch e.Code {
	case record.CodeInput:
		m.Kind, m.Name = protocol.MarkInput, author
		m.Text = record.Readable([]byte(protocol.Visible(controls.Replace(e.Data))))
	case record.CodeUser:
		m.Kind, m.Name = protocol.MarkUser, protocol.Visible(e.Data)
	case record.CodeMarker:
		m.Kind, m.Text = protocol.MarkEvent, protocol.Visible(e.Data)
	case record.CodeExit:
		m.Kind, m.Text = protocol.MarkExit, protocol.Visible(e.Data)
	default:
		return m, false
	}
	return m, true
}

// controls are shown by their pictures (Unicode, Control Pictures): they are what was typed.
var controls = strings.NewReplacer(
	"\r", "⏎", "\n", "⏎", "\t", "⇥", "\x1b", "␛", "\x7f", "⌫", "\b", "⌫",
	"\x03", "^C", "\x04", "^D", "\x1a", "^Z", "\x0c", "^L",
)

// appendMark appends a mark, or adds it to the last one if that has the same author and lies less
// than apart before it.
func appendMark(all []protocol.Mark, m protocol.Mark, apart int64) []protocol.Mark {
	if n := len(all); n > 0 && m.Kind != protocol.MarkEvent {
		last := &all[n-1]
		if last.Kind == m.Kind && last.Name == m.Name && m.AtMs-last.AtMs < apart {
			if len(last.Text) < 8*markText {
				last.Text += m.Text
			}
			return all
		}
	}
	if len(all) == mostKept {
		return all
	}
	return append(all, m)
}

// joinClose joins marks that would lie too close to be told apart.
func joinClose(all []protocol.Mark, length int64) []protocol.Mark {
	for apart := max(
		length/mostMarks,
		apart.Milliseconds(),
	); len(all) > mostMarks && apart <= length; apart *= 2 {
		var fewer []protocol.Mark
		for _, m := range all {
			fewer = appendMark(fewer, m, apart)
		}
		all = fewer
	}
	return all[:min(len(all), mostMarks)]
}

func shorten(text string) string {
	if r := []rune(text); len(r) > markText {
		return string(r[:markText]) + "…"
	}
	return text
}
