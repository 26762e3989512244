package text

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Part is one terminal.input of several that belong together, and its receipt.
type Part struct {
	// What names it for the reader: "text (12 bytes)", "keys ctrl-c up", "Enter", `click on "OK" at 5,12`.
	What string
	// Result is nil for a part that was not sent, because one before it did not arrive.
	Result *protocol.InputResult
	// Unknown says that the part was sent and its receipt was lost.
	Unknown bool
}

// Landed reports whether all of p reached the program.
func (p Part) Landed() bool { return p.Result != nil && p.Result.Status == protocol.StatusWritten }

// Receipt says in order what reached the program and what did not, and why.
func Receipt(parts []Part) string {
	var typed, lost []string
	for _, p := range parts {
		switch {
		case p.Landed():
			typed = append(typed, p.What)
		case p.Unknown:
			lost = append(lost, p.What+": not known, its receipt was lost; look before typing it again")
		case p.Result == nil:
			lost = append(lost, p.What+": not sent")
		case p.Result.Status == protocol.StatusDropped:
			lost = append(lost, fmt.Sprintf("%s: %s reached the program, %s dropped: %s", p.What,
				count(p.Result.WrittenBytes), count(p.Result.DroppedBytes), Stopped(p.Result)))
		default:
			lost = append(lost, p.What+": refused: "+Refusal(p.Result.Reason, p.Result.Message))
		}
	}
	if len(typed) == 0 {
		typed = []string{"nothing whole"}
	}
	out := "typed: " + strings.Join(typed, ", then ")
	if len(lost) > 0 {
		out += "\nnot typed: " + strings.Join(lost, "; ")
	}
	return out
}

func count(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Text names typed or pasted text without repeating it.
func Text(verb, s string) string { return verb + " (" + count(len(s)) + ")" }

// Stopped says why the rest of an input was not typed.
func Stopped(r *protocol.InputResult) string {
	if CutOff(r) {
		return Ended(r.Ended)
	}
	return Refusal(r.Reason, r.Message)
}

// CutOff reports whether the rest of an input was not typed because control ended: not so if the program did not read,
// another one came in front, the user typed on, or a password was asked for.
func CutOff(r *protocol.InputResult) bool {
	if r.Status != protocol.StatusDropped || Paused(r.Reason) {
		return false
	}
	switch r.Reason {
	case "", protocol.CodeNoGrant, protocol.CodeStaleEpoch:
		return true
	default:
		return r.Ended != ""
	}
}

// Paused reports whether an input was not typed because the grant pauses, so that it can be typed later.
func Paused(c protocol.Code) bool {
	return c == protocol.CodeSecretPrompt || c == protocol.CodeBlackout
}

// endings say why control ended.
//
//exhaustive:enforce
var endings = map[protocol.Reason]string{
	protocol.ReasonReclaimed: "the user took the keyboard back",
	protocol.ReasonRefused:   "the user declined",
	protocol.ReasonReleased:  "control was given back",
	protocol.ReasonExpired:   "the time was over",
	protocol.ReasonExited:    "the program ended",
	protocol.ReasonLink:      "the connection to the terminal was lost",
	protocol.ReasonReplaced:  "the user gave the keyboard to somebody else",
}

// Ended says why control ended.
func Ended(r protocol.Reason) string { return cmp.Or(endings[r], "control ended") }

// refusals say why an input was refused, where the proxy does not.
//
//exhaustive:enforce
var refusals = map[protocol.Code]string{
	protocol.CodeNoGrant:       "you do not have the keyboard",
	protocol.CodeStaleEpoch:    "the user took the keyboard back and control changed since",
	protocol.CodeScreenChanged: "the screen is no longer what you expected",
	protocol.CodeBlackout:      "the user hides the screen",
	protocol.CodeSecretPrompt:  "the program asks the user for a password",
	protocol.CodeUserTyping:    "the user is typing",
	protocol.CodeUserRefused:   "the user did not let it through",
	protocol.CodeOtherProgram:  "the grant is for one program, and another one has the terminal",
	protocol.CodeExited:        "the program has ended",
	protocol.CodeNotReading:    "the program does not read its input",
	protocol.CodeReservedKey:   "that key belongs to the user",
	protocol.CodeTooLarge:      "it is too large for one input",
	protocol.CodeBusy:          "another request comes first",
	protocol.CodeTimeout:       "the time was over",
	protocol.CodeNoSession:     "unknown terminal",

	protocol.CodeBadMessage: "", protocol.CodeUnauthorized: "", protocol.CodeForbidden: "", protocol.CodeUnavailable: "",
}

// Refusal says why an input was refused. message is the proxy's own sentence, which knows the particulars.
func Refusal(code protocol.Code, message string) string {
	return cmp.Or(short(message, 500), refusals[code], string(code))
}

// Left quotes what was left on the program's line, "" where nothing was or nobody knows.
func Left(line string) string {
	if line == "" {
		return ""
	}
	return "left on the line: " + strconv.Quote(Clean(line))
}

// Reaction says what is odd about how the program took what was typed, "" if nothing is: the program wrote nothing since
// the first key that anybody could see, or what it wrote left the screen of before, or it has not read its input.
func Reaction(reacted bool, before, after *protocol.Frame) string {
	var odd []string
	switch {
	case !reacted:
		odd = append(odd, "the screen did not react")
	case alike(before, after):
		odd = append(odd, "the screen looks as before")
	}
	if a := after.Activity; a != nil && a.UnreadBytes > 0 {
		odd = append(odd, "the program has not read its input yet ("+count(a.UnreadBytes)+")")
	}
	return strings.Join(odd, ": ")
}

// alike reports whether two frames are known to show the same.
func alike(a, b *protocol.Frame) bool {
	return a != nil && a.Blackout == nil && b.Blackout == nil && a.Screen.Hash != "" && a.Screen.Hash == b.Screen.Hash &&
		a.Screen.Alt == b.Screen.Alt && a.Screen.Title == b.Screen.Title
}

// Messages is what the user wrote to the agent, a line each, "" for nothing. It comes from the user's own keyboard.
func Messages(notes []string) string {
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = "message from the user: " + OneLine(n)
	}
	return strings.Join(lines, "\n")
}

// WithMessages is an answer with what the user wrote to the agent before it.
func WithMessages(notes []string, answer string) string {
	if len(notes) == 0 {
		return answer
	}
	return Messages(notes) + "\n" + answer
}

// Mouse names what the mouse did, or shall do, for a receipt; at and to are nil where they are not known or not there.
func Mouse(act, on string, at, to *protocol.Cell) string {
	out := short(act, maxName)
	if on != "" {
		out += " on " + strconv.Quote(short(on, maxCommand))
	}
	switch {
	case at != nil && to != nil:
		return out + " from " + Place(*at) + " to " + Place(*to)
	case at != nil:
		return out + " at " + Place(*at)
	case to != nil:
		return out + " to " + Place(*to)
	}
	return out
}

// Place is a cell as people write it: row and column from 1.
func Place(c protocol.Cell) string { return fmt.Sprintf("%d,%d", c.Row+1, c.Col+1) }

// Keys names keys for a receipt.
func Keys(names string) string { return short(names, 120) }
