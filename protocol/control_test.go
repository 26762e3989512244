package protocol

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Changing any field of a decision changes the bytes that are signed. A new field has to be signed,
// or listed as unsigned.
func TestEverythingThatADecisionSaysIsSigned(t *testing.T) {
	base := ControlDecide{SessionID: "s"}
	signsAll(t, reflect.ValueOf(base), func(v reflect.Value) []byte {
		changed, _ := v.Interface().(ControlDecide)
		return changed.Signed(1)
	}, "RequestID", "By", "SignatureB64")
	require.NotEqual(t, base.Signed(1), base.Signed(2), "of another session with the same id")
	whole := ControlDecide{SessionID: "vim-1", Grant: true, Level: LevelType, Seconds: 60, AgentName: "ä b", Epoch: 7, At: 9}
	require.Equal(t, "terminal-proxy.v1 decide\n5:vim-1 3\ntrue 4:type 60 4:ä b 0:\n7 9\n", string(whole.Signed(3)), "as PROTOCOL.md says")
	quiet := ControlDecide{SessionID: "vim-1", AgentName: "claude", Mute: MuteOff, Epoch: 7, At: 9}
	require.Equal(t, "terminal-proxy.v1 decide\n5:vim-1 3\nfalse 0: 0 6:claude 0:\n7 9\n3:off false\n", string(quiet.Signed(3)), "as PROTOCOL.md says")
	// Fields cannot be moved into each other.
	a, b := ControlDecide{SessionID: "s", AgentName: "x 2:on"}, ControlDecide{SessionID: "s", AgentName: "x", Hide: HideOn}
	require.NotEqual(t, a.Signed(1), b.Signed(1))
}

