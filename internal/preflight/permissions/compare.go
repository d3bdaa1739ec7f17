package permissions

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Increase is what a new revision lets subjects do that the old one did not.
type Increase struct {
	Grants []Grant
}

// Grant is rules that a subject gets.
type Grant struct {
	// Subject is "ServiceAccount ns/name", "User name" or "Group name".
	Subject string
	Rules   []MissingRule
}

// AcknowledgedKey is the annotation of a ClusterExtension with the Digest of the increase that somebody has agreed to.
const AcknowledgedKey = "operators.fairlead.dev/acknowledged-permissions"

// Digest names what is added: the same rules for the same subjects, the same digest. It is empty when nothing is added.
func (i *Increase) Digest() string { return "" }

// String is the added rules as lines for people.
func (i *Increase) String() string { return "" }

// Empty says that nothing is added.
func (i *Increase) Empty() bool { return i == nil || len(i.Grants) == 0 }

// Compare says what the new objects let subjects do that the old ones did not.
func Compare(old, new []*unstructured.Unstructured) *Increase { return nil }
