// Command finish completes the CustomResourceDefinitions that controller-gen wrote to a directory. It never checks
// Go code. Start reading at finish in finish.go.
//
// Usage: finish DIRECTORY
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: finish DIRECTORY")
		os.Exit(2)
	}
	if err := finishDirectory(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "finish:", err)
		os.Exit(1)
	}
}
