// Command hello is what the tests release.
package main

import "github.com/blang/semver/v4"

func main() { println(semver.MustParse("1.0.0").String()) }