// An owner signs what gives agents more; taking away needs no signature.
func TestWhatADecisionWidens(t *testing.T) {
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

// As for a decision.
func TestEverythingThatKeysSayIsSigned(t *testing.T) {
	base := Keys{SessionID: "s"}
	signsAll(t, reflect.ValueOf(base), func(v reflect.Value) []byte {
		changed, _ := v.Interface().(Keys)
		return changed.Signed(1)
	}, "RequestID", "SignatureB64")
	require.NotEqual(t, base.Signed(1), base.Signed(2), "of another session with the same id")
	whole := Keys{SessionID: "vim-1", KeyNo: 8, After: 7, At: 9, InputKind: InputPaste, Data: "ä\nb", More: true}
	require.Equal(t, "terminal-proxy.v1 keys\n5:vim-1 3\n8 7 9\n5:paste true 4:ä\nb\n", string(whole.Signed(3)), "as PROTOCOL.md says")
}

// As for a decision.
func TestEverythingThatAPromptAndAnAnswerSayIsSigned(t *testing.T) {
	signsAll(t, reflect.ValueOf(ChatSend{SessionID: "s"}), func(v reflect.Value) []byte {
		changed, _ := v.Interface().(ChatSend)
		return changed.Signed(1)
	}, "RequestID", "AgentID", "By", "SignatureB64")
	send := ChatSend{SessionID: "c-1", KeyNo: 8, At: 9, Text: "ä\nb"}
	require.Equal(t, "terminal-proxy.v1 chat.send\n3:c-1 3\n8 9\n4:ä\nb\n", string(send.Signed(3)), "as PROTOCOL.md says")

	send.Images = []ChatAttachment{{ID: "i 1", Name: "a.png", SHA256: "00"}}
	require.Equal(t, "terminal-proxy.v1 chat.send\n3:c-1 3\n8 9\n4:ä\nb\n3:i 1 5:a.png 2:00\n", string(send.Signed(3)), "as PROTOCOL.md says")

	signed := func(r ChatReply) string {
		return string((&ChatAnswer{SessionID: "c-1", Request: "t 1", At: 9, Answer: r}).Signed(3))
	}
	require.Equal(t, "terminal-proxy.v1 chat.answer\n3:c-1 3\n3:t 1 9\n4:once 2:no 0\n", signed(ChatReply{Verdict: ChatOnce, Words: "no"}), "as PROTOCOL.md says")
	forms := []string{
		signed(ChatReply{}), signed(ChatReply{Verdict: ChatOnce}), signed(ChatReply{Verdict: ChatForSession}), signed(ChatReply{Words: "x"}),
		signed(ChatReply{Replies: map[string][]string{"b": {"x", "y"}, "a": {"z"}}}), signed(ChatReply{Replies: map[string][]string{"b": {"x y"}, "a": {"z"}}}),
		signed(ChatReply{Replies: map[string][]string{"b": {"x"}, "a": {"y", "z"}}}), signed(ChatReply{Replies: map[string][]string{"b": {}}}),
	}
	require.Equal(t, "terminal-proxy.v1 chat.answer\n3:c-1 3\n3:t 1 9\n0: 0: 2\n1:a 1 1:z\n1:b 2 1:x 1:y\n", forms[4], "as PROTOCOL.md says")
	slices.Sort(forms)
	require.Len(t, slices.Compact(forms), 8, "two answers have one signature")
	base := ChatAnswer{SessionID: "s"}
	for _, other := range []ChatAnswer{{SessionID: "t"}, {SessionID: "s", Request: "r"}, {SessionID: "s", At: 1}} {
		require.NotEqual(t, base.Signed(1), other.Signed(1))
	}
	require.NotEqual(t, base.Signed(1), base.Signed(2), "of another session with the same id")
}

// signsAll checks that every field of a message is signed except the unsigned ones.
func signsAll(t *testing.T, base reflect.Value, signed func(reflect.Value) []byte, but ...string) {
	t.Helper()
	for i := range base.NumField() {
		name := base.Type().Field(i).Name
		changed := reflect.New(base.Type()).Elem()
		changed.Set(base)
		switch v := changed.Field(i); {
		case v.Kind() == reflect.String:
			v.SetString("other")
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.CanInt():
			v.SetInt(7)
		case v.CanUint():
			v.SetUint(7)
		default:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		if slices.Contains(but, name) {
			require.Equal(t, signed(base), signed(changed), name)
		} else {
			require.NotEqual(t, signed(base), signed(changed), name)
		}
	}
}

func TestWhatWidens(t *testing.T) {
	for _, c := range []struct {
		m    ControlDecide
		want bool
	}{
		{ControlDecide{}, false},
		{ControlDecide{Grant: true}, true},
		{ControlDecide{Hide: HideOn}, false},
		{ControlDecide{Hide: HideOn, Grant: true}, false},
		{ControlDecide{Hide: HideOff}, true},
	} {
		require.Equal(t, c.want, c.m.Widens(), "%+v", c.m)
	}
}

// A gateway rewrites the other fields.
func TestEverythingThatARequestSaysIsSigned(t *testing.T) {
	base := ControlRequest{RequestID: "r", SessionID: "s", AgentID: "a", AgentName: "n", Level: LevelType, Why: "w", Seconds: 1, TokenID: "t", Program: "p", Parent: "q", Epoch: 1, At: 1}
	signed := func(change func(m *ControlRequest)) []byte {
		changed := base
		change(&changed)
		return changed.Signed(1)
	}
	require.NotEqual(t, base.Signed(1), base.Signed(2), "of another session with the same id")
	for _, change := range []func(m *ControlRequest){
		func(m *ControlRequest) { m.SessionID = "x" }, func(m *ControlRequest) { m.Level = LevelDrive }, func(m *ControlRequest) { m.Why = "x" },
		func(m *ControlRequest) { m.Seconds = 2 }, func(m *ControlRequest) { m.Program = "x" }, func(m *ControlRequest) { m.Parent = "x" },
		func(m *ControlRequest) { m.Epoch = 2 }, func(m *ControlRequest) { m.At = 2 }, func(m *ControlRequest) { m.Program, m.Parent = "p1:q", "" },
	} {
		require.NotEqual(t, base.Signed(1), signed(change))
	}
	require.Equal(t, base.Signed(1), signed(func(m *ControlRequest) { m.RequestID, m.AgentID, m.AgentName, m.TokenID = "", "", "", "" }))
	require.Equal(t, "terminal-proxy.v1 request\n1:s 3\n4:type 1 1:w\n1:p 1:q\n1 1\n", string(base.Signed(3)), "as PROTOCOL.md says")
}
