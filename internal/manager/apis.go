package manager

import (
	"fmt"
	"slices"
	"strings"
)

// apis is the flag that names the APIs to work on. The v0 API is always among them.
type apis Options

func (a *apis) String() string {
	if a.WithoutV1 {
		return "v0"
	}
	return "v0,v1"
}

func (a *apis) Set(text string) error {
	names := strings.Split(text, ",")
	for _, name := range names {
		if name != "v0" && name != "v1" {
			return fmt.Errorf("%q is no API: give v0, or v0,v1", name)
		}
	}
	if !slices.Contains(names, "v0") {
		return fmt.Errorf("the v0 API cannot be switched off: give v0, or v0,v1")
	}
	a.WithoutV1 = !slices.Contains(names, "v1")
	return nil
}

func (*apis) Type() string { return "apis" }
