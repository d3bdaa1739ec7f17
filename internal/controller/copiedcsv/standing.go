package copiedcsv

import (
	"slices"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// standing is what a ClusterServiceVersion has to do with a namespace.
type standing int

const (
	absent standing = iota // it has no copy there
	kept                   // a copy that is there stays as it is: it cannot be told at the moment what it should be
	wanted                 // it has a copy there
)

// policy says whether operators that watch all namespaces are copied.
type policy struct {
	disabled bool
	// protected are namespaces that have copies nevertheless.
	protected []string
}

// uncopied are the reasons of ClusterServiceVersions that are no members of a group at the moment. Their copies stay as
// they are as long as the group targets the namespace.
var uncopied = []v1alpha1.ConditionReason{
	v1alpha1.CSVReasonCopied, v1alpha1.CSVReasonInvalidInstallModes, v1alpha1.CSVReasonNoTargetNamespaces,
	v1alpha1.CSVReasonUnsupportedOperatorGroup, v1alpha1.CSVReasonNoOperatorGroup, v1alpha1.CSVReasonTooManyOperatorGroups,
	v1alpha1.CSVReasonInterOperatorGroupOwnerConflict, v1alpha1.CSVReasonCannotModifyStaticProvidedAPIs,
}

// stand judges a ClusterServiceVersion, with the groups of its namespace, for one namespace.
func (p policy) stand(csv *v1alpha1.ClusterServiceVersion, groups []v1.OperatorGroup, namespace string) standing {
	switch {
	case csv.Namespace == namespace, csv.IsCopied(), !csv.DeletionTimestamp.IsZero(), len(groups) == 0:
		return absent
	case len(groups) > 1, groups[0].Status.LastUpdated == nil:
		return kept
	}
	group := &groups[0]
	conflict := csv.Status.Phase == v1alpha1.CSVPhaseFailed && csv.Status.Reason == v1alpha1.CSVReasonInterOperatorGroupOwnerConflict
	switch {
	case conflict, !tenancy.Targets(group, namespace), p.disabled && tenancy.IsGlobal(group) && !slices.Contains(p.protected, namespace):
		return absent
	case !copyable(csv):
		return kept
	default:
		return wanted
	}
}

// copyable says whether the status of a ClusterServiceVersion is one that copies may show.
func copyable(csv *v1alpha1.ClusterServiceVersion) bool {
	return csv.Status.Phase != v1alpha1.CSVPhaseNone && !slices.Contains(uncopied, csv.Status.Reason)
}
