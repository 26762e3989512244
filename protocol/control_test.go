package protocol

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// signed is a message that an owner or an agent signs for one start of a session.
type signed interface{ Signed(started int64) []byte }

// Changing any field of a signed message changes the bytes that are signed. A new field has to be
// signed, or listed as unsigned. The bytes are those of PROTOCOL.md.
func TestSignatureCoversEveryField(t *testing.T) {
	for _, c := range []struct {
		m        signed
		bytes    string
		unsigned []string
	}{
		{
			&ControlDecide{SessionID: "vim-1", Grant: true, Level: LevelType, Seconds: 60, AgentName: "ä b", Epoch: 7, At: 9},
			"decide\n5:vim-1 3\ntrue 4:type 60 4:ä b 0:\n7 9\n",
			[]string{"RequestID", "By", "SignatureB64"},
		},
		{
			&ControlDecide{SessionID: "vim-1", AgentName: "claude", Mute: MuteOff, Epoch: 7, At: 9},
			"decide\n5:vim-1 3\nfalse 0: 0 6:claude 0:\n7 9\n3:off false\n",
			[]string{"RequestID", "By", "SignatureB64"},
		},
		{
			&ControlRequest{SessionID: "s", Level: LevelType, Why: "w", Seconds: 1, Program: "p", Parent: "q", Epoch: 1, At: 1},
			"request\n1:s 3\n4:type 1 1:w\n1:p 1:q\n1 1\n",
			[]string{"RequestID", "AgentID", "AgentName", "TokenID", "ProofB64"},
		},
		{
			&Keys{SessionID: "vim-1", KeyNo: 8, After: 7, At: 9, InputKind: InputPaste, Data: "ä\nb", More: true},
			"keys\n5:vim-1 3\n8 7 9\n5:paste true 4:ä\nb\n",
			[]string{"RequestID", "SignatureB64"},
		},
		{
			&ChatSend{SessionID: "c-1", KeyNo: 8, At: 9, Text: "ä\nb"},
			"chat.send\n3:c-1 3\n8 9\n4:ä\nb\n",
			[]string{"RequestID", "AgentID", "By", "SignatureB64"},
		},
		{
			&ChatAnswer{SessionID: "c-1", Request: "t 1", At: 9, Answer: ChatReply{Verdict: ChatOnce, Words: "no"}},
			"chat.answer\n3:c-1 3\n3:t 1 9\n4:once 2:no 0\n",
			[]string{"RequestID", "By", "SignatureB64"},
		},
	} {
		require.Equal(t, "terminal-proxy.v1 "+c.bytes, string(c.m.Signed(3)))
		require.NotEqual(t, c.m.Signed(3), c.m.Signed(4), "of another session with the same id")
		before, of := string(c.m.Signed(3)), reflect.ValueOf(c.m).Elem()
		for i := range of.NumField() {
			name, kept := of.Type().Field(i).Name, reflect.New(of.Field(i).Type()).Elem()
			kept.Set(of.Field(i))
			switch v := of.Field(i); {
			case v.Kind() == reflect.String:
				v.SetString("other")
			case v.Kind() == reflect.Bool:
				v.SetBool(!v.Bool())
			case v.CanInt():
				v.SetInt(v.Int() + 1)
			case v.CanUint():
				v.SetUint(v.Uint() + 1)
			case v.Kind() == reflect.Struct:
				v.SetZero()
			default:
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			}
			require.Equal(t, slices.Contains(c.unsigned, name), before == string(c.m.Signed(3)), "%T %s", c.m, name)
			of.Field(i).Set(kept)
		}
	}
	// Fields cannot be moved into each other.
	a, b := ControlDecide{SessionID: "s", AgentName: "x 2:on"}, ControlDecide{SessionID: "s", AgentName: "x", Hide: HideOn}
	require.NotEqual(t, a.Signed(1), b.Signed(1))
	request := ControlRequest{SessionID: "s", Program: "p", Parent: "q"}
	require.NotEqual(t, request.Signed(1), (&ControlRequest{SessionID: "s", Program: "p1:q"}).Signed(1))
}

func TestEachAnswerHasItsOwnSignature(t *testing.T) {
	sign := func(r ChatReply) string {
		return string((&ChatAnswer{SessionID: "c-1", Request: "t 1", At: 9, Answer: r}).Signed(3))
	}
	forms := []string{
		sign(ChatReply{}), sign(ChatReply{Verdict: ChatOnce}), sign(ChatReply{Verdict: ChatForSession}), sign(ChatReply{Words: "x"}),
		sign(ChatReply{Replies: map[string][]string{"b": {"x", "y"}, "a": {"z"}}}), sign(ChatReply{Replies: map[string][]string{"b": {"x y"}, "a": {"z"}}}),
		sign(ChatReply{Replies: map[string][]string{"b": {"x"}, "a": {"y", "z"}}}), sign(ChatReply{Replies: map[string][]string{"b": {}}}),
	}
	require.Equal(t, "terminal-proxy.v1 chat.answer\n3:c-1 3\n3:t 1 9\n0: 0: 2\n1:a 1 1:z\n1:b 2 1:x 1:y\n", forms[4], "as PROTOCOL.md says")
	slices.Sort(forms)
	require.Len(t, slices.Compact(forms), 8)
}

// An owner signs what gives agents more; taking away needs no signature.
func TestDecisionThatGivesMoreWidens(t *testing.T) {
	for _, c := range []struct {
		m      ControlDecide
		widens bool
	}{
		{ControlDecide{}, false},
		{ControlDecide{Grant: true}, true},
		{ControlDecide{Hide: HideOn}, false},
		{ControlDecide{Hide: HideOff}, true},
		{ControlDecide{Mute: MuteOn}, false},
		{ControlDecide{Mute: MuteOff}, true},
		{ControlDecide{Refuse: true}, false},
		{ControlDecide{Hide: HideOff, Mute: MuteOn}, true}, // the first that is set counts
		{ControlDecide{Mute: MuteOff, Refuse: true}, true},
		{ControlDecide{Grant: true, Refuse: true}, false},
	} {
		require.Equal(t, c.widens, c.m.Widens(), "%+v", c.m)
	}
}
