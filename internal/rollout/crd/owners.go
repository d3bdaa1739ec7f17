package crd

import (
	"fmt"
	"slices"
)

// Operator is what is needed of a ClusterServiceVersion that has to do with a CRD.
type Operator struct {
	Namespace, Name string
	// Owns and Requires are the versions of the CRD that it names; an empty name stands for every version.
	Owns, Requires []string
}

// String names the operator.
func (o Operator) String() string {
	return fmt.Sprintf("ClusterServiceVersion %s/%s", o.Namespace, o.Name)
}

// ownsVersion tells whether the operator says that it provides a version.
func (o Operator) ownsVersion(name string) bool {
	return slices.Contains(o.Owns, name) || slices.Contains(o.Owns, "")
}

func ownersOf(others []Operator) []Operator {
	return slices.DeleteFunc(slices.Clone(others), func(o Operator) bool { return len(o.Owns) == 0 })
}

// providedTwice refuses a second provider in one namespace.
func providedTwice(u Upgrade, owners []Operator) []Finding {
	var findings []Finding
	for _, o := range owners {
		if o.Namespace == u.By.Namespace && len(u.By.Owns) > 0 {
			findings = append(findings, Finding{Check: SingleProvider, Remedy: "remove one of the two, or install it in another namespace",
				What: fmt.Sprintf("CustomResourceDefinition %s of %s is provided by %s already; a namespace can have only one of them",
					u.Wanted.Name, u.By.Name, o)})
		}
	}
	return findings
}
