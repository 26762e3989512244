// Package mouse encodes mouse reports of a terminal. From the name of an act and a cell it makes
// the bytes that the program would read, in the protocol and the encoding that the program has
// turned on. It is pure: no I/O, no clock, no notion of who may click, and every function may be
// called from any goroutine.
//
// Protocols, encodings and numbers follow XTerm Control Sequences (ctlseqs, "Mouse Tracking"). Rows
// and columns count from 0 in this API and from 1 in the reports.
package mouse

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxTurns is how far one act can turn the wheel, in notches.
const MaxTurns = 100

// Cell is a place on the screen, from 0.
type Cell struct{ Row, Col int }

// Kind is the kind of an act.
type Kind uint8

// The kinds.
const (
	Click   Kind = iota // a button goes down and up, once or twice
	Press               // the left button goes down and stays there
	Release             // and up again
	Move                // the mouse moves, with the left button down or without a button
	Drag                // press, move, release
	Wheel               // one or more notches
)

// Buttons as reports number them, and the bits for held keys and for movement.
const (
	left, middle, right = 0, 1, 2
	// A release without its button in old encodings; movement without a button.
	none = 3

	wheelUp, wheelDown, wheelLeft, wheelRight = 64, 65, 66, 67

	shift, alt, ctrl = 4, 8, 16
	motion           = 32
)

// Act is an act of the mouse, such as a click. Make one with [Parse].
type Act struct {
	Kind   Kind
	Count  int // clicks, or notches of the wheel
	name   string
	button int
	mods   int
}

// acts holds the acts by name, without modifiers.
var acts = map[string]Act{
	"click":        {Kind: Click, Count: 1, button: left},
	"double-click": {Kind: Click, Count: 2, button: left},
	"middle-click": {Kind: Click, Count: 1, button: middle},
	"right-click":  {Kind: Click, Count: 1, button: right},
	"press":        {Kind: Press, Count: 1, button: left},
	"release":      {Kind: Release, Count: 1, button: left},
	"move":         {Kind: Move, Count: 1, button: none},
	"drag":         {Kind: Drag, Count: 1, button: left},
	"wheel-up":     {Kind: Wheel, Count: 1, button: wheelUp},
	"wheel-down":   {Kind: Wheel, Count: 1, button: wheelDown},
	"wheel-left":   {Kind: Wheel, Count: 1, button: wheelLeft},
	"wheel-right":  {Kind: Wheel, Count: 1, button: wheelRight},
}

var modifiers = []struct {
	name string
	bit  int
}{{"ctrl", ctrl}, {"alt", alt}, {"shift", shift}}

const syntax = "it must be one of click, double-click, right-click, middle-click, press, " +
	"release, move, drag, wheel-up, wheel-down, wheel-left, wheel-right; " +
	"put ctrl-, alt- or shift- before it (ctrl-click), " +
	"and *N after a wheel (wheel-down*3, at most 100)"

// Parse reads the name of an act: click, ctrl-click, shift-wheel-up, wheel-down*3. Case makes no
// difference. Errors are sentences for the author of the name.
func Parse(name string) (Act, error) {
	base, turns, err := cutTurns(strings.ToLower(name))
	if err != nil {
		return Act{}, err
	}
	rest, mods := base, 0
	for {
		if a, ok := acts[rest]; ok {
			if turns > 0 && a.Kind != Wheel {
				return Act{}, fmt.Errorf("the mouse cannot do %.64q: only a wheel is repeated; %s", name, syntax)
			}
			a.name, a.mods, a.Count = base, mods, max(turns, a.Count)
			return a, nil
		}
		bit, after := cutModifier(rest)
		switch {
		case bit == 0:
			return Act{}, fmt.Errorf("the mouse cannot do %.64q: %s", name, syntax)
		case mods&bit != 0:
			return Act{}, fmt.Errorf("%.64q names a modifier twice: %s", name, syntax)
		}
		mods, rest = mods|bit, after
	}
}

// cutTurns cuts *N from the end; turns is 0 without it.
func cutTurns(name string) (base string, turns int, err error) {
	base, number, ok := strings.Cut(name, "*")
	if !ok {
		return name, 0, nil
	}
	turns, err = strconv.Atoi(number)
	if err != nil || strings.Trim(number, "0123456789") != "" || turns < 1 || turns > MaxTurns {
		return "", 0, fmt.Errorf("%.64q turns the wheel by %.32q notches: give 1 to %d", name, number, MaxTurns)
	}
	return base, turns, nil
}

func cutModifier(s string) (bit int, rest string) {
	for _, m := range modifiers {
		if after, ok := strings.CutPrefix(s, m.name); ok && after != "" && (after[0] == '-' || after[0] == '+') {
			return m.bit, after[1:]
		}
	}
	return 0, s
}

// UsesButton reports whether the act uses a button, and so may trigger something, as Enter does.
// Turning the wheel and moving the mouse only look around.
func (a Act) UsesButton() bool { return a.Kind != Wheel && a.Kind != Move }

// HasModifiers reports whether keys are held while the mouse acts.
func (a Act) HasModifiers() bool { return a.mods != 0 }

// Vertical reports whether the wheel turns up or down, and in which direction.
func (a Act) Vertical() (up, yes bool) {
	return a.button == wheelUp, a.button == wheelUp || a.button == wheelDown
}

// DescribeAt describes the act to a person: "click at 5,12", "drag from 5,12 to 7,12", "wheel-down
// 3 times at 5,12". Places count from 1, as people and editors do.
func (a Act) DescribeAt(at, to Cell) string {
	switch {
	case a.Kind == Drag:
		return a.name + " from " + at.String() + " to " + to.String()
	case a.Kind == Move:
		return a.name + " to " + at.String()
	case a.Kind == Wheel && a.Count > 1:
		return fmt.Sprintf("%s %d times at %s", a.name, a.Count, at)
	}
	return a.name + " at " + at.String()
}

// String returns the place as people read it: row and column from 1.
func (c Cell) String() string { return fmt.Sprintf("%d,%d", c.Row+1, c.Col+1) }
