// Package screen is a terminal: bytes that a program printed go in, the screen that a person would
// see comes out.
//
// It has its own parser, after the state machine of DEC's VT500 series
// (https://vt100.net/emu/dec_ansi_parser), and its own screen, after ECMA-48, the VT510 manual and
// "XTerm Control Sequences" (ctlseqs), with the extensions that programs use today (kitty's
// keyboard protocol, OSC 8 links, OSC 133 marks, synchronised output, grapheme clusters).
//
// # Where to find a sequence
//
// table.go lists every control function by the bytes that select it, next to the method that
// performs it. The methods carry the mnemonics of the standards (CUP, DECSTBM, ...) and stand in
// the files named after their purpose: motion.go, erase.go, edit.go, rect.go, mode.go,
// sgr.go, charset.go, osc.go, report.go.
//
// # How it is built
//
//	bytes -> parser.go -> print.go             runs of printable text
//	                   -> table.go -> a method one control function
//	                   -> osc.go, report.go    strings
//	                   -> flood.go             many plain lines at once
//
// A cell is eight bytes: its content and the number of an interned style. Rows are pointers, so
// that scrolling moves pointers and not cells (grid.go). Rows that leave the top of the main screen
// are packed as content and runs of styles (history.go, pack.go). Everything that a program can
// make grow has a limit, and every count it sends is clamped before a loop.
//
// A Screen has no way to write: what a terminal would answer waits in TakeReplies. It reads no
// clock and no file. A Screen is not safe for concurrent use: one goroutine owns it.
//
// Rows and columns are counted from 0 in this API and from 1 on the wire.
package screen
