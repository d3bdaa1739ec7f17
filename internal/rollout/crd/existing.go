package crd

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
	if !u.exempts(ExistingObjects) && !converts(u.Wanted) {
		remedy += ", or let them become invalid: " + u.exemption(ExistingObjects)
	}
	return Finding{CRD: u.Wanted.Name, Check: ExistingObjects, Remedy: remedy,
		What: fmt.Sprintf("error validating existing CRs against new CRD's schema for %q: updated validation is too restrictive: "+
			"%d of %d objects become invalid: %s", u.Wanted.Name, invalid, looked, sample(invalid, first))}
}

// LastWritten reports objects whose last writer used a version that goes although it is served: how many of those that were read, and the first of them.
func LastWritten(u Upgrade, versions []string, written, read int, first []string) Finding {
	names := strings.Join(versions, ", ")
	return Finding{CRD: u.Wanted.Name, Check: ServedVersionRemoval, Version: names,
		What: fmt.Sprintf("CustomResourceDefinition %s: the new one does not have version %s, which is served: %d of %d objects were last written in it, so its clients would fail: %s",
			u.Wanted.Name, names, written, read, sample(written, first)),
		Remedy: fmt.Sprintf("upgrade first to a bundle whose CRD has the version with served: false, or write these objects in another version, or let the version go: %s",
			u.exemption(ServedVersionRemoval))}
}

// UnreadWriters reports that it is unknown whether objects were last written in a version that goes although it is served, and why.
func UnreadWriters(u Upgrade, versions []string, why string) Finding {
	f := Unreadable(u, why)
	f.Check, f.Version = ServedVersionRemoval, strings.Join(versions, ", ")
	f.Remedy = fmt.Sprintf("the new one does not have version %s, which is served, and objects may have been written in it last: repair what converts them, "+
		"or let the version go: %s", f.Version, u.exemption(ServedVersionRemoval))
	return f
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
