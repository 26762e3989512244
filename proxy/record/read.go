package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of an audit log: the largest input or screen, escaped, is far shorter.
const maxLine = 32 << 20

// DamageError says that a line of an audit log is not what was written.
type DamageError struct {
	Line int // counts from 1
	Why  string
}

// Error implements error.
func (e *DamageError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Log is what reading an audit log told.
type Log struct {
	Lines int    // that are good
	Head  string // hash of the last of them
	Open  *Entry // the first entry
	Last  *Entry // the last one
	Cut   bool   // the last line is cut off: the proxy or the machine stopped while it was written
	shown *Entry // the newest screen
}

// Closed reports whether the log has its end: it does not while the session runs, or when the proxy
// was killed.
func (l *Log) Closed() bool { return l.Last != nil && l.Last.Kind == Close }

// Read reads an audit log and calls each with every good entry, in order, until that returns an
// error; the entries of inputs have the Picture of the screen that they name. At the first bad line
// it returns what it has read so far, with a *DamageError. An incomplete last line is not damage.
func Read(r io.Reader, each func(*Entry) error) (*Log, error) {
	log, c := &Log{}, newChain()
	lines := bufio.NewReaderSize(r, 1<<16)
	for {
		line, err := readLine(lines)
		whole := err == nil
		if err != nil && !errors.Is(err, io.EOF) {
			return log, &DamageError{log.Lines + 1, err.Error()}
		}
		if len(line) == 0 && !whole {
			return log, nil
		}
		e, bad := c.checkLine(line)
		if bad != nil && !whole {
			log.Cut = true
			return log, nil
		}
		if bad == nil {
			bad = log.addEntry(e)
		}
		if bad != nil {
			return log, &DamageError{log.Lines + 1, bad.Error()}
		}
		log.Lines, log.Head, log.Last = log.Lines+1, e.Hash, e
		if err := each(e); err != nil || !whole {
			return log, err
		}
	}
}

// addEntry checks that an entry may follow those before it, and notes what those after it need.
func (l *Log) addEntry(e *Entry) error {
	switch {
	case l.Open == nil && (e.Kind != Open || e.Session == nil):
		return errors.New("it is not the beginning of a log")
	case l.Open == nil && e.Session.Format != Format:
		return fmt.Errorf("the format is %.40q: this program knows %s", e.Session.Format, Format)
	case l.Open == nil:
		l.Open = e
	case l.Closed():
		return errors.New("it comes after the end of the log")
	case e.Kind == Open:
		return errors.New("a second log begins in the middle")
	case e.Kind == Shown && e.Picture == nil:
		return errors.New("it is a screen without a picture")
	case e.Kind == Shown:
		l.shown = e
	case e.Kind == Input && e.Screen != "":
		if l.shown == nil || l.shown.Picture.ID != e.Screen {
			return errors.New("it names a screen other than the one before it")
		}
		e.Picture = l.shown.Picture
	}
	return nil
}

// readLine reads to the next newline and cuts it. io.EOF comes with the rest of the file.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		case len(line) > maxLine:
			return nil, fmt.Errorf("it is longer than %d MiB", maxLine>>20)
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}
