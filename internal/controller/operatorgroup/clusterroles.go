package operatorgroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/tenancy"
)

// groupKind is the value of the owner kind label.
const groupKind = "OperatorGroup"

// maxRoleName is the length of the longest name of a ClusterRole.
const maxRoleName = 253

// suffixes are the levels of access, one ClusterRole each.
var suffixes = []string{"admin", "edit", "view"}

// applyClusterRoles brings the three ClusterRoles of the group up to date. It returns when to retry those that only have APIs to come,
// of operators that are being installed: each of those would be another write of all three, and one more of the cluster.
func (c *Controller) applyClusterRoles(ctx context.Context, group *v1.OperatorGroup, seen *observed) (later time.Duration, _ error) {
	var errs []error
	for _, suffix := range suffixes {
		desired := clusterRole(group, suffix)
		live := slices.IndexFunc(seen.roles, func(r rbacv1.ClusterRole) bool { return r.Name == desired.Name })
		labelled := live >= 0 && labels.SelectorFromSet(desired.Labels).Matches(labels.Set(seen.roles[live].Labels))
		if labelled && equality.Semantic.DeepEqual(desired.AggregationRule, seen.roles[live].AggregationRule) { // its rules are written by the cluster
			continue
		}
		if labelled {
			wait, err := c.unrest(ctx, toCome(desired, &seen.roles[live]), suffix, seen)
			if err == nil && wait > 0 {
				later = reconcile.Sooner(later, wait)
				continue
			}
			errs = append(errs, err)
		}
		rule := applyrbacv1.AggregationRule()
		for _, selector := range desired.AggregationRule.ClusterRoleSelectors {
			rule.WithClusterRoleSelectors(applymetav1.LabelSelector().WithMatchLabels(selector.MatchLabels))
		}
		// Without the rules, which belong to the cluster.
		request := applyrbacv1.ClusterRole(desired.Name).WithLabels(desired.Labels).WithAggregationRule(rule)
		if err := rollout.Assert(ctx, c.client, request, fieldManager); err != nil {
			errs = append(errs, fmt.Errorf("apply ClusterRole %s of OperatorGroup %s: %w", desired.Name, client.ObjectKeyFromObject(group), err))
		}
	}
	return later, errors.Join(errs...)
}

// toCome are the labels that a role is going to gather by and does not yet, where that is all that changes; else none.
func toCome(desired, live *rbacv1.ClusterRole) map[string]bool {
	if live.AggregationRule == nil {
		return nil
	}
	coming := map[string]bool{}
	for _, s := range desired.AggregationRule.ClusterRoleSelectors {
		for label := range s.MatchLabels {
			coming[label] = true
		}
	}
	for _, s := range live.AggregationRule.ClusterRoleSelectors {
		for label := range s.MatchLabels {
			if !coming[label] && !strings.HasPrefix(label, nothing) || len(s.MatchExpressions) > 0 {
				return nil // something goes, which is not put off
			}
			delete(coming, label)
		}
	}
	return coming
}

// unrest is how long the operators that provide what is to come are being installed yet. The one of them that has been at rest longest counts.
func (c *Controller) unrest(ctx context.Context, coming map[string]bool, suffix string, seen *observed) (time.Duration, error) {
	var wait time.Duration
	for i := range seen.members {
		member := &seen.members[i]
		if !slices.ContainsFunc(sets.List(tenancy.ProvidedBy(member)), func(text string) bool {
			api, ok := tenancy.ParseAPI(text)
			return ok && coming[selectorOf(catalog.GVK{Group: api.Group, Version: api.Version, Kind: api.Kind}, suffix)]
		}) {
			continue
		}
		left, err := reconcile.UntilQuiet(member, c.clock.Now(), reconcile.ListOperators(ctx, c.client))
		if err != nil || left <= 0 {
			return 0, err
		}
		wait = reconcile.Sooner(wait, left)
	}
	return wait, nil
}

// nothing, with a level of access after it, is a label of no ClusterRole: an aggregation rule has to have a selector, and without a rule the
// cluster would leave the ClusterRole what it gathered before.
const nothing = v1alpha1.OperatorGroupAggregationLabelPrefix + "nothing-"

// clusterRole is one of the group's ClusterRoles. It gathers the rules of the ClusterRoles of the group's provided APIs, by the label with
// the hash of the API. The other label of these, which names a group, tells no groups of one name apart and is not selected by.
func clusterRole(group *v1.OperatorGroup, suffix string) *rbacv1.ClusterRole {
	var selectors []metav1.LabelSelector
	add := func(key string) {
		selectors = append(selectors, metav1.LabelSelector{MatchLabels: map[string]string{key: "true"}})
	}
	// Read the annotation of the group. What cannot be read is left out.
	var apis []catalog.GVK
	for _, item := range sets.List(tenancy.AnnotatedOn(group)) {
		if api, ok := tenancy.ParseAPI(item); ok {
			apis = append(apis, catalog.GVK{Group: api.Group, Version: api.Version, Kind: api.Kind})
		}
	}
	for _, api := range apis {
		add(selectorOf(api, suffix))
	}
	if len(selectors) == 0 {
		add(nothing + suffix)
	}
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{
			Name: roleName(client.ObjectKeyFromObject(group), suffix),
			Labels: map[string]string{
				v1alpha1.ManagedLabel:        v1alpha1.ManagedLabelValue,
				v1alpha1.OwnerLabel:          group.Name,
				v1alpha1.OwnerNamespaceLabel: group.Namespace,
				v1alpha1.OwnerKindLabel:      groupKind,
				uidLabel(string(group.UID)):  "",
			},
		},
		AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: selectors},
	}
}

// selectorOf is the label of the ClusterRole of an API for a level of access.
func selectorOf(api catalog.GVK, suffix string) string {
	return v1alpha1.OperatorGroupAggregationLabelPrefix + bundle.GVKHash(api) + "-" + suffix
}

// roleName is olm.og.<group>.<suffix>-<hash>; the name of the group is cut where the whole would be too long.
func roleName(group types.NamespacedName, suffix string) string {
	const prefix = "olm.og."
	tail := "." + suffix + "-" + bundle.StringHash62(group.Namespace+"/"+group.Name+"/"+suffix)
	room := maxRoleName - len(prefix) - len(tail)
	return prefix + group.Name[:min(len(group.Name), room)] + tail
}
