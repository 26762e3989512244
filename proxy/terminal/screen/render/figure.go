package render

import "math"

// figure is a part of a character drawn as a shape and not with a font, to meet its neighbours
// without a seam: a rectangle, or a polygon when there are points. The unit is that of the cell
// that it was made for.
type figure struct {
	x0, y0, x1, y1 float64
	points         []point
	opacity        float64
	stroke         bool // a thin line
}

type point struct{ x, y float64 }

// canvas is the cell for which figures are made: its size, and how thick a light line is. PNG has
// whole pixels in all of them; SVG has not.
type canvas struct{ w, h, light float64 }

// lightLine returns where a light line begins and ends in the middle of a length. A heavy line and
// a double one are three times as thick.
func (c canvas) lightLine(length float64) (from, to float64) {
	from = (length - c.light) / 2
	if c.isOnPixels() {
		from = math.Floor(from)
	}
	return from, from + c.light
}

// isOnPixels reports whether figures stand on whole pixels.
func (c canvas) isOnPixels() bool { return c.w == math.Floor(c.w) }

// figuresFor returns the shapes of a character, or false if a font draws it. Shapes draw box
// drawing (U+2500 to U+257F), blocks (U+2580 to U+259F), scan lines (U+23BA to U+23BD), braille
// (U+2800 to U+28FF), sextants and eighths (U+1FB00 to U+1FB8B), and the separators that prompts
// take from the private use area (U+E0B0 to U+E0BF).
func (c canvas) figuresFor(r rune) ([]figure, bool) {
	switch {
	case r >= 0x2500 && r < 0x2580:
		return c.boxFigures(r), true
	case r >= 0x2580 && r < 0x25a0:
		return c.blockFigures(int(r - 0x2580)), true
	case r >= 0x23ba && r <= 0x23bd:
		y := []float64{0, 2, 6, 8}[r-0x23ba] * (c.h - c.light) / 8
		return []figure{{x0: 0, y0: y, x1: c.w, y1: y + c.light, opacity: 1, stroke: true}}, true
	case r >= 0x2800 && r < 0x2900:
		return c.brailleFigures(byte(r)), true
	case r >= 0x1fb00 && r <= 0x1fb3b:
		return c.sextantFigures(int(r - 0x1fb00)), true
	case r >= 0x1fb70 && r <= 0x1fb8b:
		return c.eighthFigures(int(r - 0x1fb70)), true
	case r == 0xe0a0:
		return c.branchFigures(), true
	case r == 0x23fa:
		disc := arcPoints(point{c.w / 2, c.h / 2}, c.w*.45, c.w*.45, 0, 2*math.Pi)
		return []figure{{points: disc, opacity: 1}}, true
	case r == 0x23bf:
		var t tiles
		t.drawArms([4]int{light, light, none, none})
		return t.figuresOf(c), true
	case r >= 0xe0b0 && r <= 0xe0bf:
		return c.separatorFigures(int(r - 0xe0b0)), true
	}
	return nil, false
}

// eighthsRect returns a rectangle in eighths of the cell.
func (c canvas) eighthsRect(x0, y0, x1, y1 float64) figure {
	return figure{x0: x0 * c.w / 8, y0: y0 * c.h / 8, x1: x1 * c.w / 8, y1: y1 * c.h / 8, opacity: 1}
}

// blockFigures draws a block element: eighths from below or from the left, shades, quadrants.
func (c canvas) blockFigures(n int) []figure {
	f := float64(n)
	switch {
	case n == 0:
		return []figure{c.eighthsRect(0, 0, 8, 4)}
	case n <= 8:
		return []figure{c.eighthsRect(0, 8-f, 8, 8)}
	case n <= 0xf:
		return []figure{c.eighthsRect(0, 0, 16-f, 8)}
	case n == 0x10:
		return []figure{c.eighthsRect(4, 0, 8, 8)}
	case n <= 0x13:
		whole := c.eighthsRect(0, 0, 8, 8)
		whole.opacity = (f - 0x10) / 4
		return []figure{whole}
	case n == 0x14:
		return []figure{c.eighthsRect(0, 0, 8, 1)}
	case n == 0x15:
		return []figure{c.eighthsRect(7, 0, 8, 8)}
	}
	// Quadrants: upper left, upper right, lower left, lower right.
	var all []figure
	q := [...]int{4, 8, 1, 13, 9, 7, 11, 2, 6, 14}[n-0x16]
	for i := range 4 {
		if q&(1<<i) != 0 {
			x, y := float64(i%2*4), float64(i/2*4)
			all = append(all, c.eighthsRect(x, y, x+4, y+4))
		}
	}
	return all
}

// brailleFigures draws the eight dots of a pattern: bits 0 to 2 and 6 are the left column, 3 to 5
// and 7 the right one.
func (c canvas) brailleFigures(bits byte) []figure {
	var all []figure
	size := max(c.w/5, 1)
	if c.isOnPixels() {
		size = math.Round(size)
	}
	for i, at := range [8][2]float64{{1, 1}, {1, 3}, {1, 5}, {3, 1}, {3, 3}, {3, 5}, {1, 7}, {3, 7}} {
		if bits&(1<<i) != 0 {
			x, y := at[0]*c.w/4-size/2, at[1]*c.h/8-size/2
			if c.isOnPixels() {
				x, y = math.Floor(x), math.Floor(y)
			}
			all = append(all, figure{x0: x, y0: y, x1: x + size, y1: y + size, opacity: 1})
		}
	}
	return all
}

