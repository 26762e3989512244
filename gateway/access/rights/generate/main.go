// Command generate writes the document of all rights to the file that its argument names. go
// generate runs it in gateway/access/rights.
package main

import (
	"fmt"
	"os"

	"terminalproxy/gateway/access/rights"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE")
		os.Exit(2)
	}
	table := []byte(rights.Table())
	err := os.WriteFile(os.Args[1], table, 0o644) //nolint:gosec // a public document
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
