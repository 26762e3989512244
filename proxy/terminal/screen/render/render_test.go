package render_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen/render"
)

func TestCast(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"version 2", "{\"version\":2,\"width\":10,\"height\":3}\n[0.1,\"o\",\"ab\\r\\n\"]\n[0.2,\"i\",\"x\"]\n[0.3,\"o\",\"cd\"]\n", "ab\ncd\n"},
		{"version 3", "{\"version\":3,\"term\":{\"cols\":10,\"rows\":3}}\n[0.1,\"o\",\"0123456789\"]\n[0.1,\"r\",\"5x3\"]\n", "01234\n56789\n"},
		{"comments", "{\"version\":3,\"term\":{\"cols\":10,\"rows\":3}}\n# here\n\n[0.1,\"o\",\"ab\"]\n[0,\"A\",\"{}\"]\n[0,\"x\",\"0\"]\n", "ab\n"},
		{"cut", "{\"version\":2,\"width\":10,\"height\":3}\n[0.1,\"o\",\"ab\"]\n[0.2,\"o\",\"c", "ab\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.True(t, render.IsCast([]byte(c.in)))
			out, o, err := render.Cast([]byte(c.in))
			require.NoError(t, err)
			s, err := render.Play(out, o)
			require.NoError(t, err)
			require.Equal(t, c.want, render.Text(s))
		})
	}
	require.False(t, render.IsCast([]byte("plain\n")))
	_, _, err := render.Cast([]byte("{\"version\":2,\"width\":10,\"height\":3}\n[0.1,\"o\",\"a\"]\n{}\n"))
	require.ErrorContains(t, err, "line 3")
	_, _, err = render.Cast([]byte(`{"version":9}`))
	require.ErrorContains(t, err, "version 9")
}

func TestBadOptions(t *testing.T) {
	for _, s := range []string{"", "5", "5:80", "x:80x24", "-1:80x24", "5:0x24", "5:80x9999"} {
		_, err := render.ParseResize(s)
		require.Error(t, err, s)
	}
	_, err := render.Play([]byte("abc"), render.Options{Cols: 80, Rows: 24, Resizes: []render.Resize{{Off: 9, Cols: 5, Rows: 5}}})
	require.ErrorContains(t, err, "resize at 9")
	_, err = render.Play(nil, render.Options{Cols: 0, Rows: 24})
	require.ErrorContains(t, err, "0x24")
}

func TestJSON(t *testing.T) {
	s, err := render.Play([]byte("a\x1b[5n"), render.Options{Cols: 4, Rows: 2, Chunk: 1})
	require.NoError(t, err)
	b, err := render.JSON(s)
	require.NoError(t, err)
	require.JSONEq(t, `{"lines":["a",""],"cursor":{"x":1,"y":0,"visible":true},"alt":false,"title":"","scrollback":0,"replies":"G1swbg=="}`, string(b))
}

func TestSVG(t *testing.T) {
	in := "<&>\x1b[1;31mred\x1b[m\x1b[4:3m漢\x1b[m \x1b[7minv\x1b[m\x1b[38;2;1;2;3mrgb\ufffe"
	s, err := render.Play([]byte(in), render.Options{Cols: 20, Rows: 2})
	require.NoError(t, err)
	svg := render.SVG(s)
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	for _, want := range []string{"&lt;&amp;&gt;", `fill="#ff0000" font-weight="bold">red`, ">漢<", `fill="#010203"`, `fill="#e5e5e5" shape-rendering="crispEdges"`} {
		require.Contains(t, svg, want)
	}
	require.Contains(t, render.ANSI(s), "\x1b[0;1;31mred")
}
