package protocol

// Move is lines moved up by n rows, down if n is negative, with blank rows where nothing comes from; lines itself is left
// as it is. A frame with Moved is rebuilt by Move and then [Patch].
func Move(lines []string, n int) []string {
	out := make([]string, len(lines))
	for i := range out {
		if from := i + n; from >= 0 && from < len(lines) {
			out[i] = lines[from]
		}
	}
	return out
}

// Follow is the shortest way to say next to a reader who has seen prev: rows that moved, and those that changed besides. It
// reports whether that is shorter than all of next, as a reader gets them: a row a line, with its number where not all are
// said, and no empty ones at the end. Screens of different sizes have no difference.
func Follow(prev, next []string) (moved int, changed []Row, shorter bool) {
	if len(prev) != len(next) || len(next) == 0 {
		return 0, nil, false
	}
	changed, least := difference(prev, next)
	if n := shift(prev, next); n != 0 {
		if rows, cost := difference(Move(prev, n), next); cost+costOfMove < least {
			moved, changed, least = n, rows, cost+costOfMove
		}
	}
	return moved, changed, least == 0 || least < whole(next)
}

// costOfMove is what saying that rows moved costs, in bytes.
const costOfMove = 32

// difference lists the rows of next that differ from prev, and what saying them costs, in bytes.
func difference(prev, next []string) (changed []Row, cost int) {
	for i, text := range next {
		if text != prev[i] {
			changed = append(changed, Row{Row: i, Text: text})
			cost += len(text) + len("12| \n")
		}
	}
	return changed, cost
}

// whole is what saying all rows costs, in bytes.
func whole(lines []string) (cost int) {
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	for _, text := range lines[:end] {
		cost += len(text) + 1
	}
	return cost
}

// shift guesses by how many rows most of prev has moved up in next. Rows that stand on prev only once have a say, as much as
// they are long: repeating them is what a move saves.
func shift(prev, next []string) int {
	at := make(map[string]int, len(prev))
	for i, text := range prev {
		if _, twice := at[text]; twice {
			at[text] = -1
		} else if text != "" {
			at[text] = i
		}
	}
	votes, best, most := make(map[int]int), 0, 0
	for i, text := range next {
		if from, known := at[text]; known && from >= 0 {
			n := from - i
			if votes[n] += len(text); votes[n] > most {
				best, most = n, votes[n]
			}
		}
	}
	return best
}
