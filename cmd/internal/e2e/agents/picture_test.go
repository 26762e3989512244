package agents_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"terminalproxy/cmd/internal/e2e/world"

	"github.com/stretchr/testify/require"
)

// colours returns the colours of the cells in a picture's row, "" for a cell of several colours.
func colours(t *testing.T, pixels []byte, row, cols int) []string {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(pixels))
	require.NoError(t, err)
	all := make([]string, cols)
	for col := range all {
		seen := make(map[color.Color]bool)
		box := image.Rect(col*9, row*18, (col+1)*9, (row+1)*18)
		require.True(t, box.In(img.Bounds()), "%v in %v", box, img.Bounds())
		for y := box.Min.Y; y < box.Max.Y; y++ {
			for x := box.Min.X; x < box.Max.X; x++ {
				seen[img.At(x, y)] = true
			}
		}
		if len(seen) == 1 {
			r, g, b, _ := img.At(box.Min.X, box.Min.Y).RGBA()
			all[col] = strconv.Itoa(int(r>>8)) + "," + strconv.Itoa(int(g>>8)) + "," + strconv.Itoa(int(b>>8))
		}
	}
	return all
}

// bashArgs runs a line in a shell, which then does nothing.
func bashArgs(line string) []string { return []string{"-c", line + "; exec sleep 1000"} }

// Over MCP, over HTTP and on the command line the picture is the same, with the colours of every
// cell.
func TestAnAgentSeesThePicture(t *testing.T) {
	w, a := world.NewAgent(t)
	id, _ := a.RunProgram(world.Args{
		"program": "bash", "cols": 30, "rows": 4, "wait_for": "text", "value": "painted",
		"args": bashArgs(`printf '\e]11;#010203\e\\\e[48;2;10;200;30m \e[48;5;196m \e[7;33m \e[0;34m█\e[0mx\r\n\e[4 qpainted'`),
	})
	text, pixels := a.ReadPicture("terminal_read", world.Args{})
	require.Contains(t, text, "270x72 pixels, 9x18 to a cell")
	require.Equal(t, []string{"10,200,30", "255,0,0", "205,205,0", "0,0,238", "", "1,2,3"}, colours(t, pixels, 0, 6))
	require.Equal(t, "1,2,3", colours(t, pixels, 3, 8)[7], "the program has changed the background of the terminal")
	require.Equal(t, "", colours(t, pixels, 1, 8)[7], "the cursor is a line under an empty cell")
	_, again := a.ReadPicture("terminal_wait", world.Args{"for": "text", "value": "painted"})
	require.Equal(t, pixels, again)
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
	require.NoError(t, a.Session.Close())
}

// The cells of a large screen get smaller; beyond a limit, the agent is told to read the text.
func TestALargeScreenIsMadeToFit(t *testing.T) {
	w := world.New(t)
	a := w.Agent("claude", world.Eras[0])
	for _, c := range []struct {
		cols, rows int
		want       string
	}{{240, 60, "1440x720 pixels, 6x12 to a cell"}, {1000, 1000, "no image: the screen has 1000 columns and 1000 rows, a picture of 1568 pixels shows at most 392 and 196: read the rows"}} {
		id, _ := a.RunProgram(world.Args{"program": "bash", "args": bashArgs("echo big"), "cols": c.cols, "rows": c.rows, "wait_for": "text", "value": "big"})
		a.MustCall("terminal_read", world.Args{"terminal": id, "image": true}, "big", c.want)
	}
	require.NoError(t, a.Session.Close())
}
