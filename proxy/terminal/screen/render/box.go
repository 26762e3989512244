package render

import "math"

// A box drawing character is made on a grid of five by five: the outer lines of a double or heavy
// stroke are the columns (rows) 1 and 3, a light one is 2, the space around it 0 and 4.
type tiles [5][5]bool

// fillTiles fills the columns from x0 to x1 of the rows from y0 to y1, ends included.
func (t *tiles) fillTiles(x0, y0, x1, y1 int, on bool) {
	for y := y0; y <= y1; y++ {
		for x := x0; x <= x1; x++ {
			t[y][x] = on
		}
	}
}

// Weights of an arm.
const (
	none   = 0
	light  = 1
	heavy  = 2
	double = 3
)

// fillArm fills what one of the four arms (0 up, 1 right, 2 down, 3 left) covers from its edge on:
// across from 2-half to 2+half, along to the tile number reach, which counts from the edge.
func (t *tiles) fillArm(which, half, reach int, on bool) {
	switch which {
	case 0:
		t.fillTiles(2-half, 0, 2+half, reach, on)
	case 1:
		t.fillTiles(4-reach, 2-half, 4, 2+half, on)
	case 2:
		t.fillTiles(2-half, 4-reach, 2+half, 4, on)
	case 3:
		t.fillTiles(0, 2-half, reach, 2+half, on)
	}
}

// drawArms draws a character of four arms. An arm reaches to the farther side of the arms that it
// meets. The middle of a double line is empty, but for a light line that goes through it.
func (t *tiles) drawArms(arm [4]int) {
	half := func(weight int) int {
		if weight > light {
			return 1
		}
		return 0
	}
	doubles, through := false, false
	for i, weight := range arm {
		if weight == none {
			continue
		}
		left, right, opposite := arm[(i+1)%4], arm[(i+3)%4], arm[(i+2)%4]
		t.fillArm(i, half(weight), 2+max(half(left), half(right)), true)
		doubles = doubles || weight == double
		through = through || weight == light && (opposite == light || left != right)
	}
	if !doubles {
		return
	}
	for i, weight := range arm {
		if weight == double {
			t.fillArm(i, 0, 1, false)
		}
	}
	t[2][2] = through
}

// figuresOf returns the filled tiles: a rectangle for each run of a row, and one for equal runs of
// consecutive rows.
func (t *tiles) figuresOf(c canvas) []figure {
	edges := func(length float64) [6]float64 {
		from, to := c.lightLine(length)
		return [6]float64{0, max(from-c.light, 0), from, to, min(to+c.light, length), length}
	}
	xs, ys := edges(c.w), edges(c.h)
	var all []figure
	for y := range 5 {
		for x := 0; x < 5; x++ {
			if !t[y][x] {
				continue
			}
			end := x
			for end < 5 && t[y][end] {
				end++
			}
			f := figure{x0: xs[x], y0: ys[y], x1: xs[end], y1: ys[y+1], opacity: 1, stroke: true}
			if i := len(all) - 1; i >= 0 && all[i].x0 == f.x0 && all[i].x1 == f.x1 && all[i].y1 == f.y0 {
				all[i].y1 = f.y1
			} else {
				all = append(all, f)
			}
			x = end
		}
	}
	return all
}

// boxFigures draws a box drawing character.
func (c canvas) boxFigures(r rune) []figure {
	n := int(r - 0x2500)
	switch {
	case n >= 0x04 && n <= 0x0b:
		return c.dashFigures(n, 3+(n-4)/4)
	case n >= 0x4c && n <= 0x4f:
		return c.dashFigures(n, 2)
	case n >= 0x6d && n <= 0x70:
		return []figure{c.cornerFigure(n - 0x6d)}
	case n == 0x71:
		return []figure{c.diagonalFigure(true)}
	case n == 0x72:
		return []figure{c.diagonalFigure(false)}
	case n == 0x73:
		return []figure{c.diagonalFigure(true), c.diagonalFigure(false)}
	}
	var t tiles
	var arm [4]int
	for i := range arm {
		arm[i] = int(boxArms[n][i] - '0')
	}
	t.drawArms(arm)
	return t.figuresOf(c)
}

