package crd

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// planRules applies the rules for InstallPlans. No upgrade makes a stored object invalid, or drops a version that is served and that objects are stored or
// were last written in, unless the live CRD exempts it. A CRD with several owners keeps every served version besides. An operator that becomes one of
// several owners must define the CRD as it is. No stored object may be lost, no matter which operator owns the CRD.
func planRules(u Change) Verdict {
	var v Verdict
	owners := slices.DeleteFunc(slices.Clone(u.Others), func(o Operator) bool { return len(o.Owns) == 0 })
	if v.Refused = sameDefinition(u, owners); len(v.Refused) == 0 { // the other rules are about owners that go on to a newer version
		v.Refused = slices.Concat(providedTwice(u, owners), servedVersionsKept(u, owners), dependentsKept(u), storedVersionsKept(u))
	}
	for i := range v.Refused {
		v.Refused[i].CRD = u.Desired.Name
	}
	if len(v.Refused) > 0 {
		return v
	}
	v.Leaving, v.Unconverted = leaving(u.Live, u.Desired)
	// Whether objects may lose fields because the new schema of what is stored does not know them. Where a webhook converts, that is
	// its affair.
	wanted := u.Desired
	was, is := versionOf(u.Live, StorageVersion(u.Live)), versionOf(wanted, StorageVersion(wanted))
	v.Prunes = !converts(wanted) && !wanted.Spec.PreserveUnknownFields && was != nil && is != nil && (u.Live.Spec.PreserveUnknownFields || differ(was, is))
	// Those that are served before and after with another schema.
	var changed []string
	for _, name := range servedVersions(u.Live) {
		after := versionOf(u.Desired, name)
		if after == nil || !after.Served {
			continue
		}
		if differ(versionOf(u.Live, name), after) {
			changed = append(changed, name)
		}
	}
	v.Changed = changed
	keepsFields := u.Strict || u.Unowned
	v.Binding = (len(v.Changed) > 0 || len(owners) > 0 || keepsFields) && !converts(u.Desired) && !u.exempts(ExistingObjects)
	v.Keeps = keepsFields && !converts(u.Desired)
	// The served versions that go, and that no object is stored in: clients may still write in them.
	var dropped []string
	for _, name := range servedVersions(u.Live) {
		if versionOf(u.Desired, name) == nil && !u.exempts(ServedVersionRemoval) {
			dropped = append(dropped, name)
		}
	}
	v.Dropped = dropped
	// The served versions that go although no operator says that it uses them.
	remedy := "the upgrade is refused while objects were last written in that version; a bundle should first turn it off with served: false"
	if u.exempts(ServedVersionRemoval) {
		remedy = fmt.Sprintf("annotation %s exempts it", ExemptionsKey)
	}
	var findings []Finding
	for _, name := range servedVersions(u.Live) {
		if versionOf(u.Desired, name) == nil {
			findings = append(findings, Finding{CRD: u.Desired.Name, Check: ServedVersionRemoval, Version: name,
				What:   fmt.Sprintf("CustomResourceDefinition %s: version %s goes although it is served; clients that use it will fail", u.Desired.Name, name),
				Remedy: remedy})
		}
	}
	v.Warnings = append(findings, storedBeforeConverted(u)...)
	return v
}

// servedVersionsKept makes sure that the versions of a shared CRD stay: they must be there, and those that an owner names be served.
func servedVersionsKept(u Change, owners []Operator) []Finding {
	if len(owners) == 0 && !u.Strict {
		return nil
	}
	var findings []Finding
	for _, name := range servedVersions(u.Live) {
		after := versionOf(u.Desired, name)
		users := slices.DeleteFunc(slices.Clone(owners), func(o Operator) bool { return !(slices.Contains(o.Owns, name) || slices.Contains(o.Owns, "")) })
		if after != nil && (after.Served || len(users) == 0) {
			continue
		}
		because := "its upgrades are strict"
		if len(owners) > 0 {
			because = "is also owned by " + list(owners)
		}
		remedy := fmt.Sprintf("upgrade to a bundle whose CRD has %s with served: false first, when no client uses that version any more", name)
		if after != nil {
			remedy = fmt.Sprintf("upgrade or remove %s first", list(users))
		}
		findings = append(findings, Finding{Check: ServedVersionRemoval, Version: name, Remedy: remedy,
			What: fmt.Sprintf("CustomResourceDefinition %s %s, so every version that it serves must stay, but the new one does not serve %s",
				u.Desired.Name, because, name)})
	}
	return findings
}

// dependentsKept makes sure that no operator loses a version that it requires.
func dependentsKept(u Change) []Finding {
	var findings []Finding
	for _, name := range servedVersions(u.Live) {
		if after := versionOf(u.Desired, name); after != nil && after.Served {
			continue
		}
		users := slices.DeleteFunc(slices.Clone(u.Others), func(o Operator) bool { return !slices.Contains(o.Requires, name) })
		if len(users) > 0 {
			findings = append(findings, Finding{Check: Dependents, Version: name, Remedy: "upgrade or remove what requires it first",
				What: fmt.Sprintf("version %s of CustomResourceDefinition %s is required by %s, but the new one does not serve it",
					name, u.Desired.Name, list(users))})
		}
	}
	return findings
}

// differ tells whether the schemas of two versions accept different objects, as far as can be told.
func differ(a, b *apiextensionsv1.CustomResourceDefinitionVersion) bool {
	left, right := schemaOf(a).DeepCopy(), schemaOf(b).DeepCopy()
	undocument(left)
	undocument(right)
	return !equality.Semantic.DeepEqual(left, right)
}

func servedVersions(crd *definition) []string {
	var served []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			served = append(served, v.Name)
		}
	}
	return served
}

// listed is how many names a message has room for.
const listed = 5

func list(operators []Operator) string {
	var texts []string
	for _, o := range operators {
		texts = append(texts, o.String())
	}
	return strings.Join(safetext.First(texts, listed, "%d more"), ", ")
}
