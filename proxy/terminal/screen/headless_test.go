package screen

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reference is where @xterm/headless is installed: npm ci in that directory.
const reference = "testdata/headless"

type headlessCase struct {
	Name string `json:"-"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	In   string `json:"in"`
}

// renditions are inputs about how cells look. They leave out two things in which xterm.js differs
// from xterm: SD erases with the background there, and 38:2 works without a colour space.
var renditions = []string{
	"\x1b[1ma\x1b[2mb\x1b[22mc\x1b[3md\x1b[23me\x1b[4mf\x1b[24mg\x1b[5mh\x1b[25mi\x1b[7mj\x1b[27mk\x1b[8ml\x1b[28mm\x1b[9mn\x1b[29mo\x1b[53mp\x1b[55mq",
	"\x1b[31;42ma\x1b[91;102mb\x1b[39mc\x1b[49md\x1b[38;5;200;48;5;17me\x1b[38;2;1;2;3;48;2;4;5;6mf\x1b[0mg",
	"\x1b[38:5:200ma\x1b[38:2::10:20:30mb\x1b[48:5:3md\x1b[4:3me\x1b[4:0mf\x1b[21mg\x1b[24mh",
	"\x1b[41mab\x1b[K\r\n\x1b[42m\x1b[2Kx\r\n\x1b[43m\x1b[5Xy\x1b[44m\x1b[3@\x1b[45m\x1b[2P",
	"\x1b[41m\x1b[2J\x1b[42m\x1b[2;3Hab\x1b[L\x1b[43m\x1b[3M\x1b[44m\n\n\n\n\n\n\n\n\x1bM",
	"\x1b[41m\x1b[2;3r\x1b[3;1H\n\x1b[42m\x1b[S\x1b[m\x1b[T\x1b[1;31m漢\x1b[m字",
	"\x1b[1;31;44m\x1b7\x1b[0ma\x1b8b\x1b[?1049h\x1b[45m\x1b[2Jc\x1b[?1049ld",
	"\x1b[31;ma\x1b[;32mb\x1b[38;5mc\x1b[38;2;1md\x1b[999mf",
}

// headlessCases returns the renditions, and the recordings of real programs if the project's shared
// test data is there.
func headlessCases(t *testing.T) []headlessCase {
	var cases []headlessCase
	for i, in := range renditions {
		cases = append(cases, headlessCase{strconv.Itoa(i), 20, 6, base64.StdEncoding.EncodeToString([]byte(in))})
	}
	b, err := os.ReadFile(filepath.FromSlash("../../../../shared/testdata/screen/programs.jsonl"))
	if err != nil {
		return cases
	}
	for line := range bytes.Lines(b) {
		var c struct {
			headlessCase
			Name, Tag string
		}
		require.NoError(t, json.Unmarshal(line, &c))
		if c.Tag == "core" {
			c.headlessCase.Name = c.Name
			cases = append(cases, c.headlessCase)
		}
	}
	return cases
}

// TestLooksAsXterm_Client compares colours and attributes cell by cell with @xterm/headless.
func TestLooksAsXterm_Client(t *testing.T) {
	if os.Getenv("CLIENTS") == "" {
		t.Skip("a test of real clients: make clients runs it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing")
	}
	if _, err := os.Stat(filepath.Join(reference, "node_modules")); err != nil {
		t.Skip("@xterm/headless is missing: npm ci --prefix proxy/terminal/screen/" + reference)
	}
	cases := headlessCases(t)
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, c := range cases {
		require.NoError(t, enc.Encode(c))
	}
	cmd := exec.CommandContext(t.Context(), node, "dump.mjs")
	cmd.Dir, cmd.Stdin = reference, &in
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for _, c := range cases {
		require.True(t, lines.Scan())
		var want [][][5]any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &want))
		b, err := base64.StdEncoding.DecodeString(c.In)
		require.NoError(t, err)
		s := New(Config{Cols: c.Cols, Rows: c.Rows})
		s.Feed(b)
		for y, row := range want {
			for x, cell := range row {
				require.Equal(t, looks(cell), looksOf(s.Cell(y, x)), "case %s, row %d, column %d", c.Name, y, x)
			}
		}
	}
}

// looks describes a cell of the reference, without its text; blanks have no visible foreground.
func looks(c [5]any) string {
	return look(c[2], c[3], fmt.Sprint(c[4]), fmt.Sprint(c[0]))
}

func look(fg, bg any, flags, text string) string {
	if strings.TrimSpace(text) == "" && flags == "000000000" {
		fg = ""
	}
	return fmt.Sprint(fg, " ", bg, " ", flags)
}

func looksOf(c Cell) string {
	flags := ""
	for _, on := range []bool{
		c.Style.Attrs&Bold != 0, c.Style.Attrs&Faint != 0, c.Style.Attrs&Italic != 0, c.Style.Underline != NoUnderline,
		c.Style.Attrs&Blink != 0, c.Style.Attrs&Inverse != 0, c.Style.Attrs&Conceal != 0,
		c.Style.Attrs&Strike != 0, c.Style.Attrs&Overline != 0,
	} {
		if on {
			flags += "1"
		} else {
			flags += "0"
		}
	}
	return look(colorOf(c.Style.Fg), colorOf(c.Style.Bg), flags, c.Content)
}

func colorOf(c Color) any {
	if i, ok := c.Index(); ok {
		return i
	}
	if r, g, b, ok := c.RGB(); ok {
		return fmt.Sprintf("#%02x%02x%02x", r, g, b)
	}
	return -1
}
