package requests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
)

func TestAnIDIsForOneInput(t *testing.T) {
	first := protocol.Input{RequestID: "i", InputKind: protocol.InputText, Data: "ls", Epoch: 1, TimeoutMs: 100}
	receipt := &protocol.InputResult{RequestID: "i", Status: protocol.StatusWritten, WrittenBytes: 2, Frame: &protocol.Frame{}}
	for name, c := range map[string]struct {
		change func(m *protocol.Input)
		want   idUse
	}{
		"the same":            {func(*protocol.Input) {}, repeated},
		"with more time":      {func(m *protocol.Input) { m.TimeoutMs, m.SettleMs, m.Epoch = 9000, 30, 2 }, repeated},
		"with a condition":    {func(m *protocol.Input) { m.Expect = &protocol.Expect{Hash: "x"} }, repeated},
		"other data":          {func(m *protocol.Input) { m.Data = "rm" }, usedForOther},
		"another kind":        {func(m *protocol.Input) { m.InputKind = protocol.InputPaste }, usedForOther},
		"at another place":    {func(m *protocol.Input) { m.At = &protocol.Cell{Row: 1} }, usedForOther},
		"on another text":     {func(m *protocol.Input) { m.On = "OK" }, usedForOther},
		"to another place":    {func(m *protocol.Input) { m.To = &protocol.Cell{} }, usedForOther},
		"a part moved to on":  {func(m *protocol.Input) { m.Data, m.On = "l", "s" }, usedForOther},
		"with a part":         {func(m *protocol.Input) { m.Parts = []protocol.InputPart{{Data: "ls"}} }, usedForOther},
		"under another id":    {func(m *protocol.Input) { m.RequestID = "j" }, unused},
		"another, another id": {func(m *protocol.Input) { m.RequestID, m.Data = "j", "rm" }, unused},
	} {
		t.Run(name, func(t *testing.T) {
			r, m, next := newReceipts(), first, first
			before, _ := r.claimID(&m)
			require.Equal(t, unused, before)
			c.change(&next)
			before, got := r.claimID(&next)
			require.Equal(t, c.want, before)
			require.Nil(t, got, "the first is under way")
			r.storeReceipt(receipt)
			before, got = r.claimID(&m)
			require.Equal(t, repeated, before, "whatever came between")
			require.Equal(t, 2, got.WrittenBytes)
			require.Nil(t, got.Frame)
			_, got = r.claimID(&next)
			require.Equal(t, c.want == repeated, got != nil)
		})
	}
}

func TestTheOldestIDsAreForgotten(t *testing.T) {
	r := newReceipts()
	for i := range receiptsKept + 1 {
		before, _ := r.claimID(&protocol.Input{RequestID: fmt.Sprint(i)})
		require.Equal(t, unused, before)
	}
	before, _ := r.claimID(&protocol.Input{RequestID: "1"})
	require.Equal(t, repeated, before)
	before, _ = r.claimID(&protocol.Input{RequestID: "0"})
	require.Equal(t, unused, before)
	require.Len(t, r.known, receiptsKept)
	r.storeReceipt(&protocol.InputResult{RequestID: "9"})
}

// An agent gets one receipt for an input, after the pump has ended it.
func TestAReceiptIsSentOnce(t *testing.T) {
	s := newStage(nil)
	in := s.deliveries.newDelivery(&protocol.Input{RequestID: "i1"}, 0, nil)
	life := in.pumpJob().Life
	result := &protocol.InputResult{RequestID: "i1"}
	in.reply.answerAtExit(result)
	require.Empty(t, s.sent, "the input is still queued")
	require.True(t, life.Advance(pump.Exited))
	in.reply.answerAtExit(result)
	in.reply.answerAtExit(result)
	in.reply.answerNow(time.Now(), result)
	require.Equal(t, []protocol.Message{result}, s.sent)
	require.Equal(t, pump.Sent, life.State())
}
