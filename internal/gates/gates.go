package gates

import (
	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/policies"
	"fairlead.dev/fairlead/internal/rollout/crd"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const prefix = olmv1.SettingsPrefix

const (
	// ExemptionsKey is the annotation of a ClusterExtension that lists what the checks of CRD upgrades let pass: "CHECK [CRD [PATH]]",
	// separated by semicolons.
	ExemptionsKey = crd.ExemptionsKey
	// ContentKey is the annotation of a revision with the digest of the catalog that holds the manifests of its bundle, where that has no
	// image.
	ContentKey = prefix + "catalog-content"
	// ConditionNameKey is the annotation of a revision with the name of its OperatorCondition, where that is not the name of the extension.
	ConditionNameKey = prefix + "operator-condition-name"
	// AcknowledgedAll in the place of a digest acknowledges whatever permissions upgrades ask for.
	AcknowledgedAll = "*"
)

// Count is how many custom resources of a CustomResourceDefinition there are.
type Count = crd.Count

// Judge reads what the gates have to know.
type Judge struct {
	// Client is read from, also from its cache if it has one, and knows the kinds of the cluster.
	Client client.Client
	// Live is not a cache.
	Live client.Reader
	// Count counts custom resources; nil asks Live.
	Count Count
	// Policies judges the admission policies that protect identities; nil requires none.
	Policies *policies.Checker
	// Backs remembers ways back that are blocked; nil is for those who ask once.
	Backs *crd.Backs
}

// Step is what an extension would be changed to.
type Step struct {
	Extension *olmv1.ClusterExtension
	// Revisions are those of the extension, the oldest first.
	Revisions []olmv1.ClusterObjectSet
	Bundle    Bundle
	Objects   []*unstructured.Unstructured
	// Repeated says that the objects are those of an earlier revision.
	Repeated bool
}

// Bundle is where the objects come from.
type Bundle struct {
	Name, Version string
	// Image is empty where the manifests are in a catalog; Content is the digest of that.
	Image, Content string
}

// Stop is a refusal that does not go away by itself.
type Stop struct {
	// Reason is that of the condition Progressing.
	Reason string
	Err    error
}

func (s *Stop) Error() string { return s.Err.Error() }

// Unwrap returns what it is about.
func (s *Stop) Unwrap() error { return s.Err }

// Blocked is a refusal that only a change of something else ends.
func Blocked(err error) error { return &Stop{Reason: olmv1.ReasonBlocked, Err: err} }

// Misconfigured is a refusal that only a change of the ClusterExtension ends.
func Misconfigured(err error) error {
	return &Stop{Reason: olmv1.ReasonInvalidConfiguration, Err: err}
}
