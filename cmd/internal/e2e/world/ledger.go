package world

import (
	"bufio"
	"fmt"
	"os"

	"golang.org/x/term"
)

// ledger writes every byte that it reads from its terminal to a file, and prints which words in
// brackets it has read.
func ledger(args []string) error {
	f, err := os.OpenFile(args[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := term.MakeRaw(0); err != nil {
		return err
	}
	fmt.Print("ready\r\n")
	in := bufio.NewReader(os.Stdin)
	for word := []byte(nil); ; {
		b, err := in.ReadByte()
		if err != nil {
			return err
		}
		if _, err := f.Write([]byte{b}); err != nil {
			return err
		}
		switch word = append(word, b); b {
		case '[':
			word = word[len(word)-1:]
		case ']':
			fmt.Printf("heard %s\r\n", word)
		}
	}
}
