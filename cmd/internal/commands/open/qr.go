package open

import (
	"os"
	"strings"

	"golang.org/x/term"
	"rsc.io/qr"
)

const (
	// quietZone is the number of blank modules that readers need around a code.
	quietZone = 2
	// rowsBeside is the number of terminal rows that the text around a code takes.
	rowsBeside = 9
)

// qrCode draws a link as a QR code, two modules in a cell. It is nil if the terminal lacks the room
// or the colours.
func (o *opening) qrCode(link string) []string {
	cols, rows, err := term.GetSize(int(o.screen.Fd()))
	if err != nil || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	code, err := qr.Encode(link, qr.L)
	if err != nil || code.Size+2*quietZone > cols || (code.Size+2*quietZone+1)/2 > rows-rowsBeside {
		return nil
	}
	return append(halfBlocks(code.Black, code.Size), "")
}

// halfBlocks draws a square of modules, black on white on any terminal.
func halfBlocks(black func(x, y int) bool, size int) []string {
	var lines []string
	for y := -quietZone; y < size+quietZone; y += 2 {
		var line strings.Builder
		line.WriteString("\x1b[30;107m")
		for x := -quietZone; x < size+quietZone; x++ {
			line.WriteString(
				map[[2]bool]string{
					{false, false}: " ",
					{true, false}:  "▀",
					{false, true}:  "▄",
					{true, true}:   "█",
				}[[2]bool{black(x, y), black(x, y+1)}],
			)
		}
		line.WriteString("\x1b[m")
		lines = append(lines, line.String())
	}
	return lines
}
