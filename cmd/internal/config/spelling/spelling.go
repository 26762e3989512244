// Package spelling suggests what a misspelt name of a flag or a setting was meant to be.
package spelling

import "strings"

// NearestName returns the known name that the user most likely meant, or "". Two letters may
// differ, or the end be missing.
func NearestName(name string, known []string) (like string) {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	best := 3
	for _, k := range known {
		d := editDistance(name, k)
		if len(name) > 1 && strings.HasPrefix(k, name) {
			d = min(d, 2)
		}
		if d < best && d < len(k) {
			best, like = d, k
		}
	}
	return like
}

// editDistance returns the Levenshtein distance of two names: how many letters have to be added,
// removed or replaced. It is at most 3.
func editDistance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		left := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := left
			if a[i] != b[j] {
				change++
			}
			left = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
