package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/protocol"
)

func TestNormalize(t *testing.T) {
	for given, want := range map[string]string{
		"": "", "plain text": "plain text", "caffe\u0301": "caff\u00e9", "caff\u00e9": "caff\u00e9", "a\u00a0b\u202fc\u3000d": "a b c d",
		"\u212b": "\u00c5", "\u1112\u1161\u11ab": "\ud55c", "日本語 👨\u200d👩": "日本語 👨\u200d👩", "a\tb\nc": "a\tb\nc",
	} {
		require.Equal(t, want, Normalize(given))
		require.Equal(t, want, Normalize(want), "once is enough")
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { Normalize("as nearly all rows are") }))
}

func TestConditionsThatLookTheSame(t *testing.T) {
	v := newView("Caffe\u0301\u00a0bar")
	require.NoError(t, CheckExpect(&protocol.Expect{Text: "Caff\u00e9 bar"}, v))
	require.ErrorContains(t, CheckExpect(&protocol.Expect{Text: "Caffe bar"}, v), "it is not there")
}
