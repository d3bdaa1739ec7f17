package manager

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// maxStacks bounds the text of all stacks that is looked through, in bytes.
const maxStacks = 8 << 20

// withUnfinished adds to the error of a manager that did not stop in time what it was still doing.
func withUnfinished(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	stacks := make([]byte, maxStacks)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if names := unfinished(string(stacks)); len(names) > 0 {
		return fmt.Errorf("%w; still running: %s", err, strings.Join(names, ", "))
	}
	return err
}

// ours finds the functions of this module in a stack, as path and name from the module's root.
var ours = regexp.MustCompile(`(?m)^fairlead\.dev/fairlead/(\S+)\(`)

// unfinished names the innermost function of this module in every goroutine, the one that asks left out. A goroutine that runs nothing of
// this module is told by nobody: libraries have many that end with the process.
func unfinished(stacks string) []string {
	names := map[string]bool{}
	for stack := range strings.SplitSeq(stacks, "\n\n") {
		if strings.Contains(stack, "manager.withUnfinished(") {
			continue
		}
		if inner := ours.FindStringSubmatch(stack); inner != nil {
			names[inner[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
