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
	// Intent is what is about to be done. It is on the disk before that is tried.
	Intent *Intent `json:"intent,omitempty"`
	// Prompt says what became of a prompt.
	Prompt *Fate `json:"prompt,omitempty"`
	// Conversation is the agent's id for the conversation, once it is known, and again with another one.
	Conversation string `json:"conversation,omitempty"`
}

// Intent is an answer that is about to be given, or with Interrupt the end of a turn.
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

// Fates of a prompt. One that is sent is read or unread later.
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

// Journal writes a conversation down as lines of JSON. What a person does is on the disk before the agent gets it; where that fails, the agent
// does not get it. The session's lock guards it.
type Journal struct {
	file    File
	size    int64 // of the whole lines
	missing int   // lines that could not be written
	err     error // of the first of them
	torn    bool  // half a line stands at the end, and cannot be removed
}

// NewJournal writes to a file that is empty.
func NewJournal(file File) *Journal { return &Journal{file: file} }

// errTorn is why nothing more is written.
var errTorn = errors.New("half a line stands at its end")

// write appends an entry, with onDisk to the disk as well.
func (j *Journal) write(e Entry, onDisk bool) error {
	err := j.append(e)
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

// append appends a whole line, or none.
func (j *Journal) append(e Entry) (err error) {
	if j.torn {
		return errTorn
	}
	defer func() {
		if named, ok := errors.AsType[*fs.PathError](err); ok { // whoever is told knows the file
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

// KeepJournal has the session write a journal. Call it before Start.
func (s *Session) KeepJournal(j *Journal) { s.journal = j }

// CloseJournal brings what was written to the disk, and says what is missing of it, nil for nothing. Call it after the end.
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

// add appends a record to the log and to the journal. The caller holds the lock.
func (s *Session) add(r Record) { _ = s.addRecord(r, false) }

// addRecord is add for who has to know whether the journal has the record, with onDisk on the disk.
func (s *Session) addRecord(r Record, onDisk bool) error {
	e := Entry{Record: r}
	if r.Item != nil {
		r.Item = cut(*r.Item)
	}
	kept := s.log.add(r)
	if r.Piece != nil {
		return nil // the text follows whole
	}
	e.Number, e.Time = kept.Number, kept.Time
	return s.journalize(e, onDisk)
}

// journalize appends an entry to the journal, if there is one. That this fails is in the log once.
func (s *Session) journalize(e Entry, onDisk bool) error {
	if s.journal == nil {
		return nil
	}
	err := s.journal.write(e, onDisk)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("the record of this conversation could not be written: %w", err)
	if s.journal.missing == 1 {
		s.log.add(Record{Item: cut(Item{Kind: Notice, Author: s.agent, Text: err.Error()})})
	}
	return err
}

// noteFate writes down what became of a prompt.
func (s *Session) noteFate(id, fate, why string) {
	_ = s.journalize(Entry{Prompt: &Fate{ID: id, Fate: fate, Why: why}}, false)
}
