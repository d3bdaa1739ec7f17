package copiedcsv

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// sourceOf finds the ClusterServiceVersion that a copy is to be made from; nil when there is none. Of several that have the
// same name and target the same namespace, it is the oldest. keep reports whether a copy from a namespace stays as it is.
func (c *Controller) sourceOf(ctx context.Context, key types.NamespacedName) (from *v1alpha1.ClusterServiceVersion, keep func(namespace string) bool, err error) {
	config := &v1.OLMConfig{}
	if err := c.client.Get(ctx, client.ObjectKey{Name: v1.OLMConfigName}, config); client.IgnoreNotFound(err) != nil {
		return nil, nil, fmt.Errorf("read OLMConfig %s: %w", v1.OLMConfigName, err)
	}
	policy := policy{disabled: !config.CopiedCSVsEnabled(), protected: c.limits.protected}
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByName: key.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list the ClusterServiceVersions with the name %s: %w", key.Name, err)
	}
	stay := map[string]bool{}
	for i := range list.Items {
		csv := &list.Items[i]
		groups, err := c.groupsIn(ctx, csv.Namespace)
		if err != nil {
			return nil, nil, err
		}
		switch policy.stand(csv, groups, key.Namespace) {
		case desired:
			older := from == nil || cmp.Or(csv.CreationTimestamp.Compare(from.CreationTimestamp.Time), cmp.Compare(csv.Namespace, from.Namespace)) < 0
			if c.watches(csv.Namespace) && older {
				from = csv
			}
		case kept:
			stay[csv.Namespace] = true
		}
	}
	keep = func(namespace string) bool { return stay[namespace] || namespace != "" && !c.watches(namespace) }
	return from, keep, nil
}

func (c *Controller) groupsIn(ctx context.Context, namespace string) ([]v1.OperatorGroup, error) {
	var groups v1.OperatorGroupList
	if err := c.client.List(ctx, &groups, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the OperatorGroups of namespace %s: %w", namespace, err)
	}
	return groups.Items, nil
}

// watches reports whether the manager manages a namespace.
func (c *Controller) watches(namespace string) bool {
	return len(c.limits.namespaces) == 0 || slices.Contains(c.limits.namespaces, namespace)
}

// prepared remembers what copies are made from, so that it is worked out once for each version of a source. Its zero value
// is empty.
type prepared struct {
	mu    sync.Mutex
	known map[types.NamespacedName]versioned
}

type versioned struct {
	version string
	content *content
}

func (p *prepared) contentOf(csv *v1alpha1.ClusterServiceVersion) (*content, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := client.ObjectKeyFromObject(csv)
	if known, ok := p.known[key]; ok && known.version == csv.ResourceVersion {
		return known.content, nil
	}
	made, err := newContent(csv)
	if err != nil {
		return nil, err
	}
	if p.known == nil {
		p.known = map[types.NamespacedName]versioned{}
	}
	p.known[key] = versioned{csv.ResourceVersion, made}
	return made, nil
}

// forget drops what copies of a source that is gone were made from.
func (p *prepared) forget(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, key)
}

// standing is what a ClusterServiceVersion has to do with a namespace.
type standing int

const (
	absent  standing = iota // it has no copy there
	kept                    // a copy that is there stays as it is: it cannot be told at the moment what it should be
	desired                 // it has a copy there
)

// policy reports whether operators that watch all namespaces are copied.
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
	case len(groups) > 1, !groups[0].Status.IsSelected():
		return kept
	}
	group := &groups[0]
	global := tenancy.IsGlobal(group)
	conflict := csv.Status.Phase == v1alpha1.CSVPhaseFailed && csv.Status.Reason == v1alpha1.CSVReasonInterOperatorGroupOwnerConflict
	switch {
	case conflict, !global && !slices.Contains(group.Status.Namespaces, namespace), p.disabled && global && !slices.Contains(p.protected, namespace):
		return absent
	case !(csv.Status.Phase != v1alpha1.CSVPhaseNone && !slices.Contains(uncopied, csv.Status.Reason)):
		return kept
	default:
		return desired
	}
}