// dashFigures draws a line in pieces: across or, with bit 1 of n, down; heavy with bit 0.
func (c canvas) dashFigures(n, count int) []figure {
	down, thick := n&2 != 0, n&1 != 0
	length, across := c.w, c.h
	if down {
		length, across = c.h, c.w
	}
	from, to := c.lightLine(across)
	if thick {
		from, to = max(from-c.light, 0), min(to+c.light, across)
	}
	all := make([]figure, count)
	step := length / float64(count)
	gap := max(step*.3, 1)
	for i := range all {
		a, b := float64(i)*step+gap/2, float64(i+1)*step-gap/2
		if c.isOnPixels() {
			a = math.Floor(float64(i)*step) + math.Floor(gap/2)
			b = math.Floor(float64(i+1)*step) - math.Ceil(gap) + math.Floor(gap/2)
			b = max(b, a+1)
		}
		all[i] = figure{x0: a, y0: from, x1: b, y1: to, opacity: 1, stroke: true}
		if down {
			all[i] = figure{x0: from, y0: a, x1: to, y1: b, opacity: 1, stroke: true}
		}
	}
	return all
}

// cornerFigure draws a rounded corner: 0 from below to the right, 1 from below to the left, 2 from
// above to the left, 3 from above to the right.
func (c canvas) cornerFigure(n int) figure {
	x0, x1 := c.lightLine(c.w)
	y0, y1 := c.lightLine(c.h)
	right, below := n == 0 || n == 3, n < 2
	// It is made as if it went from below to the right, and mirrored.
	if !right {
		x0, x1 = c.w-x1, c.w-x0
	}
	if !below {
		y0, y1 = c.h-y1, c.h-y0
	}
	radius := min(c.w-x0, c.h-y0)
	center := point{x0 + radius, y0 + radius}
	points := []point{{x0, c.h}}
	points = append(points, arcPoints(center, radius, radius, math.Pi, 3*math.Pi/2)...)
	points = append(points, point{c.w, y0}, point{c.w, y1})
	inner := radius - c.light
	points = append(points, arcPoints(center, inner, inner, 3*math.Pi/2, math.Pi)...)
	points = append(points, point{x1, c.h})
	for i := range points {
		if !right {
			points[i].x = c.w - points[i].x
		}
		if !below {
			points[i].y = c.h - points[i].y
		}
	}
	return figure{points: points, opacity: 1, stroke: true}
}

// diagonalFigure goes from corner to corner, with both of them in it, so that it goes on in the
// next cell. It rises or falls.
func (c canvas) diagonalFigure(rises bool) figure {
	dx, dy := c.light*.6, c.light*.6*c.h/c.w
	points := []point{{0, c.h}, {0, c.h - dy}, {c.w - dx, 0}, {c.w, 0}, {c.w, dy}, {dx, c.h}}
	if !rises {
		for i := range points {
			points[i].y = c.h - points[i].y
		}
	}
	return figure{points: points, opacity: 1, stroke: true}
}

// boxArms has the arms of the box drawing characters: up, right, down, left, each none, light,
// heavy or double. Characters without arms are drawn otherwise.
var boxArms = [128]string{
	"0101", "0202", "1010", "2020", "", "", "", "", "", "", "", "",
	"0110", "0210", "0120", "0220", "0011", "0012", "0021", "0022", "1100", "1200", "2100", "2200",
	"1001", "1002", "2001", "2002",
	"1110", "1210", "2110", "1120", "2120", "2210", "1220", "2220",
	"1011", "1012", "2011", "1021", "2021", "2012", "1022", "2022",
	"0111", "0112", "0211", "0212", "0121", "0122", "0221", "0222",
	"1101", "1102", "1201", "1202", "2101", "2102", "2201", "2202",
	"1111", "1112", "1211", "1212", "2111", "1121", "2121", "2112", "2211", "1122", "1221", "2212",
	"1222", "2122", "2221", "2222",
	"", "", "", "",
	"0303", "3030", "0310", "0130", "0330", "0013", "0031", "0033", "1300", "3100", "3300", "1003",
	"3001", "3003",
	"1310", "3130", "3330", "1013", "3031", "3033", "0313", "0131", "0333", "1303", "3101", "3303",
	"1313", "3131", "3333",
	"", "", "", "", "", "", "",
	"0001", "1000", "0100", "0010", "0002", "2000", "0200", "0020", "0201", "1020", "0102", "2010",
}
