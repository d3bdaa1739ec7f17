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

	"github.com/go-logr/logr"
)

const (
	// maxStacks bounds the text of all stacks that is looked through, in bytes.
	maxStacks = 8 << 20
	// maxLoggedStacks bounds what is logged of them.
	maxLoggedStacks = 64 << 10
)

// withUnfinished adds to the error of a manager that did not stop in time what is still running, and logs the stacks.
func withUnfinished(ctx context.Context, log logr.Logger, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	text := make([]byte, maxStacks)
	names, stacks := unfinished(string(text[:runtime.Stack(text, true)]))
	for _, stack := range stacks {
		log.Info("a goroutine is still running at the end of the grace period", "stack", stack)
	}
	if len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w; still running: %s", err, strings.Join(names, ", "))
}

// ours finds the functions of this module in a stack, as path and name from the module's root.
var ours = regexp.MustCompile(`(?m)^fairlead\.dev/fairlead/(\S+)\(`)

// arguments are what differs between the stacks of goroutines that do the same.
var arguments = regexp.MustCompile(`(?m)^goroutine .*$|\(.*\)$| \+0x[0-9a-f]+$| in goroutine [0-9]+$|0x[0-9a-f]+`)

// unfinished names the innermost function of this module in every goroutine, the one that asks left out, and returns the stacks in which this
// module or the library of controllers occurs. Equal ones are returned once, and in all not more than maxLoggedStacks.
func unfinished(text string) (names, stacks []string) {
	named, seen, size := map[string]bool{}, map[string]bool{}, 0
	for stack := range strings.SplitSeq(text, "\n\n") {
		if strings.Contains(stack, "manager.withUnfinished(") {
			continue
		}
		if inner := ours.FindStringSubmatch(stack); inner != nil {
			named[inner[1]] = true
		} else if !strings.Contains(stack, "sigs.k8s.io/controller-runtime/") {
			continue // libraries have many that end with the process
		}
		key := arguments.ReplaceAllString(stack, "")
		if seen[key] || size+len(stack) > maxLoggedStacks {
			continue
		}
		seen[key], size = true, size+len(stack)
		stacks = append(stacks, stack)
	}
	return slices.Sorted(maps.Keys(named)), stacks
}
