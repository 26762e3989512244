package notice

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// caret follows the text that the user types.
const caret = "▏"

// inputRoom is how many columns of the typed text stay readable, including the caret.
const inputRoom = 12

// Input lays out the line in which the user types, on at most most rows of cols columns: head, the
// end of text, and the keys. The keys are beside the text, or below it if there is too little room;
// on a screen without a row for them they are left out. The layout does not change as the user
// types.
func Input(cols, most int, head, text, keys string) string {
	room := cols - displaywidth.String(head+keys) - 4
	isBeside := room+1 >= inputRoom
	if !isBeside {
		if most := max(0, cols-2-inputRoom); displaywidth.String(head) > most {
			head = Fit(head, most)
		}
		room = cols - 3 - displaywidth.String(head)
	}
	text = head + FitTail(text, room) + caret
	if isBeside {
		return Line(cols, text, keys)
	}
	rows := append([]string{text}, packKeys(keys, max(1, cols-2))...)
	return " " + strings.Join(rows[:min(len(rows), most)], "\n ")
}
