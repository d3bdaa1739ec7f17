package crdupgrade

import (
	"fmt"
	"strings"
)

// Existing says that objects which are stored already become invalid: how many of those that were looked at, and the first of them.
func Existing(u Upgrade, invalid, looked int, first []string) Finding {
	sample := strings.Join(first, "; ")
	if more := invalid - len(first); more > 0 {
		sample += fmt.Sprintf("; and %d more", more)
	}
	remedy := "change these objects so that they meet both schemas"
	if owners := ownersOf(u.Others); len(owners) > 0 {
		remedy += fmt.Sprintf(", or remove %s, which also owns the CustomResourceDefinition", list(owners))
	}
	return Finding{CRD: u.Wanted.Name, Check: ExistingObjects, Remedy: remedy,
		What: fmt.Sprintf("error validating existing CRs against new CRD's schema for %q: updated validation is too restrictive: "+
			"%d of %d objects become invalid: %s", u.Wanted.Name, invalid, looked, sample)}
}
