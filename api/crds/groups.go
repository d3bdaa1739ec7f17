package crds

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

// Groups returns the API groups that All defines kinds of, sorted. They are those of operator lifecycle management itself, which no operator
// may define anything in.
func Groups() []string { return slices.Clone(groups()) }

// groups come from the names of the files, <group>_<plural>.yaml, because decoding their content takes long.
var groups = sync.OnceValue(func() []string {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		panic(fmt.Sprintf("list the embedded CustomResourceDefinitions: %v", err)) // the pattern is a constant
	}
	var out []string
	for _, name := range names {
		group, _, _ := strings.Cut(name, "_")
		out = append(out, group)
	}
	slices.Sort(out)
	return slices.Compact(out)
})
