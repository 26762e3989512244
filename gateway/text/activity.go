package text

import (
	"strconv"
	"strings"

	"terminalproxy/protocol"
)

// Waiting says how the program is known to wait for input: "reads the terminal, whole lines",
// "shell prompt, by the shell's marks; last exit 2", "guess: ssh passes input on, and the program
// behind it is not seen". It is "" for a program that does not seem to wait.
func Waiting(a *protocol.Activity) string {
	switch {
	case a == nil:
		return ""
	case a.State == "waiting":
		return describeEvidence(a)
	case a.State == "busy" && a.Guess != "":
		return describeGuess(a.Guess, a.Foreground)
	}
	return ""
}

// describeEvidence names the strongest evidence.
func describeEvidence(a *protocol.Activity) string {
	if len(a.Evidence) == 0 {
		return ""
	}
	how := ""
	switch a.Evidence[0] {
	case protocol.EvidencePrompt:
		how = "shell prompt, by the shell's marks" // any program can print marks
		if a.LastExit != nil {
			how += "; last exit " + strconv.Itoa(*a.LastExit)
		}
		return how
	case protocol.EvidenceRead:
		how = "reads the terminal"
	case protocol.EvidencePoll:
		how = "polls the terminal"
	default:
		how = Name(a.Evidence[0])
	}
	for _, more := range a.Evidence[1:] {
		if more == protocol.EvidenceCanonical {
			how += ", whole lines"
		}
	}
	return how
}

func describeGuess(why, program string) string {
	if program = strconv.Quote(Name(program)); program == `""` {
		program = "the program"
	}
	switch why {
	case protocol.GuessRelay:
		return "guess: " + program + " passes input on, and the program behind it is not seen"
	case protocol.GuessLoop:
		return "guess: " + program + " is quiet, but it always listens, also to other things"
	case protocol.GuessSleeping:
		return "guess: " + program + " sleeps, and the system does not say on what"
	}
	return "guess: " + Name(why)
}

// FormatMatch says how a wait for waiting was met, "" if the answer does not say.
func FormatMatch(got *protocol.WaitResult) string {
	var a *protocol.Activity
	if got.Frame != nil {
		a = got.Frame.Activity
	}
	how := Waiting(a)
	// The frame may be a moment younger than the end of the wait, so its guess or evidence need not
	// be the one that met the wait.
	why, guessed := strings.CutPrefix(got.Matched, protocol.MatchedWaiting+" (guess: ")
	if guessed && (a == nil || a.State != "busy" || a.Guess == "") {
		program := ""
		if a != nil {
			program = a.Foreground
		}
		return describeGuess(strings.TrimSuffix(why, ")"), program)
	} else if !guessed && strings.HasPrefix(how, "guess:") {
		return ""
	}
	return how
}
