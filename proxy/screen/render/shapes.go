package render

import (
	"image"
	"image/color"
)

// shape draws the characters that must meet their neighbours without a seam, and says whether r is one of them: box
// drawing (U+2500 to U+257F), blocks (U+2580 to U+259F) and braille (U+2800 to U+28FF).
func (p *painter) shape(box image.Rectangle, r rune, c color.RGBA) bool {
	switch {
	case r >= 0x2800 && r < 0x2900:
		p.braille(box, byte(r), c)
	case r >= 0x2580 && r < 0x25a0:
		p.block(box, r, c)
	case r >= 0x2500 && r < 0x2580 && arms[r-0x2500] != "":
		p.box(box, arms[r-0x2500], c)
	default:
		return false
	}
	return true
}

// braille draws the eight dots of a pattern: bits 0 to 2 and 6 are the left column, 3 to 5 and 7 the right one.
func (p *painter) braille(box image.Rectangle, bits byte, c color.RGBA) {
	for i, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if bits&(1<<i) != 0 {
			x, y := box.Min.X+1+at[0]*box.Dx()/2, box.Min.Y+1+at[1]*box.Dy()/4
			p.fill(image.Rect(x, y, x+2, y+2), c)
		}
	}
}

// block draws a block element: eighths from below or from the left, shades, quadrants.
func (p *painter) block(box image.Rectangle, r rune, c color.RGBA) {
	w, h := box.Dx(), box.Dy()
	part := func(x0, y0, x1, y1 int) { // in eighths of the cell
		p.fill(image.Rect(box.Min.X+x0*w/8, box.Min.Y+y0*h/8, box.Min.X+x1*w/8, box.Min.Y+y1*h/8), c)
	}
	switch n := int(r - 0x2580); {
	case n == 0:
		part(0, 0, 8, 4)
	case n <= 8:
		part(0, 8-n, 8, 8)
	case n <= 0xf:
		part(0, 0, 16-n, 8)
	case n == 0x10:
		part(4, 0, 8, 8)
	case n <= 0x13:
		p.shade(box, n-0x10, c)
	case n == 0x14:
		part(0, 0, 8, 1)
	case n == 0x15:
		part(7, 0, 8, 8)
	default: // quadrants: upper left, upper right, lower left, lower right
		q := [...]byte{4, 8, 1, 13, 9, 7, 11, 2, 6, 14}[n-0x16]
		for i := range 4 {
			if q&(1<<i) != 0 {
				x, y := i%2*4, i/2*4
				part(x, y, x+4, y+4)
			}
		}
	}
}

// shade sets a quarter, a half or three quarters of the pixels.
func (p *painter) shade(box image.Rectangle, level int, c color.RGBA) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if [4]int{0, 2, 3, 1}[y%2*2+x%2] < level {
				p.img.SetRGBA(x, y, c)
			}
		}
	}
}

// box draws the four arms of a character from the middle of the cell: up, right, down, left, each 0 (none), 1 (light),
// 2 (heavy) or 3 (double).
func (p *painter) box(box image.Rectangle, arm string, c color.RGBA) {
	mx, my := box.Min.X+box.Dx()/2, box.Min.Y+box.Dy()/2
	for i := range 4 {
		offsets := [4][]int{nil, {0}, {0, 1}, {-1, 1}}[arm[i]-'0']
		for _, d := range offsets {
			switch i {
			case 0:
				p.fill(image.Rect(mx+d, box.Min.Y, mx+d+1, my+1), c)
			case 1:
				p.fill(image.Rect(mx, my+d, box.Max.X, my+d+1), c)
			case 2:
				p.fill(image.Rect(mx+d, my, mx+d+1, box.Max.Y), c)
			case 3:
				p.fill(image.Rect(box.Min.X, my+d, mx+1, my+d+1), c)
			}
		}
	}
}

// arms has the arms of the box drawing characters: up, right, down, left. Dashes are drawn as lines, rounded corners as
// corners; the diagonals (U+2571 to U+2573) are left to the font.
var arms = [128]string{
	"0101", "0202", "1010", "2020", "0101", "0202", "1010", "2020", "0101", "0202", "1010", "2020",
	"0110", "0210", "0120", "0220", "0011", "0012", "0021", "0022", "1100", "1200", "2100", "2200",
	"1001", "1002", "2001", "2002",
	"1110", "1210", "2110", "1120", "2120", "2210", "1220", "2220",
	"1011", "1012", "2011", "1021", "2021", "2012", "1022", "2022",
	"0111", "0112", "0211", "0212", "0121", "0122", "0221", "0222",
	"1101", "1102", "1201", "1202", "2101", "2102", "2201", "2202",
	"1111", "1112", "1211", "1212", "2111", "1121", "2121", "2112", "2211", "1122", "1221", "2212", "1222", "2122", "2221", "2222",
	"0101", "0202", "1010", "2020",
	"0303", "3030", "0310", "0130", "0330", "0013", "0031", "0033", "1300", "3100", "3300", "1003", "3001", "3003",
	"1310", "3130", "3330", "1013", "3031", "3033", "0313", "0131", "0333", "1303", "3101", "3303", "1313", "3131", "3333",
	"0110", "0011", "1001", "1100", "", "", "",
	"0001", "1000", "0100", "0010", "0002", "2000", "0200", "0020", "0201", "1020", "0102", "2010",
}
