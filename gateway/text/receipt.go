package text

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Receipt lists, in order, the parts of an input that reached the program and those that did not.
// The error before it gives the reason. lost means that the receipt of the parts that r does not
// cover was lost: then the error is about the loss, and Receipt gives the reason. r is nil if it
// covers no part.
func Receipt(parts []protocol.InputPart, r *protocol.InputResult, lost bool) string {
	var typed, not, unknown []string
	why, some := "", false
	if lost && r != nil {
		why = ": " + StopReason(r)
	}
	for i := range parts {
		part, known := partOf(parts, r, i)
		step := stepLabel(parts, i)
		label := step + partName(parts, i, part.InputKind, r)
		switch {
		case known && part.DroppedBytes == 0 &&
			(part.WrittenBytes > 0 || r.Status == protocol.StatusWritten):
			typed = append(typed, label)
		case !known && lost:
			unknown = append(unknown, label)
		case !known || len(not) > 0 || i > 0 && step != "" && part.WrittenBytes == 0:
			not = append(not, label+": not sent")
		case part.WrittenBytes > 0, i == 0 && r.Status == protocol.StatusDropped:
			some = some || part.WrittenBytes > 0
			not = append(not, fmt.Sprintf("%s: %s reached the program, %s dropped%s",
				label, byteCount(part.WrittenBytes), byteCount(part.DroppedBytes), why))
		default:
			not = append(not, label+": refused"+why)
		}
	}
	return receiptLines(typed, not, unknown, some)
}

// receiptLines formats a receipt: the parts that were typed, those that were not, and those whose
// receipt was lost. some means that a part was typed, though not in full.
func receiptLines(typed, not, unknown []string, some bool) string {
	var lines []string
	switch {
	case len(typed) > 0:
		lines = append(lines, "typed: "+strings.Join(typed, ", then "))
	case len(unknown) == 0 && some:
		lines = append(lines, "typed: nothing in full")
	case len(unknown) == 0:
		lines = append(lines, "typed: nothing")
	}
	if len(not) > 0 {
		lines = append(lines, "not typed: "+strings.Join(not, "; "))
	}
	if len(unknown) > 0 {
		lines = append(lines, "unknown whether typed, the receipt was lost: "+
			strings.Join(unknown, ", then ")+"; look before you type it again")
	}
	return strings.Join(lines, "\n")
}

// Confirm is the receipt of an input that arrived whole, if it says more than the request: the
// mouse's place, and pasted lines that were not submitted.
func Confirm(parts []protocol.InputPart, r *protocol.InputResult) string {
	for i, p := range parts {
		part, _ := partOf(parts, r, i)
		pasted := part.InputKind == protocol.InputPaste && p.InputKind != protocol.InputPaste
		if p.InputKind == protocol.InputMouse ||
			pasted && i == len(parts)-1 && severalLines(p.Data) {
			return Receipt(parts, r, false)
		}
	}
	return ""
}

// partOf returns the result of part i; known is false if r does not cover it.
func partOf(
	parts []protocol.InputPart, r *protocol.InputResult, i int,
) (part protocol.PartResult, known bool) {
	switch {
	case r == nil:
		return part, false
	case i < len(r.Parts):
		return r.Parts[i], true
	case len(r.Parts) == 0 && (len(parts) == 1 || r.Status != protocol.StatusDropped):
		// refused whole, or written
		return protocol.PartResult{WrittenBytes: r.WrittenBytes, DroppedBytes: r.DroppedBytes}, true
	}
	return part, false
}

// partName names part i for the reader: "text (12 bytes)", "keys ctrl-c up", "Enter", `click on
// "OK" at 5,12`. typed is how it was typed, "" if unknown.
func partName(
	parts []protocol.InputPart, i int, typed protocol.InputKind, r *protocol.InputResult,
) string {
	switch p := parts[i]; p.InputKind {
	case protocol.InputMouse:
		at := p.At
		if at == nil && r != nil {
			at = r.At
		}
		return Mouse(p.Data, p.On, at, p.To)
	case protocol.InputKeys:
		if p.Data == enter {
			return "Enter"
		}
		return "keys " + Keys(p.Data)
	case protocol.InputPaste:
		return Text("paste", p.Data)
	case protocol.InputText, protocol.InputRaw:
		return Text("text", p.Data)
	default:
		switch {
		case typed == protocol.InputPaste && i == len(parts)-1 && severalLines(p.Data):
			return Text("text, as a paste", p.Data) + ", not submitted"
		case typed == protocol.InputPaste:
			return Text("text, as a paste", p.Data)
		case typed == protocol.InputText && severalLines(p.Data):
			return Text("text, line by line", p.Data)
		}
		return Text("text", p.Data)
	}
}

func byteCount(n int) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Text names typed or pasted text without repeating it.
func Text(verb, s string) string { return verb + " (" + byteCount(len(s)) + ")" }

// StopReason says why the rest of an input was not typed.
func StopReason(r *protocol.InputResult) string {
	if CutOff(r) {
		return EndedAs(r)
	}
	return Refusal(r.Reason, r.Message)
}

// EndedAs says why control ended in the middle of an input, if possible in the proxy's own
// sentence, which is more precise.
func EndedAs(r *protocol.InputResult) string {
	if r.Ended == "" {
		return EndReason("")
	}
	return cmp.Or(shorten(r.Message, 500), EndReason(r.Ended))
}

