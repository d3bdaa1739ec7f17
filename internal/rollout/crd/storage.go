package crd

import "fmt"

// storedVersionsKept finds the versions that objects may be stored in and that the new CRD does not have. Such objects could not be
// read again. A version that was turned off before, or whose removal is exempted, can go once the objects are rewritten in the version that is stored now.
func storedVersionsKept(u Upgrade) (lost []Finding, leaving []string) {
	live, wanted := u.Live, u.Wanted
	for _, name := range live.Status.StoredVersions {
		if versionOf(wanted, name) != nil {
			continue
		}
		before := versionOf(live, name)
		check, remedy := StoredVersionRemoval, ""
		switch {
		case before == nil: // nothing can be stored in it any more
		case before.Storage:
			remedy = fmt.Sprintf("objects are stored as %s: upgrade first to a bundle whose CRD stores another version and has %s with served: false", name, name)
		case before.Served && !u.exempts(ServedVersionRemoval):
			check = ServedVersionRemoval
			remedy = fmt.Sprintf("upgrade first to a bundle whose CRD has %s with served: false; its objects are then rewritten when the version goes; "+
				"or, when no client uses %s any more, have them rewritten now: %s", name, name, u.exemption(check))
		}
		if remedy == "" {
			leaving = append(leaving, name)
			continue
		}
		lost = append(lost, Finding{Check: check, Version: name, Remedy: remedy,
			What: fmt.Sprintf("risk of data loss updating %q: new CRD removes version %s that is listed as a stored version on the existing CRD", wanted.Name, name)})
	}
	return lost, leaving
}

// storedConverted are the versions that objects may be stored in, and that only the webhook of the live CRD can make something of. It may
// do so even where the schemas are the same.
func storedConverted(live, wanted *definition) []string {
	var names []string
	for _, name := range live.Status.StoredVersions {
		if before := versionOf(live, name); before != nil && !before.Storage && versionOf(wanted, name) != nil {
			names = append(names, name)
		}
	}
	return names
}

// prunes tells whether objects may lose fields because the new schema of what is stored does not know them. Where a webhook converts,
// that is its affair.
func prunes(live, wanted *definition) bool {
	was, is := versionOf(live, StorageVersion(live)), versionOf(wanted, StorageVersion(wanted))
	return !converts(wanted) && !wanted.Spec.PreserveUnknownFields && was != nil && is != nil && (live.Spec.PreserveUnknownFields || differ(was, is))
}

// StorageVersion is the version that a CRD stores objects in.
func StorageVersion(crd *definition) string {
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return v.Name
		}
	}
	return ""
}

// ReadVersion is the version in which objects are best read: the stored one, which needs no conversion for most of them, or the first
// one that is served. It is empty when there is none.
func ReadVersion(crd *definition) string {
	storage := StorageVersion(crd)
	if v := versionOf(crd, storage); v != nil && v.Served {
		return storage
	}
	for _, name := range servedVersions(crd) {
		return name
	}
	return ""
}

// storedBeforeConverted tells of a CRD that stores objects in another version before the webhook answers that knows how.
func storedBeforeConverted(u Upgrade) []Finding {
	was, is := versionOf(u.Live, StorageVersion(u.Live)), versionOf(u.Wanted, StorageVersion(u.Wanted))
	if !converts(u.Wanted) || was == nil || is == nil || was.Name == is.Name || !differ(was, is) {
		return nil
	}
	return []Finding{{CRD: u.Wanted.Name, Check: StorageChange, Version: is.Name,
		What: fmt.Sprintf("CustomResourceDefinition %s stores %s from now on, which its new webhook converts; until that answers, objects are converted as before",
			u.Wanted.Name, is.Name),
		Remedy: "bundles should bring the webhook first, and store the version in the next release"}}
}