// sextantFigures draws a pattern of two by three (Unicode, Symbols for Legacy Computing). The
// patterns that are blocks elsewhere (nothing, the halves, the whole) are left out of the numbers.
func (c canvas) sextantFigures(n int) []figure {
	const left, right = 0b010101, 0b101010
	bits := n + 1
	if bits >= left {
		bits++
	}
	if bits >= right {
		bits++
	}
	var all []figure
	for i := range 6 {
		if bits&(1<<i) != 0 {
			x, y := float64(i%2), float64(i/2)
			all = append(all, figure{
				x0: x * c.w / 2, y0: y * c.h / 3, x1: (x + 1) * c.w / 2, y1: (y + 1) * c.h / 3,
				opacity: 1,
			})
		}
	}
	return all
}

// eighthFigures draws the blocks that U+2580 to U+259F lack.
func (c canvas) eighthFigures(n int) []figure {
	left, right, upper, lower := c.eighthsRect(0, 0, 1, 8), c.eighthsRect(7, 0, 8, 8), c.eighthsRect(0, 0, 8, 1), c.eighthsRect(0, 7, 8, 8)
	sizes := [...]float64{2, 3, 5, 6, 7}
	switch f := float64(n); {
	case n < 6:
		return []figure{c.eighthsRect(f+1, 0, f+2, 8)}
	case n < 0xc:
		return []figure{c.eighthsRect(0, f-5, 8, f-4)}
	case n < 0x12:
		return [][]figure{
			{left, lower},
			{left, upper},
			{right, upper},
			{right, lower},
			{upper, lower},
			{upper, c.eighthsRect(0, 2, 8, 3), c.eighthsRect(0, 4, 8, 5), lower},
		}[n-0xc]
	case n < 0x17:
		return []figure{c.eighthsRect(0, 0, 8, sizes[n-0x12])}
	default:
		return []figure{c.eighthsRect(8-sizes[n-0x17], 0, 8, 8)}
	}
}

// separatorFigures draws a separator of a prompt: a triangle, a half circle or a corner, filled
// (even numbers) or as a line.
func (c canvas) separatorFigures(n int) []figure {
	w, h := c.w, c.h
	var outline []point // from corner to corner, without the side that closes it
	switch n / 2 {
	case 0:
		outline = []point{{0, 0}, {w, h / 2}, {0, h}}
	case 1:
		outline = []point{{w, 0}, {0, h / 2}, {w, h}}
	case 2, 3:
		outline = arcPoints(point{0, h / 2}, w, h/2, -math.Pi/2, math.Pi/2)
		if n/2 == 3 {
			outline = arcPoints(point{w, h / 2}, w, h/2, 3*math.Pi/2, math.Pi/2)
		}
	case 4, 6: // the corner below on the left, that above on the left
		outline = []point{{0, 0}, {w, h}, {0, h}}
		if n/2 == 6 {
			outline = []point{{w, 0}, {0, h}, {0, 0}}
		}
	default: // those on the right
		outline = []point{{w, 0}, {w, h}, {0, h}}
		if n/2 == 7 {
			outline = []point{{0, 0}, {w, 0}, {w, h}}
		}
	}
	if n%2 == 0 {
		return []figure{{points: outline, opacity: 1}}
	}
	switch {
	case n == 9 || n == 15:
		return []figure{c.diagonalFigure(true)}
	case n > 8:
		return []figure{c.diagonalFigure(false)}
	}
	return []figure{{points: c.lineAlong(outline), opacity: 1, stroke: true}}
}

// branchFigures draws the sign of a version control branch in a prompt.
func (c canvas) branchFigures() []figure {
	left, right := point{c.w * .3, c.h * .85}, point{c.w * .7, c.h * .3}
	return []figure{
		{points: c.lineAlong([]point{{left.x, c.h * .15}, left}), opacity: 1, stroke: true},
		{points: c.lineAlong([]point{{right.x, c.h * .15}, right, {left.x, c.h * .65}}), opacity: 1, stroke: true},
	}
}

// lineAlong returns a line of light thickness along points, as a polygon: there on one side and
// back on the other. It is moved sideways only, enough for lines that are not level.
func (c canvas) lineAlong(points []point) []point {
	all := make([]point, 0, 2*len(points))
	inside := func(x float64) float64 { return min(max(x, 0), c.w) }
	for _, p := range points {
		all = append(all, point{inside(p.x - c.light*.6), p.y})
	}
	for i := len(points) - 1; i >= 0; i-- {
		all = append(all, point{inside(points[i].x + c.light*.6), points[i].y})
	}
	return all
}

// arcPoints returns a part of an ellipse, in steps too small to be seen.
func arcPoints(center point, rx, ry, from, to float64) []point {
	const steps = 12
	all := make([]point, steps+1)
	for i := range all {
		a := from + (to-from)*float64(i)/steps
		all[i] = point{center.x + rx*math.Cos(a), center.y + ry*math.Sin(a)}
	}
	return all
}
