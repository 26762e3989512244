package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCopiesLeaveTheOriginalAlone(t *testing.T) {
	for _, kind := range Kinds() {
		m, sent := full(kind), full(kind)
		got := Forward(m, "request-2", "sender-2")
		require.Equal(t, sent, m, kind)
		require.Equal(t, KindOf(m), KindOf(got))
		h := headOf(got)
		if h.request >= 0 {
			require.Equal(t, "request-2", RequestID(got))
		}
		if h.sender >= 0 {
			require.Equal(t, "sender-2", fieldText(got, h.sender))
		}
		require.Equal(t, SessionID(m), SessionID(got))
	}
}
