package world

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// Driver types into a session over the wire, without the pauses that a tool makes between text and
// Enter.
type Driver struct {
	*Overheard
	T *testing.T
}

// StartDriver runs a program under proxy, with an agent that has the keyboard.
func (w *World) StartDriver(line string) (*Terminal, *Driver) {
	w.T.Helper()
	s := w.Terminal(80, 24)
	s.Run("proxy --agent --grant drive " + line)
	d := &Driver{w.Overhear(w.Session()), w.T}
	granted, _, err := d.C.Request(w.Ctx, &protocol.ControlRequest{SessionID: d.ID, AgentName: "listener", Level: protocol.LevelDrive, Why: "test", Seconds: 600})
	require.NoError(w.T, err)
	require.NotNil(w.T, granted)
	return s, d
}

// TypeText types text, and returns the revision before it.
func (d *Driver) TypeText(text string) uint64 {
	d.T.Helper()
	before, err := d.C.Read(d.W.Ctx, &protocol.Read{SessionID: d.ID})
	require.NoError(d.T, err)
	got, err := d.C.Input(d.W.Ctx, &protocol.Input{SessionID: d.ID, Data: text})
	require.NoError(d.T, err)
	require.Equal(d.T, protocol.StatusWritten, got.Status, "%+v", got)
	return before.Frame.Seq
}

func (d *Driver) Wait(until protocol.Until, after uint64, ms int64) *protocol.WaitResult {
	d.T.Helper()
	got, err := d.C.Wait(d.W.Ctx, &protocol.Wait{SessionID: d.ID, Until: until, AfterSeq: after, TimeoutMs: ms})
	require.NoError(d.T, err)
	return got
}

// WaitReady waits until a fact shows that the program waits for input.
func (d *Driver) WaitReady(after uint64) *protocol.WaitResult {
	d.T.Helper()
	got := d.Wait(protocol.Until{Waiting: true}, after, Patience.Milliseconds())
	require.True(d.T, got.Met, "%+v", got.Frame)
	require.Equal(d.T, protocol.MatchedWaiting, got.Matched)
	return got
}
