package chat

import (
	"fmt"

	"terminalproxy/protocol"
)

// transcript writes down what happens in a session: in the log that others follow, and in the
// journal. Guarded by Session.mu.
type transcript struct {
	agent   string // its name, as author
	log     log
	journal *Journal // may be nil
}

// KeepJournal has the session write a journal. Call it before Start.
func (t *transcript) KeepJournal(j *Journal) { t.journal = j }

// addRecord appends a record to the log and to the journal.
func (t *transcript) addRecord(r Record) { _ = t.addRecordChecked(r, false) }

// addRecordChecked also reports a failure of the journal. With onDisk it waits until the record is
// on the disk.
func (t *transcript) addRecordChecked(r Record, onDisk bool) error {
	e := Entry{Record: r}
	if r.Item != nil {
		r.Item = clipItem(*r.Item)
	}
	kept := t.log.add(r)
	if r.Piece != nil {
		return nil // the text follows whole
	}
	e.Number, e.Time = kept.Number, kept.Time
	return t.journalize(e, onDisk)
}

// journalize appends an entry to the journal, if the session keeps one. The first failure goes into
// the log.
func (t *transcript) journalize(e Entry, onDisk bool) error {
	if t.journal == nil {
		return nil
	}
	err := t.journal.write(e, onDisk)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("the record of this conversation could not be written: %w", err)
	if t.journal.missing == 1 {
		t.log.add(Record{Item: clipItem(Item{Kind: Notice, Author: t.agent, Text: err.Error()})})
	}
	return err
}

// noteFate writes down what became of a prompt.
func (t *transcript) noteFate(id, fate, why string) {
	_ = t.journalize(Entry{Prompt: &Fate{ID: id, Fate: fate, Why: why}}, false)
}

func (t *transcript) addItem(i Item) {
	if i.Author == "" {
		i.Author = t.agent
	}
	t.addRecord(Record{Item: &i})
}

func (t *transcript) addNotice(text string) {
	t.addRecord(Record{Item: &Item{Kind: Notice, Author: t.agent, Text: text}})
}

// failUnread records that the agent will not read a prompt.
func (t *transcript) failUnread(prompt, text string) {
	t.noteFate(prompt, unread, "")
	if len(text) > 200 {
		text = protocol.Clip(text, 200) + "..."
	}
	t.addNotice(fmt.Sprintf("%s did not read: %s", t.agent, text))
}
