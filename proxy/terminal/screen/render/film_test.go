package render_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"image"
	"image/draw"
	"image/gif"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"terminalproxy/proxy/terminal/screen"
	"terminalproxy/proxy/terminal/screen/render"
)

func shows(cols, rows int, text string) *screen.Screen {
	s := screen.New(screen.Config{Cols: cols, Rows: rows})
	s.Feed([]byte(text))
	return s
}

// The GIF's differences put together are the pictures, pixel for pixel, and their times add up.
func TestAGIFShowsEachPicture(t *testing.T) {
	texts := []string{"", "one", "one\r\n\x1b[31mtwo\x1b[m", "one\r\n\x1b[31mtwo\x1b[m", "\x1b[44mthree\x1b[K"}
	var g render.GIF
	for i, text := range texts {
		require.NoError(t, g.Add(shows(20, 3, text+"\x1b[?25l"), time.Duration(i)*333*time.Millisecond))
	}
	var b bytes.Buffer
	require.NoError(t, g.Write(&b))
	got, err := gif.DecodeAll(&b)
	require.NoError(t, err)
	require.Equal(t, []int{2, 33, 167, 133}, got.Delay, "a picture that stays the same is one")
	canvas := image.NewRGBA(image.Rect(0, 0, 180, 54))
	for i, n := range []int{0, 1, 3, 4} {
		part := got.Image[i]
		draw.Draw(canvas, part.Rect, part, part.Rect.Min, draw.Over)
		require.True(t, bytes.Equal(pixels(t, 20, 3, texts[n]).Pix, canvas.Pix), "picture %d", i)
	}
	require.Less(t, got.Image[1].Rect.Dx(), 180, "only what changed")
	require.Error(t, new(render.GIF).Write(&b))
	require.ErrorContains(t, new(render.GIF).Add(shows(1000, 1000, ""), time.Second), "1000 by 1000 cells")
}

// Colours beyond a GIF's maximum become similar ones.
func TestAGIFOfManyColours(t *testing.T) {
	var text strings.Builder
	for i := range 600 {
		text.WriteString("\x1b[48;2;" + []string{"10", "200"}[i%2] + ";" + strconv.Itoa(i/256*40) + ";" + strconv.Itoa(i%256) + "m ")
	}
	var g render.GIF
	require.NoError(t, g.Add(shows(30, 20, text.String()+"\x1b[?25l"), time.Second))
	var b bytes.Buffer
	require.NoError(t, g.Write(&b))
	got, err := gif.DecodeAll(&b)
	require.NoError(t, err)
	canvas := image.NewRGBA(got.Image[0].Rect)
	draw.Draw(canvas, canvas.Rect, got.Image[0], image.Point{}, draw.Src)
	want := pixels(t, 30, 20, text.String()+"\x1b[?25l").Pix
	for i := range want {
		require.InDelta(t, want[i], canvas.Pix[i], 45)
	}
}

// A website would not take it.
func TestALargeGIFIsRefused(t *testing.T) {
	var g render.GIF
	var err error
	for i := 0; err == nil; i++ {
		require.Less(t, i, 10_000)
		err = g.Add(shows(160, 40, "\x1b[?25l\x1b["+strconv.Itoa(41+i%2)+"m\x1b[2J"), time.Second)
	}
	require.ErrorIs(t, err, render.ErrTooLarge)
}

func TestAPageOfPictures(t *testing.T) {
	var h render.HTML
	require.NoError(t, h.Add(shows(20, 2, "a <b>&\x1b[1;31mred\x1b[m   \x1b[7mend\x1b[m"), "0:00  <claude>", time.Second))
	require.NoError(t, h.Add(shows(20, 2, "日本 ü\r\n\x1b[4:3munder\x1b[?25l"), "0:01", 3*time.Second))
	var b bytes.Buffer
	require.NoError(t, h.Write(&b, "vim <x>", "about"))
	page := b.String()
	for _, want := range []string{
		"<title>vim &lt;x&gt;</title>", "<p>0:00  &lt;claude&gt;</p>", "<pre class=c0>\na &lt;b&gt;&amp;<span class=c1>red</span>   <span class=c2>end </span>",
		"<i class=w2>日</i><i class=w2>本</i> ü\n", ";text-decoration:underline #e5e5e5 wavy", "font-weight:bold", "0.0000%{transform:translateY(0px)}\n20.0000%{",
	} {
		require.Contains(t, page, want)
	}
	for _, not := range []string{"<script", "http://", "https://", "url(", "style=", " on"} {
		require.NotContains(t, strings.ReplaceAll(page, "Content-Security-Policy", ""), not)
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]
	sum := sha256.Sum256([]byte(style))
	require.Contains(t, page, "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	require.Error(t, new(render.HTML).Write(&b, "", ""))

	var err error
	full := strings.Repeat("\x1b[31mx\x1b[32my", 8000)
	for i := 0; err == nil; i++ {
		require.Less(t, i, 10_000)
		err = h.Add(shows(160, 100, full), "", 0)
	}
	require.ErrorIs(t, err, render.ErrPageTooLarge)
}
