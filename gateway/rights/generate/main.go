// Command generate writes the document of all rights to the file that its argument names. It is run by go generate in
// gateway/rights.
package main

import (
	"fmt"
	"os"

	"terminalproxy/gateway/rights"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: generate FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(rights.Table()), 0o644); err != nil { //nolint:gosec // a document for everybody
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
