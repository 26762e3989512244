package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// SnapshotDelta is a [Snapshot] for a peer that has the one before it: what differs. Only peers that
// accept it get it: see [SessionsSubscribe] and [Subscribed].
type SnapshotDelta struct {
	SessionID string `json:"sessionId"`
	Seq       uint64 `json:"seq"`
	// Since is the revision of the snapshot before, 0 where that is Seq.
	Since uint64 `json:"since,omitempty"`
	// Ms is the difference of the two timestamps.
	Ms int64 `json:"ms,omitempty"`
	// Settled and IdleMs are of this snapshot, whatever the one before had.
	Settled bool  `json:"settled,omitempty"`
	IdleMs  int64 `json:"idleMs,omitempty"`
	// Moved and Changed are those of a [Snapshot].
	Moved   int   `json:"moved,omitempty"`
	Changed []Row `json:"changed,omitempty"`
	// Content is nil where the rolling text did not change, and for peers that do not get it.
	Content *TextDelta `json:"content,omitempty"`

	// patch is the rest of the message: a JSON merge patch (RFC 7396) of the other fields of the
	// snapshot and of its screen.
	patch  map[string]json.RawMessage
	shared *frame // made once for all who get this message; nil for a message to one
}

// SnapshotPart is a message from which a peer completes a snapshot: a [Snapshot] or a
// [SnapshotDelta]. last is the complete snapshot before it from the same peer, or nil. ok is false if
// the message is a difference to something else.
type SnapshotPart interface {
	Message
	Complete(last *Snapshot) (full *Snapshot, ok bool)
}

// TextDelta changes a text: Cut bytes at its start and Erase bytes at its end go, then Add comes.
type TextDelta struct {
	Cut   int    `json:"cut,omitempty"`
	Erase int    `json:"erase,omitempty"`
	Add   string `json:"add,omitempty"`
}

// notInPatch are the fields of a snapshot and of its screen that a patch does not have: a delta has
// fields of its own for them, or they are the same for both snapshots.
var notInPatch = map[reflect.Type][]string{
	reflect.TypeFor[Snapshot](): {
		"id", "sessionId", "content", "timestamp", "seq", "screen", "settled", "changed", "since",
		"moved", "idleMs",
	},
	reflect.TypeFor[Screen](): {"cols", "rows", "lines"},
}

// patchField is a field of a struct that a patch may have, by its name in JSON.
type patchField struct {
	index int
	name  string
}

var patchFieldsOf sync.Map // what patchFields returned, by type

func patchFields(t reflect.Type) []patchField {
	if known, ok := patchFieldsOf.Load(t); ok {
		fields, _ := known.([]patchField)
		return fields
	}
	var fields []patchField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !slices.Contains(notInPatch[t], name) {
			fields = append(fields, patchField{i, name})
		}
	}
	patchFieldsOf.Store(t, fields)
	return fields
}

// longDelta is the number of changed rows from which a whole snapshot can be shorter: a row takes
// some 20 bytes more in a delta, and the rest of a snapshot some 250 less.
const longDelta = 12

// Delta returns s for a peer that has last, or nil if it needs all of s. With content, the peer gets
// the rolling text too. last may be nil.
func (s *Snapshot) Delta(last *Snapshot, content bool) *SnapshotDelta {
	if last == nil || last.SessionID != s.SessionID || last.Screen == nil || s.Screen == nil ||
		last.Screen.Cols != s.Screen.Cols || last.Screen.Rows != s.Screen.Rows ||
		len(last.Screen.Lines) != len(s.Screen.Lines) || last.Seq == 0 {
		return nil
	}
	moved, changed, shorter := Delta(last.Screen.Lines, s.Screen.Lines, true)
	if !shorter && len(changed) >= longDelta {
		return nil
	}
	d := &SnapshotDelta{
		SessionID: s.SessionID,
		Seq:       s.Seq,
		Ms:        s.Timestamp - last.Timestamp,
		Settled:   s.Settled,
		IdleMs:    s.IdleMs,
		Moved:     moved,
		Changed:   changed,
	}
	if last.Seq != s.Seq {
		d.Since = last.Seq
	}
	if content && last.Content != s.Content {
		d.Content = textDelta(last.Content, s.Content)
	}
	base := *last.Screen
	base.Hash = d.hashAfter(last.Screen, s.Screen)
	patch := make(map[string]json.RawMessage)
	if makePatch(patch, reflect.ValueOf(last).Elem(), reflect.ValueOf(s).Elem()) != nil ||
		makePatch(patch, reflect.ValueOf(&base).Elem(), reflect.ValueOf(s.Screen).Elem()) != nil {
		return nil // it cannot be sent in any form: Encode says why
	}
	if len(patch) > 0 {
		d.patch = patch
	}
	return d
}

// Complete implements [SnapshotPart].
func (d *SnapshotDelta) Complete(last *Snapshot) (full *Snapshot, ok bool) {
	since := d.Since
	if since == 0 {
		since = d.Seq
	}
	if last == nil || last.Screen == nil || last.Seq != since || last.SessionID != d.SessionID ||
		len(last.Screen.Lines) != last.Screen.Rows {
		return nil, false
	}
	out, screen := *last, *last.Screen
	out.shared, out.Screen = nil, &screen
	out.ID, out.Timestamp = NewID(), last.Timestamp+d.Ms
	out.Seq, out.Settled, out.IdleMs = d.Seq, d.Settled, d.IdleMs
	if d.Moved != 0 || len(d.Changed) > 0 {
		screen.Lines = Patch(Move(screen.Lines, d.Moved), d.Changed)
	}
	if d.Content != nil {
		if out.Content, ok = d.Content.applyTo(last.Content); !ok {
			return nil, false
		}
	}
	if d.applyPatch(&out) != nil {
		return nil, false
	}
	if _, told := d.patch["hash"]; !told {
		screen.Hash = d.hashAfter(last.Screen, &screen)
	}
	valid := new(checks).checkChanged("changed", d.Changed, screen.Rows).done() == nil
	return &out, valid && out.check() == nil
}

