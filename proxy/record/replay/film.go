package replay

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"terminalproxy/protocol"
	"terminalproxy/proxy/view/redact"
)

// The rhythm of a film.
const (
	settled   = 30 * time.Millisecond  // output that pauses this long has drawn a picture
	unsettled = 100 * time.Millisecond // output that does not pause is shown this often
)

// Cut says which part of a recording is wanted.
type Cut struct {
	From, To time.Duration // To is 0 for the end
	Idle     time.Duration // to which pauses are shortened, 0 for as they are
	Most     int           // more pictures are an error
}

// Film is a part of a recording as pictures, with the marks of the whole.
type Film struct {
	Cols, Rows int // of the largest screen
	Begun      time.Time
	Command    string
	Pictures   []Picture
	Marks      []protocol.Mark
}

// Picture is a screen that stood for a while.
type Picture struct {
	At, Stays time.Duration
	// Redraw is what an empty terminal of at least the film's size prints to show it.
	Redraw []byte
}

// NewFilm reads a part of a recording. own and the errors are as for [New] and [Player.Read].
func NewFilm(ctx context.Context, file io.ReaderAt, own *redact.Own, c Cut) (*Film, error) {
	r := &protocol.RecordsReadResult{}
	if err := ReadMarks(ctx, file, own, r); err != nil {
		return nil, err
	}
	end := time.Duration(r.LengthMs+1) * time.Millisecond
	if c.To == 0 || c.To > end {
		c.To = end
	}
	if c.From >= c.To {
		return nil, fmt.Errorf("there is nothing from %s to %s: the recording is %s long",
			c.From, c.To, end.Truncate(time.Millisecond))
	}
	p, f := New(file, own), &Film{Marks: r.Marks}
	for more, at := true, c.From; more && at <= c.To; {
		var err error
		if more, err = p.Seek(ctx, at); err != nil {
			return nil, err
		}
		first := p.now
		for more && p.Due() <= c.To && p.Due()-p.now < settled && p.Due()-first < unsettled {
			if more, err = p.Seek(ctx, p.Due()); err != nil {
				return nil, err
			}
		}
		if f.addPicture(p); len(f.Pictures) > c.Most {
			return nil, fmt.Errorf("more than %d pictures until %s: draw less of it, with --from and --to",
				c.Most, p.now.Truncate(time.Second))
		}
		if more {
			at = p.Due()
		}
	}
	f.Begun = p.tape.Header.Begin
	f.Command, _ = own.Text(protocol.Visible(p.tape.Header.Command), -1)
	f.setDurations(c)
	return f, nil
}

// addPicture adds the present screen, unless it looks like the picture before.
func (f *Film) addPicture(p *Player) {
	m := p.shownRows("")
	picture := Picture{At: p.now, Redraw: redraw(m)}
	if n := len(f.Pictures); n > 0 && bytes.Equal(f.Pictures[n-1].Redraw, picture.Redraw) {
		return
	}
	f.Cols, f.Rows = max(f.Cols, m.Cols), max(f.Rows, m.Rows)
	f.Pictures = append(f.Pictures, picture)
}

// setDurations sets how long each picture stays.
func (f *Film) setDurations(c Cut) {
	for i := range f.Pictures {
		until := c.To
		if i+1 < len(f.Pictures) {
			until = f.Pictures[i+1].At
		}
		stays := until - f.Pictures[i].At
		if c.Idle > 0 {
			stays = min(stays, c.Idle)
		}
		f.Pictures[i].Stays = stays
	}
}

// recent is how long a player shows a mark.
const recent = 5 * time.Second

// NewestMark is the mark that says what was done last, where that was a moment ago.
func NewestMark(marks []protocol.Mark, now time.Duration) (newest protocol.Mark, ok bool) {
	for _, k := range marks {
		at := time.Duration(k.AtMs) * time.Millisecond
		if at > now {
			break
		}
		newest, ok = k, now-at <= recent
	}
	return newest, ok
}

// DescribeMark says in one line what a mark means. you is how the user is called.
func DescribeMark(k protocol.Mark, you string) string {
	name, text := k.Name, k.Text
	switch {
	case k.Kind == protocol.MarkInput:
		text = name + ": " + text
	case k.Kind == protocol.MarkUser && name != "":
		text = name + " typed"
	case k.Kind == protocol.MarkUser:
		text = you + " typed"
	case k.Kind == protocol.MarkExit:
		text = "exit " + text
	}
	return strings.ReplaceAll(protocol.Visible(text), "\n", " ")
}

// FormatClock is a time as a player shows it.
func FormatClock(d time.Duration) string {
	s := int(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