// CutOff reports whether the rest of an input was not typed because control ended. It is false if
// the program did not read, another program came to the foreground, the user typed on, or a
// password was asked for.
func CutOff(r *protocol.InputResult) bool {
	if r.Status != protocol.StatusDropped || IsPause(r.Reason) {
		return false
	}
	switch r.Reason {
	case "", protocol.CodeNoGrant, protocol.CodeStaleEpoch:
		return true
	case protocol.CodeUserRefused:
		return false
	default:
		return r.Ended != ""
	}
}

// IsPause reports whether an input was not typed because the grant pauses, so that it can be typed
// later.
func IsPause(c protocol.Code) bool {
	return c == protocol.CodeSecretPrompt || c == protocol.CodeBlackout
}

// endings explain why control ended.
var endings = map[protocol.Reason]string{
	protocol.ReasonReclaimed: "the user took the keyboard back",
	protocol.ReasonRefused:   "the user declined",
	protocol.ReasonReleased:  "control was given back",
	protocol.ReasonExpired:   "time ran out",
	protocol.ReasonExited:    "the program ended",
	protocol.ReasonLink:      "the connection to the terminal was lost",
	protocol.ReasonReplaced:  "a newer request of yours took its place",
}

// EndReason says why control ended.
func EndReason(r protocol.Reason) string { return cmp.Or(endings[r], "control ended") }

// RefusalReason says why control was not given, or ended, and who decided, unless it was the user
// at the terminal.
func RefusalReason(m *protocol.ControlRevoke) string {
	words := EndReason(m.Reason)
	if m.By != "" && m.By != protocol.ByTerminal {
		words += " (" + Name(m.By) + ")"
	}
	return words
}

// refusals explain why an input was refused, if the proxy does not.
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
	protocol.CodeTimeout:       "time ran out",
	protocol.CodeNoSession:     "unknown terminal",

	protocol.CodeNoChat:    "there is no coding agent to talk to",
	protocol.CodeNotFound:  "no such question is open",
	protocol.CodeAnswered:  "another answer was first",
	protocol.CodeWithdrawn: "the call that sent it was given up",

	protocol.CodeBadMessage:   "",
	protocol.CodeUnauthorized: "",
	protocol.CodeForbidden:    "",
	protocol.CodeUnavailable:  "",
}

// Refusal says why an input was refused. message is the proxy's own sentence, which is more
// precise.
func Refusal(code protocol.Code, message string) string {
	return cmp.Or(shorten(message, 500), refusals[code], string(code))
}

// LeftOnLine quotes the text that remains on the program's line, "" if it is empty or unknown.
func LeftOnLine(line string) string {
	if line == "" {
		return ""
	}
	return "left on the line: " + strconv.Quote(Clean(line))
}

// DescribeOddReaction describes an unexpected reaction of the program to its input, judged by
// after, the last screen; "" if all seems well. It is odd if the program wrote nothing visible
// since the first key, if the screen looks as before, or if the program has not read its input.
func DescribeOddReaction(
	before *protocol.Frame, r *protocol.InputResult, after *protocol.Frame,
) string {
	if after == nil || after.Blackout.ByUser() || IsLastFrame(after) {
		return ""
	}
	var odd []string
	switch {
	case !HasReacted(r, after.Seq) && after.Activity != nil && after.Activity.OutputStopped:
		odd = append(odd, outputStopped)
	case !HasReacted(r, after.Seq):
		odd = append(odd, "the screen did not react")
	case looksAlike(before, after):
		odd = append(odd, "the screen looks as before")
	}
	if a := after.Activity; a != nil && a.UnreadBytes > 0 {
		unread := byteCount(a.UnreadBytes)
		if a.UnreadBytes >= protocol.MostUnread {
			unread += " or more"
		}
		odd = append(odd, "the program has not read its input yet ("+unread+")")
	}
	return strings.Join(odd, ": ")
}

// outputStopped explains a screen that cannot change.
const outputStopped = "output is stopped: Ctrl+S was typed, and Ctrl+Q resumes it"

// HasReacted reports whether the screen changed since the first key, up to revision seq. It is also
// true if that is unknown.
func HasReacted(r *protocol.InputResult, seq uint64) bool {
	return r.FromSeq == 0 || seq != r.FromSeq
}

// looksAlike reports whether two frames are known to look the same.
func looksAlike(a, b *protocol.Frame) bool {
	return a != nil && a.Blackout == nil && b.Blackout == nil && a.Screen.Hash != "" &&
		a.Screen.Hash == b.Screen.Hash &&
		a.Screen.Alt == b.Screen.Alt &&
		a.Screen.Title == b.Screen.Title && Highlights(a) == Highlights(b)
}

// Messages lists the user's messages to the agent, one per line, or returns "".
func Messages(notes []string) string {
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = "message from the user: " + OneLine(n)
	}
	return strings.Join(lines, "\n")
}

// WithMessages puts the user's messages to the agent before an answer.
func WithMessages(notes []string, answer string) string {
	if len(notes) == 0 {
		return answer
	}
	return Messages(notes) + "\n" + answer
}

// Mouse describes a mouse action, done or planned, for a receipt; at and to are nil if unknown or
// absent.
func Mouse(act, on string, at, to *protocol.Cell) string {
	out := shorten(act, maxName)
	if on != "" {
		out += " on " + strconv.Quote(shorten(on, maxCommand))
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

// Place formats a cell for people: row and column from 1.
func Place(c protocol.Cell) string { return fmt.Sprintf("%d,%d", c.Row+1, c.Col+1) }

// Keys names keys for a receipt.
func Keys(names string) string { return shorten(names, 120) }
