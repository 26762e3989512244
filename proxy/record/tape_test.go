package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A tape also reads a recording that is still being written.
func TestATapeReadsARecording(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.cast")
	files, err := OpenFiles(name)
	require.NoError(t, err)
	r := New(Config{Cast: files.Cast, Log: files.Log, Header: Header{Cols: 80, Rows: 24, Command: "bash"}, Session: Session{Command: "bash"}})
	done := make(chan error, 1)
	go func() { done <- r.Run() }()
	r.WriteOutput([]byte("one"))
	r.WriteOutput([]byte("世\xe7"))
	r.AgentInput(Author{Agent: "claude", ID: "a", Grant: 3}, []byte("ls\r"))
	r.RecordResize(100, 30)
	r.RecordExit(2, "")
	require.NoError(t, r.Close(time.Minute))
	require.NoError(t, <-done)

	file, err := os.Open(name)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	tape, err := NewTape(file)
	require.NoError(t, err)
	require.Equal(t, []any{80, 24, "bash", r.BeginTime().Unix()}, []any{tape.Header.Cols, tape.Header.Rows, tape.Header.Command, tape.Header.Begin.Unix()})
	var got []Event
	for {
		e, err := tape.Next(func(code byte) bool { return code != CodeInput })
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.LessOrEqual(t, e.At, time.Since(r.BeginTime()))
		if e.Code == CodeAuthor {
			require.Equal(t, Author{Agent: "claude", ID: "a", Grant: 3}, e.DecodeAuthor())
		}
		e.At = 0
		got = append(got, e)
	}
	require.Contains(t, got, Event{Code: CodeOutput, Data: "one"})
	require.Contains(t, got, Event{Code: CodeOutput, Data: "世"})
	require.Contains(t, got, Event{Code: CodeInput}, "what nobody wants is not decoded")
	require.Contains(t, got, Event{Code: CodeResize, Data: "100x30"})
	require.Equal(t, Event{Code: CodeExit, Data: "2"}, got[len(got)-1])
}

// The newest recordings are listed, only to their user.
func TestRecordingsAreKnown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "records")
	require.Empty(t, Recordings(dir))
	begin := time.Now().Round(0)
	for i := range 3 {
		require.NoError(t, RegisterRecording(dir, Known{File: "/tmp/x.cast", Begin: begin.Add(time.Duration(i) * time.Hour), Session: Session{ID: "vim-1"}}))
	}
	all := Recordings(dir)
	require.Len(t, all, 3)
	require.True(t, all[0].Begin.Equal(begin.Add(2*time.Hour)))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm())
	info, err = os.Stat(filepath.Join(dir, all[0].ID+noteSuffix))
	require.NoError(t, err)
	require.EqualValues(t, 0o600, info.Mode().Perm())
	_, err = all[0].Open()
	require.ErrorIs(t, err, ErrUnknown, "nothing lies there")
	require.Error(t, RegisterRecording(dir, Known{File: "/tmp/x.cast", Session: Session{Cwd: string(make([]byte, maxNote))}}))

	note, err := os.ReadFile(filepath.Join(dir, all[0].ID+noteSuffix))
	require.NoError(t, err)
	for i := range maxKnown {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("r-%016d.json", i)), note, 0o600))
	}
	require.NoError(t, RegisterRecording(dir, Known{File: "/tmp/x.cast", Begin: begin.Add(24 * time.Hour)}))
	all = Recordings(dir)
	require.Len(t, all, maxKnown)
	require.True(t, all[0].Begin.Equal(begin.Add(24*time.Hour)), "the newest stays")
	require.True(t, all[maxKnown-1].Begin.Equal(begin.Add(2*time.Hour)), "the oldest are forgotten")
}
