package crdupgrade

import (
	"fmt"
	"strings"
)

// Existing says that objects which are stored already become invalid: how many of those that were looked at, and the first of them.
func Existing(u Upgrade, invalid, looked int, first []string) Finding {
	remedy := "change these objects so that they meet both schemas"
	if owners := ownersOf(u.Others); len(owners) > 0 {
		remedy += fmt.Sprintf(", or remove %s, which also owns the CustomResourceDefinition", list(owners))
	}
	return Finding{CRD: u.Wanted.Name, Check: ExistingObjects, Remedy: remedy,
		What: fmt.Sprintf("error validating existing CRs against new CRD's schema for %q: updated validation is too restrictive: "+
			"%d of %d objects become invalid: %s", u.Wanted.Name, invalid, looked, sample(invalid, first))}
}

// Losing says that objects which are stored already lose fields with the next write.
func Losing(u Upgrade, losing, looked int, first []string) Finding {
	return Finding{CRD: u.Wanted.Name, Check: StoredContent,
		What: fmt.Sprintf("risk of data loss updating %q: the schema of version %s, which objects are stored in from now on, does not know all of their fields: "+
			"%d of %d objects lose some with the next write: %s", u.Wanted.Name, StorageVersion(u.Wanted), losing, looked, sample(losing, first)),
		Remedy: "keep a copy of these objects, and move what the fields hold to where the new version has it"}
}

// Unreadable says that objects cannot be compared with the new schema, and why.
func Unreadable(u Upgrade, why string) Finding {
	f := Finding{CRD: u.Wanted.Name, Check: ExistingObjects, What: fmt.Sprintf("objects of CustomResourceDefinition %s could not be compared with the new schema: %s", u.Wanted.Name, why)}
	if converts(u.Live) && !converts(u.Wanted) {
		f.Check = ConversionRemoval
		f.Remedy = "the new one does without this webhook, so its objects must be readable before it goes: mend the webhook of the operator that runs, or delete the objects that it does not convert"
	}
	return f
}

func sample(all int, first []string) string {
	text := strings.Join(first, "; ")
	if more := all - len(first); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
