package hub

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

// crowd is a switchboard with many sessions, some with long fields.
func crowd(tb testing.TB, n int) (h *Hub, proxies []*Peer) {
	tb.Helper()
	h = New(nil)
	h.LimitSessions(n)
	for i := range n {
		if i%maxPerProxy == 0 {
			proxies = append(proxies, h.Join(Member{Role: RoleProxy}))
		}
		m := opening(fmt.Sprintf("vim-%05d", i), "k")
		m.StartedAt = int64(i / 3) // some begin at the same time
		if i%10 == 0 {
			m.Command = string(make([]byte, 2000)) // six times as long in a message
		}
		proxies[i/maxPerProxy].Handle(m)
	}
	return h, proxies
}

func ids(all []protocol.SessionInfo) (out []string) {
	for _, s := range all {
		out = append(out, s.SessionID)
	}
	return out
}

// A list that is longer than a message comes in several, each of which can be sent.
func TestALongListComesInParts(t *testing.T) {
	h, _ := crowd(t, 3000)
	defer h.Close()
	p := h.Join(Member{Role: RoleViewer})
	p.Handle(&protocol.SessionsList{RequestID: "all"})
	all := ids(allMessages(p)[0].(*protocol.SessionsListResult).Sessions)
	require.Len(t, all, 3000)

	var paged []string
	for after := ""; ; {
		p.Handle(&protocol.SessionsList{RequestID: "page", Paged: true, After: after})
		page := allMessages(p)[0].(*protocol.SessionsListResult)
		_, err := protocol.Encode(page)
		require.NoError(t, err)
		paged = append(paged, ids(page.Sessions)...)
		if after = page.Next; after == "" {
			break
		}
	}
	require.Equal(t, all, paged)

	p.Handle(&protocol.SessionsWatch{RequestID: "w"})
	var watched []string
	parts := allMessages(p)[1:]
	for i, m := range parts {
		part := m.(*protocol.SessionsChanged)
		_, err := protocol.Encode(part)
		require.NoError(t, err)
		require.Equal(t, i == 0, part.Full)
		require.Equal(t, i < len(parts)-1, part.More)
		watched = append(watched, ids(part.Sessions)...)
	}
	require.Equal(t, all, watched)
}

// Comparing two list entries compares every field.
func TestAlikeComparesEveryField(t *testing.T) {
	fields := reflect.TypeFor[protocol.SessionInfo]()
	for i := range fields.NumField() {
		var a, b protocol.SessionInfo
		fill(reflect.ValueOf(&b).Elem().Field(i))
		require.False(t, sameStableInfo(&a, &b), fields.Field(i).Name)
		fill(reflect.ValueOf(&a).Elem().Field(i))
		require.True(t, sameStableInfo(&a, &b), fields.Field(i).Name)
	}
}

// fill makes a value other than zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	default:
		panic(v.Kind())
	}
}