// applyPatch sets the fields of a snapshot, and of its screen, that the patch has.
func (d *SnapshotDelta) applyPatch(s *Snapshot) error {
	if err := applyPatch(reflect.ValueOf(s).Elem(), d.patch); err != nil {
		return err
	}
	return applyPatch(reflect.ValueOf(s.Screen).Elem(), d.patch)
}

// hashAfter returns the hash of next, the screen after d, as d leaves it out.
func (d *SnapshotDelta) hashAfter(last, next *Screen) string {
	if d.Moved == 0 && len(d.Changed) == 0 && last.Cursor.Row == next.Cursor.Row &&
		last.Cursor.Col == next.Cursor.Col {
		return last.Hash
	}
	return HashScreen(next.Cols, next.Rows, next.Cursor, next.Lines)
}

func textDelta(last, next string) *TextDelta {
	cut, kept := 0, commonStart(last, next)
	if kept < len(last) { // the start of a full text goes when more comes
		at := strings.Index(last, next[:min(len(next), 64)])
		if at > 0 {
			if n := commonStart(last[at:], next); n > kept {
				cut, kept = at, n
			}
		}
	}
	return &TextDelta{Cut: cut, Erase: len(last) - cut - kept, Add: next[kept:]}
}

// commonStart returns the length of what two texts begin with, in whole characters.
func commonStart(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

func (d *TextDelta) applyTo(text string) (changed string, ok bool) {
	if d.Cut+d.Erase > len(text) {
		return "", false
	}
	return text[d.Cut:len(text)-d.Erase] + d.Add, true
}

// makePatch adds to a JSON merge patch (RFC 7396) the fields in which two structs differ.
func makePatch(patch map[string]json.RawMessage, last, next reflect.Value) error {
	for _, f := range patchFields(next.Type()) {
		a, b := last.Field(f.index), next.Field(f.index)
		if b.Comparable() && a.Equal(b) || reflect.DeepEqual(a.Interface(), b.Interface()) {
			continue // pointers to equal values are not equal
		}
		value := b.Interface()
		if b.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil() {
			a, b = a.Elem(), b.Elem()
		}
		if b.Kind() == reflect.Struct {
			inner := make(map[string]json.RawMessage)
			if err := makePatch(inner, a, b); err != nil {
				return err
			}
			value = inner
		}
		raw, err := marshal(value)
		if err != nil {
			return err
		}
		patch[f.name] = raw
	}
	return nil
}

// applyPatch applies a JSON merge patch to a struct. It changes nothing to which the struct points:
// others may be reading that.
func applyPatch(of reflect.Value, patch map[string]json.RawMessage) error {
	for _, f := range patchFields(of.Type()) {
		raw, told := patch[f.name]
		if !told {
			continue
		}
		if err := applyValue(of.Field(f.index), raw); err != nil {
			if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
				mistyped.Field = strings.TrimSuffix(f.name+"."+mistyped.Field, ".")
			}
			return err
		}
	}
	return nil
}

func applyValue(field reflect.Value, raw json.RawMessage) error {
	t := field.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	value := reflect.New(t)
	switch {
	case string(raw) == "null":
		field.SetZero()
		return nil
	case t.Kind() != reflect.Struct:
		if err := json.Unmarshal(raw, value.Interface()); err != nil {
			return err
		}
	default:
		if old := reflect.Indirect(field); old.IsValid() {
			value.Elem().Set(old)
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(raw, &inner); err != nil {
			return err
		}
		if err := applyPatch(value.Elem(), inner); err != nil {
			return err
		}
	}
	if field.Kind() != reflect.Pointer {
		value = value.Elem()
	}
	field.Set(value)
	return nil
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// MarshalJSON implements [json.Marshaler].
func (d *SnapshotDelta) MarshalJSON() ([]byte, error) {
	type fields SnapshotDelta
	out, err := marshal((*fields)(d))
	if err != nil || len(d.patch) == 0 {
		return out, err
	}
	patch, err := marshal(d.patch)
	if err != nil {
		return nil, err
	}
	return append(append(out[:len(out)-1], ','), patch[1:]...), nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *SnapshotDelta) UnmarshalJSON(frame []byte) error {
	type fields SnapshotDelta
	if err := json.Unmarshal(frame, (*fields)(d)); err != nil {
		return err
	}
	patch := make(map[string]json.RawMessage)
	if err := json.Unmarshal(frame, &patch); err != nil {
		return err
	}
	maps.DeleteFunc(patch, func(name string, _ json.RawMessage) bool {
		named := func(f patchField) bool { return f.name == name }
		return !slices.ContainsFunc(patchFields(reflect.TypeFor[Snapshot]()), named) &&
			!slices.ContainsFunc(patchFields(reflect.TypeFor[Screen]()), named)
	})
	if len(patch) == 0 {
		return nil
	}
	d.patch = patch
	return d.applyPatch(&Snapshot{Screen: &Screen{}}) // finds a mistyped field
}

func (d *SnapshotDelta) check() error {
	c := new(checks).id("sessionId", d.SessionID).
		between("moved", d.Moved, -MaxSize, MaxSize).
		checkChanged("changed", d.Changed, MaxSize)
	if t := d.Content; t != nil {
		c.between("content.cut", t.Cut, 0, 4*ContentRunes).
			between("content.erase", t.Erase, 0, 4*ContentRunes).
			text("content.add", t.Add, 4*ContentRunes)
	}
	return c.done()
}
