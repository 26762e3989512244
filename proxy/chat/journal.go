package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Entry is a line of a [Journal]: a record of the conversation, or one of the other fields.
type Entry struct {
	Record
	// Intent is an action that follows. It is on the disk before the action is tried.
	Intent *Intent `json:"intent,omitempty"`
	// Prompt says what became of a prompt.
	Prompt *Fate `json:"prompt,omitempty"`
	// Conversation is the agent's id for the conversation. It comes once known, and again if it
	// changes.
	Conversation string `json:"conversation,omitempty"`
}

// Intent is an answer before it is given, or with Interrupt the end of a turn.
type Intent struct {
	By        string  `json:"by"`
	Request   string  `json:"request,omitempty"`
	Answer    *Answer `json:"answer,omitempty"`
	Interrupt bool    `json:"interrupt,omitempty"`
}

// Fate is what became of the prompt whose item has this ID, and why.
type Fate struct {
	ID   string `json:"id"`
	Fate string `json:"fate"`
	Why  string `json:"why,omitempty"`
}

// Fates of a prompt. A sent prompt becomes read or unread later.
const (
	sent    = "sent"
	notSent = "not sent"
	read    = "read"
	unread  = "unread"
)

// File is where a [Journal] is kept; an *os.File is one.
type File interface {
	io.WriterAt
	Sync() error
	Truncate(size int64) error
}

// Journal writes a conversation as lines of JSON. A person's act is on the disk before the agent
// gets it; if that fails, the agent does not get it. Guarded by Session.mu.
type Journal struct {
	file    File
	size    int64 // of the whole lines
	missing int   // lines that could not be written
	err     error // of the first of them
	torn    bool  // half a line stands at the end, and cannot be removed
}

// NewJournal writes to an empty file.
func NewJournal(file File) *Journal { return &Journal{file: file} }

// errTorn is why nothing more is written.
var errTorn = errors.New("its last line is incomplete")

// write appends an entry, with onDisk to the disk as well.
func (j *Journal) write(e Entry, onDisk bool) error {
	err := j.appendLine(e)
	if err == nil && onDisk {
		err = j.file.Sync()
	}
	if err != nil {
		j.missing++
		if j.err == nil {
			j.err = err
		}
	}
	return err
}

// appendLine appends a whole line or nothing.
func (j *Journal) appendLine(e Entry) (err error) {
	if j.torn {
		return errTorn
	}
	defer func() {
		if named, ok := errors.AsType[*fs.PathError](err); ok { // the caller names the file itself
			err = named.Err
		}
	}()
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	var line bytes.Buffer
	lines := json.NewEncoder(&line)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(e); err != nil {
		return err
	}
	_, err = j.file.WriteAt(line.Bytes(), j.size)
	if err == nil {
		j.size += int64(line.Len())
		return nil
	}
	j.torn = j.file.Truncate(j.size) != nil // also where it says that nothing was written: os.File does not count all
	return err
}

// CloseJournal syncs the journal to the disk. It returns an error if lines are missing. Call it
// after the end.
func (s *Session) CloseJournal() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil
	}
	if err := s.journal.file.Sync(); err != nil {
		return err
	}
	if n := s.journal.missing; n > 0 {
		return fmt.Errorf("lines missing: %d: %w", n, s.journal.err)
	}
	return nil
}
