package page

import (
	"crypto/ed25519"
	"crypto/pbkdf2"
	"crypto/sha256"
	"strings"
)

// wordRounds makes each attempt to find a key with the same words expensive. Together with the 48
// bits of six words this is as good as 61 bits, against an attacker who has two minutes.
const (
	wordRounds = 10_000
	wordSalt   = "terminal-proxy.v1 words"
	wordCount  = 6
)

// wordList holds 256 words that are easy to tell apart when read aloud.
var wordList = func() []string {
	content, _ := static.ReadFile("static/words.txt") // a test counts them
	return strings.Fields(string(content))
}()

// Words returns the six words for a page's key. The page shows them, too: the same words on both
// sides mean the same key.
func Words(key ed25519.PublicKey) ([]string, error) {
	sum, err := pbkdf2.Key(sha256.New, string(key), []byte(wordSalt), wordRounds, wordCount)
	if err != nil {
		return nil, err
	}
	words := make([]string, wordCount)
	for i, b := range sum {
		words[i] = wordList[b]
	}
	return words, nil
}
