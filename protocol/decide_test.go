package protocol

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a decision says is signed: changing any field of it changes what the signature is over. A new field has to be
// put there, or in the list of those that are not.
func TestEverythingThatADecisionSaysIsSigned(t *testing.T) {
	unsigned := map[string]bool{"RequestID": true, "By": true, "SignatureB64": true}
	base := ControlDecide{SessionID: "s"}
	shape := reflect.TypeFor[ControlDecide]()
	for i := range shape.NumField() {
		name := shape.Field(i).Name
		changed := base
		v := reflect.ValueOf(&changed).Elem().Field(i)
		switch {
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
		if unsigned[name] {
			require.Equal(t, base.Signed(1), changed.Signed(1), name)
		} else {
			require.NotEqual(t, base.Signed(1), changed.Signed(1), name)
		}
	}
	require.NotEqual(t, base.Signed(1), base.Signed(2), "of another session with the same id")
	whole := ControlDecide{SessionID: "vim-1", Grant: true, Level: LevelType, Seconds: 60, AgentName: "ä b", Epoch: 7, At: 9}
	require.Equal(t, "terminal-proxy.v1 decide\n5:vim-1 3\ntrue 4:type 60 4:ä b 0:\n7 9\n", string(whole.Signed(3)), "as PROTOCOL.md says")
	// Fields cannot be moved into each other.
	a, b := ControlDecide{SessionID: "s", AgentName: "x 2:on"}, ControlDecide{SessionID: "s", AgentName: "x", Hide: HideOn}
	require.NotEqual(t, a.Signed(1), b.Signed(1))
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
