package installplan

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// observation is what a decision about a plan depends on besides the plan.
type observation struct {
	// account is what the plan is carried out as; nil is the manager itself.
	account *corev1.ObjectReference
	// problem says why the OperatorGroup does not tell.
	problem string
	// group is the OperatorGroup, where there is one that counts.
	group *operatorsv1.OperatorGroup
	// nudged plans have reason to be tried again although they failed.
	nudged bool
}

// observe reads what is to be known. What limits a plan is read from the API server before anything is done: a cache may not have heard
// of the service account yet. Once the two agree, the cache will do: what changes later could have changed during the pass as well.
func (c *Controller) observe(ctx context.Context, plan *v1alpha1.InstallPlan) (observation, error) {
	seen := observation{nudged: c.memory.nudged(client.ObjectKeyFromObject(plan))}
	if !unfinished(plan) && !seen.nudged {
		return seen, nil
	}
	key := client.ObjectKeyFromObject(plan)
	var groups operatorsv1.OperatorGroupList
	err := c.client.List(ctx, &groups, client.InNamespace(plan.Namespace))
	if err == nil && (isApproved(plan) || plan.Status.StartTime != nil) && c.memory.recall(key).groups != versions(groups.Items) {
		err = c.live.List(ctx, &groups, client.InNamespace(plan.Namespace))
		c.memory.update(key, func(p *remembered) { p.groups = versions(groups.Items) })
	}
	if err != nil {
		return observation{}, fmt.Errorf("list the OperatorGroups of namespace %s: %w", plan.Namespace, err)
	}
	if seen.account, seen.problem = accountOf(groups.Items); seen.problem == "" {
		seen.group = &groups.Items[0]
	}
	return seen, nil
}

// versions tells lists of groups apart by what a plan depends on. The APIs that a group provides change with every operator that is installed in
// its namespace, and are none of that. It is never empty.
func versions(groups []operatorsv1.OperatorGroup) string {
	all := []string{fmt.Sprint(len(groups))}
	for i := range groups {
		g := &groups[i]
		about := fnv.New64a()
		fmt.Fprintln(about, g.Generation, g.DeletionTimestamp != nil, g.Spec.ServiceAccountName, g.Status.Namespaces)
		if ref := g.Status.ServiceAccountRef; ref != nil {
			fmt.Fprintln(about, ref.Name)
		}
		all = append(all, fmt.Sprintf("%s@%x", g.UID, about.Sum64()))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// accountOf returns the service account of the OperatorGroup of a namespace, or says why there is no knowing it.
func accountOf(groups []operatorsv1.OperatorGroup) (*corev1.ObjectReference, string) {
	if len(groups) > 1 {
		return nil, fmt.Sprintf("more than one operator group(s) are managing this namespace count=%d", len(groups))
	}
	if len(groups) == 0 || len(groups[0].Status.Namespaces) == 0 {
		return nil, "no operator group found that is managing this namespace"
	}
	group := &groups[0]
	if group.Spec.ServiceAccountName == "" {
		return nil, ""
	}
	ref := group.Status.ServiceAccountRef
	if ref == nil || ref.Name != group.Spec.ServiceAccountName {
		return nil, fmt.Sprintf("please make sure the service account exists. sa=%s operatorgroup=%s/%s",
			group.Spec.ServiceAccountName, group.Namespace, group.Name)
	}
	ref = ref.DeepCopy()
	ref.Namespace = group.Namespace // whatever the status says: an account of another namespace is not this group's to lend
	return ref, ""
}
