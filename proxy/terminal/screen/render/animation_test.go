package render_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen/render"
)

// castHead begins a recording of ten columns and three rows.
const castHead = `{"version":3,"term":{"cols":10,"rows":3}}` + "\n"

func animate(t *testing.T, events ...string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, render.Animation(&b, []byte(castHead+strings.Join(events, "\n")+"\n")))
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return b.String()
		} else if err != nil {
			t.Fatal(err, b.String())
		}
	}
}

// stripped counts the pictures on the strip.
func stripped(svg string) int {
	return len(regexp.MustCompile(`<g transform="translate\(0 \d+\)">`).FindAllString(svg, -1))
}

func TestAnAnimationShowsEveryPictureForItsTime(t *testing.T) {
	svg := animate(t, `[0.5,"o","\u001b[?25lone"]`, `[1.0,"o","\r\ntwo"]`, `[0,"o","!"]`, `[2.0,"o","\r\nend"]`)
	require.Equal(t, 3, stripped(svg), "output that comes at once is one picture")
	require.Contains(t, svg, "animation: play 7s step-end infinite", "1 s, 2 s, and 4 s for the last")
	const height = 28 + 3*17 + 8
	for i, at := range []string{"0.000", "14.286", "42.857"} {
		require.Contains(t, svg, fmt.Sprintf("%s%% { transform: translateY(%dpx) }", at, -i*height))
	}
	require.Contains(t, svg, fmt.Sprintf(`id="strip" transform="translate(0 %d)"`, -height), "the second stood longest: it is the still picture")
	require.Equal(t, 1, strings.Count(svg, ">one<"), "a row that stays is drawn once")
	require.NotContains(t, svg, "<script")
}

func TestAnAnimationShortensPauses(t *testing.T) {
	svg := animate(t, `[0,"o","one"]`, `[3600,"o","\r\ntwo"]`)
	require.Contains(t, svg, "play 8s ")
}

func TestAnAnimationOfOutputThatDoesNotPause(t *testing.T) {
	all := make([]string, 100) // two seconds
	for i := range all {
		all[i] = fmt.Sprintf(`[0.02,"o","\r%d"]`, i)
	}
	n := stripped(animate(t, all...))
	require.Greater(t, n, 5)
	require.Less(t, n, 12)
}

func TestAnAnimationHasTheTitleAndTheLargestSize(t *testing.T) {
	svg := animate(t, `[0,"o","\u001b]2;a <b>\u0007one"]`, `[1,"r","20x5"]`, `[1,"o","two"]`, `[1,"o","\u001b[41m \u001b]11;#102030\u001b\\"]`)
	require.Contains(t, svg, ">a &lt;b&gt;</text>")
	require.Contains(t, svg, fmt.Sprintf(`width="184" height="%d"`, 28+5*17+8))
	require.Contains(t, svg, `fill="#102030"`)
}

func TestAnAnimationLeavesOutEmptyScreensAtItsEnds(t *testing.T) {
	svg := animate(t, `[0,"o","\u001b[?1049h"]`, `[1,"o","one"]`, `[1,"o","\u001b[?1049l"]`)
	require.Equal(t, 1, stripped(svg))
	require.Contains(t, svg, ">one<")
}

func TestARecordingThatCannotBeAnimated(t *testing.T) {
	var flood strings.Builder
	for i := range 2100 {
		fmt.Fprintf(&flood, "[1,\"o\",\"\\r%d\"]\n", i)
	}
	for want, cast := range map[string]string{
		"header":              "no cast",
		"shows nothing":       castHead,
		"line 2":              castHead + "{}\n[1,\"o\",\"x\"]\n",
		"more than 2000":      castHead + flood.String(),
		"size 0x0":            `{"version":3}` + "\n[1,\"o\",\"x\"]\n",
		"asciicast line 2: r": castHead + "[1,\"r\",\"wide\"]\n",
	} {
		require.ErrorContains(t, render.Animation(io.Discard, []byte(cast)), want)
	}
}
