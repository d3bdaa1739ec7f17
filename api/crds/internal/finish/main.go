// Command finish completes the CustomResourceDefinitions that controller-gen wrote to a directory, and copies them to another one. It never checks
// Go code. Start reading at finish in finish.go.
//
// Usage: finish DIRECTORY [COPY]
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: finish DIRECTORY [COPY]")
		os.Exit(2)
	}
	err := finishDirectory(os.Args[1])
	if err == nil && len(os.Args) == 3 {
		err = copyDirectory(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "finish:", err)
		os.Exit(1)
	}
}
