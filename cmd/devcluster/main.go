// Command devcluster is a program with nothing but the embedded cluster in it. Tests build it once and run their shared
// cluster with it, so that no test binary has to link Kubernetes. For people there is `fairlead cluster`.
package main

import (
	"fmt"
	"os"

	"fairlead.dev/fairlead/internal/devcluster/components"
)

func main() {
	components.Main()
	fmt.Fprintln(os.Stderr, "devcluster is started by the test harness; to run a cluster by hand, use: fairlead cluster start")
	os.Exit(2)
}
