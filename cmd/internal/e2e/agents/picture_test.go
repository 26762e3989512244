package agents_test

import (
	"bytes"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// Over MCP, over HTTP and on the command line the picture is the same, with the program's colours.
func TestAnAgentSeesThePicture(t *testing.T) {
	w, a := world.NewAgent(t)
	id, _ := a.RunProgram(world.Args{
		"program": "bash", "cols": 30, "rows": 4, "wait_for": "text", "value": "painted",
		"args": []string{"-c", `printf '\e]11;#010203\e\\\e[48;2;10;200;30m \e[0;34m█\e[0mx\r\n\e[4 qpainted'; exec sleep 1000`},
	})
	text, pixels := a.ReadPicture("terminal_read", world.Args{})
	require.Contains(t, text, "270x72 pixels, 9x18 to a cell")
	img, err := png.Decode(bytes.NewReader(pixels))
	require.NoError(t, err)
	for x, want := range []color.RGBA{{10, 200, 30, 255}, {0, 0, 238, 255}} {
		require.Equal(t, want, color.RGBAModel.Convert(img.At(9*x, 0)))
	}
	c := w.Caller()
	require.Equal(t, pixels, []byte(c.Do("GET", "/v1/sessions/"+id+"/screen?format=png", "", 200)))
	w.MustGateway("read", id, "--png", w.Path("read.png"))
	require.Equal(t, pixels, []byte(w.Content("read.png")))
	w.MustGateway("read", id, "--svg", w.Path("read.svg"))
	require.Equal(t, w.Content("read.svg"), c.Do("GET", "/v1/sessions/"+id+"/screen?format=svg", "", 200))
	w.Write("ansi", strings.ReplaceAll(strings.TrimSuffix(w.MustGateway("read", id, "--ansi"), "\n"), "\n", "\r\n")+"\x1b]11;#010203\x1b\\\x1b[2;8H\x1b[4 q")
	w.MustGateway("render", "--cols", "30", "--rows", "4", "--png", w.Path("render.png"), w.Path("ansi"))
	require.Equal(t, string(pixels), w.Content("render.png"))
	c.Client.CloseIdleConnections()
}
