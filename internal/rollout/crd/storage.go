package crd

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// leaving are the versions that objects of the live CRD may be stored in and that nothing can read once the desired one replaces it: the desired CRD does
// not have them, or it does without the webhook that converts them, which is unconverted. The objects must be rewritten before. The version that the
// live CRD stores is never among them: its objects cannot be rewritten.
func leaving(live, desired *definition) (versions []string, unconverted bool) {
	unconverted = converts(live) && !converts(desired)
	var converted []string
	for _, name := range live.Status.StoredVersions {
		switch before := versionOf(live, name); {
		case before != nil && before.Storage:
		case versionOf(desired, name) == nil: // also one that the live CRD lacks: nothing can be stored in it any more
			versions = append(versions, name)
		case before != nil && unconverted: // only the webhook can convert it, maybe even where the schemas are the same
			converted = append(converted, name)
		}
	}
	return append(versions, converted...), unconverted
}

// removedStored are the versions that objects may be stored in, that the desired CRD does not have, and whose objects nothing rewrites: the version that
// is stored now, and those that are served, because clients may use them still.
func removedStored(live, desired *definition) []*apiextensionsv1.CustomResourceDefinitionVersion {
	var removed []*apiextensionsv1.CustomResourceDefinitionVersion
	for _, name := range live.Status.StoredVersions {
		if before := versionOf(live, name); before != nil && versionOf(desired, name) == nil && (before.Storage || before.Served) {
			removed = append(removed, before)
		}
	}
	return removed
}

// storedVersionsKept refuses to remove such versions. One that is served can go if its removal is exempted.
func storedVersionsKept(u Change) []Finding {
	var lost []Finding
	for _, v := range removedStored(u.Live, u.Desired) {
		check, remedy := StoredVersionRemoval, fmt.Sprintf("objects are stored as %s: upgrade first to a bundle whose CRD stores another version and has %[1]s with served: false", v.Name)
		if !v.Storage {
			if u.exempts(ServedVersionRemoval) {
				continue
			}
			check = ServedVersionRemoval
			remedy = fmt.Sprintf("upgrade first to a bundle whose CRD has %s with served: false; its objects are then rewritten when the version goes; "+
				"or, when no client uses %[1]s any more, have them rewritten now: %s", v.Name, u.exemption(check))
		}
		lost = append(lost, Finding{Check: check, Version: v.Name, Remedy: remedy,
			What: fmt.Sprintf("risk of data loss updating %q: new CRD removes version %s that is listed as a stored version on the existing CRD", u.Desired.Name, v.Name)})
	}
	return lost
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
func storedBeforeConverted(u Change) []Finding {
	was, is := versionOf(u.Live, StorageVersion(u.Live)), versionOf(u.Desired, StorageVersion(u.Desired))
	if !converts(u.Desired) || was == nil || is == nil || was.Name == is.Name || !differ(was, is) {
		return nil
	}
	return []Finding{{CRD: u.Desired.Name, Check: StorageChange, Version: is.Name,
		What: fmt.Sprintf("CustomResourceDefinition %s stores %s from now on, which its new webhook converts; until that answers, objects are converted as before",
			u.Desired.Name, is.Name),
		Remedy: "bundles should bring the webhook first, and store the version in the next release"}}
}
