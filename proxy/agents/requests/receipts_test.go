package requests

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
	"terminalproxy/proxy/consent/pump"
	"terminalproxy/proxy/view/corpus"
)

func TestAnIDIsForOneInput(t *testing.T) {
	first := protocol.Input{RequestID: "i", InputKind: protocol.InputText, Data: "ls", Epoch: 1, TimeoutMs: 100}
	receipt := &protocol.InputResult{RequestID: "i", Status: protocol.StatusWritten, WrittenBytes: 2, Frame: &protocol.Frame{}}
	uses := map[string]idUse{"repeated": repeated, "other": usedForOther, "unused": unused}
	for _, c := range corpus.Rows[struct{ Name, Change, Use string }](t, "ids") {
		t.Run(c.Name, func(t *testing.T) {
			want := uses[c.Use]
			r, m, next := newReceipts(), first, first
			before, _ := r.claimID(&m)
			require.Equal(t, unused, before)
			require.NoError(t, json.Unmarshal([]byte(c.Change), &next))
			before, got := r.claimID(&next)
			require.Equal(t, want, before)
			require.Nil(t, got, "the first is under way")
			r.storeReceipt(receipt)
			before, got = r.claimID(&m)
			require.Equal(t, repeated, before, "whatever came between")
			require.Equal(t, 2, got.WrittenBytes)
			require.Nil(t, got.Frame)
			_, got = r.claimID(&next)
			require.Equal(t, want == repeated, got != nil)
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
