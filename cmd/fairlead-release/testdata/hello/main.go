// Command hello is what the tests release.
package main

import (
	"fmt"
	"os"

	"github.com/blang/semver/v4"
)

func main() { fmt.Println("#", semver.MustParse("1.0.0"), os.Args[1:]) }
