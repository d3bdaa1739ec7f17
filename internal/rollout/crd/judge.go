package crd

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Upgrade is the step that an InstallPlan wants to take.
type Upgrade struct {
	// Live is what the cluster has, and Wanted what is to replace it. Neither is changed.
	Live, Wanted *definition
	// By is the operator that brings the CRD.
	By Operator
	// Others are the operators that have to do with the CRD, without the one that brings it and those that it replaces.
	Others []Operator
	// Joins tells that neither that operator nor one that it replaces has owned the CRD so far.
	Joins bool
	// Strict asks of a CRD with a single owner what is asked of one with several.
	Strict bool
	// Unowned asks that every stored object stays valid and loses no field: no operator that runs answers for the objects of the CRD.
	Unowned bool
	// Exempted are the checks that the annotation of the live CRD lets upgrades pass.
	Exempted []Exempted
}

// KeepsFields reports whether objects that lose fields stand in the way.
func (u Upgrade) KeepsFields() bool { return u.Strict || u.Unowned }

// Verdict is what the rules say of an upgrade.
type Verdict struct {
	// Refused are the reasons not to go on. With them, nothing else is decided.
	Refused []Finding
	// Warnings are what people should know.
	Warnings []Finding
	// Leaving are the versions that objects may be stored in and cannot be read from any more: the objects must be rewritten before.
	Leaving []string
	// Unconverted tells that a webhook goes which converts the objects.
	Unconverted bool
	// Changed are the versions in which existing objects may become invalid.
	Changed []string
	// Prunes tells that objects may lose fields that the new schema of what is stored does not know.
	Prunes bool
	// Binding reports whether objects that become invalid block the upgrade; otherwise they are warned of.
	Binding bool
	// Keeps reports whether objects that lose fields block the upgrade; otherwise they are warned of.
	Keeps bool
	// Dropped are served versions that go. Objects that were last written in one of them block the upgrade.
	Dropped []string
}

// Thorough reports whether every stored object has to be read before the upgrade; otherwise a sample is enough.
func (v Verdict) Thorough() bool { return v.Binding || v.Keeps || len(v.Dropped) > 0 }

// Judge applies the rules for InstallPlans. No upgrade makes a stored object invalid, or drops a version that is served and that objects are stored or
// were last written in, unless the live CRD exempts it. A CRD with several owners keeps every served version besides. Who becomes one of several owners
// must define it as it is. No stored object may be lost, no matter which operator owns the CRD.
func Judge(u Upgrade) Verdict {
	var v Verdict
	owners := ownersOf(u.Others)
	if v.Refused = sameDefinition(u, owners); len(v.Refused) > 0 {
		v.Refused[0].CRD = u.Wanted.Name
		return v // the other rules are about owners who go on to a newer version
	}
	v.Refused = slices.Concat(providedTwice(u, owners), servedVersionsKept(u, owners), dependentsKept(u), storedVersionsKept(u))
	for i := range v.Refused {
		v.Refused[i].CRD = u.Wanted.Name
	}
	if len(v.Refused) > 0 {
		return v
	}
	v.Leaving, v.Unconverted = Leaving(u.Live, u.Wanted)
	v.Prunes = prunes(u.Live, u.Wanted)
	v.Changed = changedVersions(u.Live, u.Wanted)
	v.Binding = (len(v.Changed) > 0 || len(owners) > 0 || u.KeepsFields()) && !converts(u.Wanted) && !u.exempts(ExistingObjects)
	v.Keeps = u.KeepsFields() && !converts(u.Wanted)
	v.Dropped = droppedWhileServed(u)
	v.Warnings = append(goneForClients(u), storedBeforeConverted(u)...)
	return v
}

// servedVersionsKept makes sure that the versions of a shared CRD stay: they must be there, and those that an owner names be served.
func servedVersionsKept(u Upgrade, owners []Operator) []Finding {
	if len(owners) == 0 && !u.Strict {
		return nil
	}
	var findings []Finding
	for _, name := range servedVersions(u.Live) {
		after := versionOf(u.Wanted, name)
		users := slices.DeleteFunc(slices.Clone(owners), func(o Operator) bool { return !o.ownsVersion(name) })
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
				u.Wanted.Name, because, name)})
	}
	return findings
}

// dependentsKept makes sure that no operator loses a version that it requires.
func dependentsKept(u Upgrade) []Finding {
	var findings []Finding
	for _, name := range servedVersions(u.Live) {
		if after := versionOf(u.Wanted, name); after != nil && after.Served {
			continue
		}
		users := slices.DeleteFunc(slices.Clone(u.Others), func(o Operator) bool { return !slices.Contains(o.Requires, name) })
		if len(users) > 0 {
			findings = append(findings, Finding{Check: Dependents, Version: name, Remedy: "upgrade or remove what requires it first",
				What: fmt.Sprintf("version %s of CustomResourceDefinition %s is required by %s, but the new one does not serve it",
					name, u.Wanted.Name, list(users))})
		}
	}
	return findings
}

// goneForClients are the served versions that go although no operator says that it uses them.
func goneForClients(u Upgrade) []Finding {
	remedy := "the upgrade is refused while objects were last written in that version; a bundle should first turn it off with served: false"
	if u.exempts(ServedVersionRemoval) {
		remedy = fmt.Sprintf("annotation %s exempts it", ExemptionsKey)
	}
	var findings []Finding
	for _, name := range servedVersions(u.Live) {
		if versionOf(u.Wanted, name) == nil {
			findings = append(findings, Finding{CRD: u.Wanted.Name, Check: ServedVersionRemoval, Version: name,
				What:   fmt.Sprintf("CustomResourceDefinition %s: version %s goes although it is served; clients that use it will fail", u.Wanted.Name, name),
				Remedy: remedy})
		}
	}
	return findings
}

// droppedWhileServed are the served versions that go, and that no object is stored in: clients may still write in them.
func droppedWhileServed(u Upgrade) []string {
	var dropped []string
	for _, name := range servedVersions(u.Live) {
		if versionOf(u.Wanted, name) == nil && !u.exempts(ServedVersionRemoval) {
			dropped = append(dropped, name)
		}
	}
	return dropped
}

// changedVersions are those that are served before and after with another schema.
func changedVersions(live, wanted *definition) []string {
	var changed []string
	for _, name := range servedVersions(live) {
		after := versionOf(wanted, name)
		if after == nil || !after.Served {
			continue
		}
		if differ(versionOf(live, name), after) {
			changed = append(changed, name)
		}
	}
	return changed
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
	for i, o := range operators {
		if i == listed {
			texts = append(texts, fmt.Sprintf("%d more", len(operators)-i))
			break
		}
		texts = append(texts, o.String())
	}
	return strings.Join(texts, ", ")
}
