//go:build linux

package built_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// corpora are what programs print, at least so many bytes of it, the same each time.
var corpora = map[string]func(size int) []byte{
	"text": lines(func(b *bytes.Buffer, r *rand.Rand) {
		b.WriteString(word(r) + " ")
	}),
	"colours": lines(func(b *bytes.Buffer, r *rand.Rand) {
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(b, "\x1b[%dm", 30+r.IntN(8))
		case 1:
			fmt.Fprintf(b, "\x1b[1;38;5;%dm", r.IntN(256))
		case 2:
			fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm", r.IntN(256), r.IntN(256), r.IntN(256))
		case 3:
			fmt.Fprintf(b, "\x1b[4;48;5;%dm", r.IntN(256))
		}
		b.WriteString(word(r) + "\x1b[0m ")
	}),
	"unicode": lines(func(b *bytes.Buffer, r *rand.Rand) {
		switch r.IntN(8) {
		case 0:
			b.WriteString(pick(r, []string{"😀", "🚀", "👩‍💻", "🏳️‍🌈", "❤️", "👍🏽", "🇯🇵", "é", "ñ", "→", "█", "│"}))
		case 1:
			b.WriteString(word(r) + " ")
		default:
			b.WriteString(string(pick(r, []rune("漢字仮名交文日本語中国简体繁體한국어글자表示幅計算終端画面"))))
		}
	}),
	"cursor": corpus(jumps),
}

var vocabulary = strings.Fields("the of func return if err nil package import string byte slice range struct interface map chan select defer " +
	"go switch case default break continue type const var for else warning error note in from with and module cache build test ok FAIL PASS")

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
func word(r *rand.Rand) string             { return pick(r, vocabulary) }

// corpus repeats a piece until there is enough.
func corpus(piece func(b *bytes.Buffer, r *rand.Rand)) func(size int) []byte {
	return func(size int) []byte {
		var b bytes.Buffer
		for r := rand.New(rand.NewPCG(1, 2)); b.Len() < size; { //nolint:gosec // the same each time
			piece(&b, r)
		}
		return b.Bytes()
	}
}

// lines are of 5 to 25 pieces.
func lines(piece func(b *bytes.Buffer, r *rand.Rand)) func(size int) []byte {
	return corpus(func(b *bytes.Buffer, r *rand.Rand) {
		for range 5 + r.IntN(20) {
			piece(b, r)
		}
		b.WriteString("\r\n")
	})
}

// jumps are what full-screen programs do: single cells, lines and characters that come in and go, regions that scroll.
func jumps(b *bytes.Buffer, r *rand.Rand) {
	row, col := 1+r.IntN(rows), 1+r.IntN(cols-1)
	switch r.IntN(12) {
	case 0:
		top := 1 + r.IntN(15)
		bottom := top + 5 + r.IntN(20)
		fmt.Fprintf(b, "\x1b[%d;%dr\x1b[%d;1H", top, bottom, bottom)
		for i := range 20 {
			fmt.Fprintf(b, "\x1b[3%dmscrolling in a region %d\r\n", r.IntN(8), i)
		}
		b.WriteString("\x1b[r")
	case 1:
		fmt.Fprintf(b, "\x1b[%d;1H\x1b[%dL\x1b[%dM", row, 1+r.IntN(3), 1+r.IntN(3))
	case 2:
		fmt.Fprintf(b, "\x1b[%d;%dH\x1b[%d@\x1b[%dP\x1b[%dX", row, col, 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(8))
	case 3:
		fmt.Fprintf(b, "\x1b[%d;%dH\x1b[K", row, col)
	default:
		for range 40 {
			fmt.Fprintf(b, "\x1b[%d;%dH\x1b[38;5;%dm%c", 1+r.IntN(rows), 1+r.IntN(cols-1), r.IntN(256), 'A'+r.IntN(26))
		}
	}
}
