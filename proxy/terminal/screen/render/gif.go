package render

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"maps"
	"slices"
	"sort"
	"time"

	"terminalproxy/proxy/terminal/screen"
)

const (
	// maxGIF bounds the file: what sites take that show GIFs. maxChanged bounds the pixels that
	// change, since all of them are held.
	maxGIF, maxChanged = 10 << 20, 200_000_000
	// tickGIF is the unit of time of a GIF, and shortestGIF what players show: they take less for
	// much more.
	tickGIF, shortestGIF = 10 * time.Millisecond, 2
	longestGIF           = 1<<16 - 1
)

// ErrTooLarge says that a picture would be larger than those who are to see it take.
var ErrTooLarge = errors.New("the picture would be larger than 10 MiB")

// GIF is a moving picture of pixels, drawn as [PNG] draws. Of each picture it has what changed. One
// goroutine may use it.
type GIF struct {
	out     gif.GIF
	last    *image.RGBA
	changed int
	wait    time.Duration // of the last picture, not yet whole ticks
}

// Add adds the screen, which stays so long. All screens have the size of the first one.
func (g *GIF) Add(s *screen.Screen, stays time.Duration) error {
	cols, rows := s.Size()
	if cols*rows*widest*2*widest > maxPixels/4 {
		return fmt.Errorf("a moving picture of %d by %d cells would be too large", cols, rows)
	}
	img, err := paint(s, widest)
	if err != nil {
		return err
	}
	box := img.Rect
	if g.last != nil {
		box = changedBox(g.last, img)
	}
	if box.Empty() {
		g.stayLonger(stays)
		return nil
	}
	if g.changed += box.Dx() * box.Dy(); g.changed > maxChanged {
		return ErrTooLarge
	}
	g.out.Image = append(g.out.Image, palettedPart(img, g.last, box))
	g.out.Delay = append(g.out.Delay, 0)
	g.out.Disposal = append(g.out.Disposal, gif.DisposalNone)
	g.last, g.wait = img, 0
	g.stayLonger(stays)
	return nil
}

// stayLonger has the newest picture stay longer.
func (g *GIF) stayLonger(d time.Duration) {
	g.wait += d
	g.out.Delay[len(g.out.Delay)-1] = int(min(max(int64((g.wait+tickGIF/2)/tickGIF), shortestGIF), longestGIF))
}

// Write writes the file, which plays over and over, or [ErrTooLarge].
func (g *GIF) Write(w io.Writer) error {
	if len(g.out.Image) == 0 {
		return errors.New("there is nothing to show")
	}
	size := g.last.Rect.Size()
	g.out.Config = image.Config{Width: size.X, Height: size.Y}
	if err := gif.EncodeAll(&limited{w: w, left: maxGIF}, &g.out); err != nil {
		return fmt.Errorf("encode the picture: %w", err)
	}
	return nil
}

// limited is a writer that takes so much.
type limited struct {
	w    io.Writer
	left int
}

// Write implements io.Writer.
func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, ErrTooLarge
	}
	return l.w.Write(p)
}

// changedBox returns the smallest rectangle outside of which two pictures of one size are the same.
func changedBox(a, b *image.RGBA) image.Rectangle {
	box := image.Rectangle{}
	for y := b.Rect.Min.Y; y < b.Rect.Max.Y; y++ {
		from, to := b.PixOffset(b.Rect.Min.X, y), b.PixOffset(b.Rect.Max.X, y)
		one, two := a.Pix[from:to], b.Pix[from:to]
		if slices.Equal(one, two) {
			continue
		}
		first, last := 0, len(one)-1
		for one[first] == two[first] {
			first++
		}
		for one[last] == two[last] {
			last--
		}
		box = box.Union(image.Rect(first/4, y, last/4+1, y+1))
	}
	return box
}

// palettedPart returns a part of a picture in at most 256 colours. Pixels that are the same in last
// are transparent, to pack well. If there are more colours, the rarest become the nearest others.
func palettedPart(img, last *image.RGBA, box image.Rectangle) *image.Paletted {
	counts := make(map[color.RGBA]int)
	runs(img, last, box, func(c color.RGBA, _, n int) { counts[c] += n })
	colors := slices.Collect(maps.Keys(counts))
	sort.Slice(colors, func(i, k int) bool {
		a, b := colors[i], colors[k]
		return cmp.Or(counts[b]-counts[a], cmp.Compare(shuffledOrder(a), shuffledOrder(b))) < 0
	})
	table := color.Palette{color.RGBA{}}
	for _, c := range colors[:min(len(colors), 255)] {
		table = append(table, c)
	}
	index := make(map[color.RGBA]uint8, len(colors))
	for i, c := range colors {
		if i < 255 {
			index[c] = uint8(i + 1)
		} else {
			index[c] = uint8(table[1:].Index(c) + 1)
		}
	}
	out := image.NewPaletted(box, table)
	runs(img, last, box, func(c color.RGBA, at, n int) {
		i := index[c]
		for ; n > 0; at, n = at+1, n-1 {
			out.Pix[at] = i
		}
	})
	return out
}

// shuffledOrder gives an order of colours in which neighbours lie far apart: if all are equally
// rare, those that stay are spread.
func shuffledOrder(c color.RGBA) uint32 {
	return (uint32(c.R)<<16 | uint32(c.G)<<8 | uint32(c.B)) * 2654435761
}

// runs calls do for n pixels of a colour, from the one with the number at in a box, that are other
// than in last.
func runs(img, last *image.RGBA, box image.Rectangle, do func(c color.RGBA, at, n int)) {
	at := 0
	for y := box.Min.Y; y < box.Max.Y; y++ {
		now, before := img.Pix[img.PixOffset(box.Min.X, y):][:4*box.Dx()], []byte(nil)
		if last != nil {
			before = last.Pix[last.PixOffset(box.Min.X, y):][:4*box.Dx()]
		}
		same := func(i int) bool { return before != nil && [4]byte(before[i:]) == [4]byte(now[i:]) }
		for i := 0; i < len(now); {
			if same(i) {
				i += 4
				continue
			}
			px, from := [4]byte(now[i:]), i
			for i < len(now) && [4]byte(now[i:]) == px && !same(i) {
				i += 4
			}
			do(color.RGBA{px[0], px[1], px[2], px[3]}, at+from/4, (i-from)/4)
		}
		at += box.Dx()
	}
}
