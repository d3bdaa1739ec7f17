package operatorgroup

import (
	"context"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/tenancy"
)

// unseenInterval is how often a group is reconciled that must not claim an API because of a group which the cache does not show. That one may
// be gone again before the cache has shown it, as when the connection broke; then no event tells of its end.
const unseenInterval = 5 * time.Second

// claim brings the annotation with the provided APIs up to date. It is left alone when the group is static, and while it
// cannot be told whether the group is the one that counts. It returns the group as it is afterwards, and when to check it again.
func (c *Controller) claim(ctx context.Context, group *v1.OperatorGroup, seen *observed) (*v1.OperatorGroup, time.Duration, error) {
	if group.Spec.StaticProvidedAPIs || len(seen.groups) > 1 || seen.invalid != nil {
		return group, 0, nil
	}
	members, err := c.claimants(ctx, group, seen)
	if err != nil {
		return group, 0, err
	}
	var again time.Duration
	claim := tenancy.Claim(group, members, seen.rivals)
	if !tenancy.AnnotatedOn(group).IsSuperset(claim) {
		// Groups are reconciled one after the other, and what is about to be claimed must not be what another one has
		// claimed just before.
		var list v1.OperatorGroupList
		if err := c.live.List(ctx, &list); err != nil {
			return group, 0, fmt.Errorf("list the OperatorGroups of the cluster: %w", err)
		}
		var rivals []*v1.OperatorGroup
		for i := range list.Items {
			rivals = append(rivals, &list.Items[i])
		}
		granted := tenancy.Claim(group, members, rivals)
		if !granted.IsSuperset(claim) {
			again = unseenInterval
		}
		claim = granted
	}
	apis := strings.Join(sets.List(claim), ",")
	have, annotated := group.Annotations[v1alpha1.ProvidedAPIsAnnotation]
	if have == apis && (annotated || apis == "") {
		return group, again, nil
	}
	group, err = c.annotate(ctx, group, apis)
	return group, again, err
}

// claimants are the members of a group with the APIs that they have a claim to.
func (c *Controller) claimants(ctx context.Context, group *v1.OperatorGroup, seen *observed) ([]tenancy.Member, error) {
	definitions := tenancy.Definitions{
		CRD: func(name string) (metav1.Object, error) {
			return read(ctx, c.client, name, &apiextensionsv1.CustomResourceDefinition{})
		},
		APIService: func(name string) (metav1.Object, error) {
			return read(ctx, c.client, name, &apiregistrationv1.APIService{})
		},
	}
	members := make([]tenancy.Member, 0, len(seen.members))
	for i := range seen.members {
		csv := &seen.members[i]
		claim, err := tenancy.ClaimedBy(csv, group.Spec.ServiceAccountName != "", definitions)
		if err != nil {
			return nil, fmt.Errorf("judge which APIs ClusterServiceVersion %s has a claim to: %w", client.ObjectKeyFromObject(csv), err)
		}
		members = append(members, tenancy.Member{ClusterServiceVersion: csv, Claim: claim})
	}
	return members, nil
}

// read reads a definition; nil where there is none.
func read(ctx context.Context, reader client.Reader, name string, into client.Object) (metav1.Object, error) {
	err := reader.Get(ctx, client.ObjectKey{Name: name}, into, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %T %s: %w", into, name, err)
	}
	return into, nil
}

// annotate writes the annotation with the provided APIs. It stays, empty, when the last API goes, as clients of the published API expect.
func (c *Controller) annotate(ctx context.Context, group *v1.OperatorGroup, apis string) (*v1.OperatorGroup, error) {
	updated := group.DeepCopy()
	if updated.Annotations == nil {
		updated.Annotations = map[string]string{}
	}
	updated.Annotations[v1alpha1.ProvidedAPIsAnnotation] = apis
	patch := client.MergeFromWithOptions(group, client.MergeFromWithOptimisticLock{})
	if err := c.client.Patch(ctx, updated, patch, fieldManager); err != nil {
		return group, fmt.Errorf("annotate OperatorGroup %s with the APIs that its operators provide: %w", client.ObjectKeyFromObject(group), err)
	}
	reconcile.Log(ctx, updated).Info("provided APIs changed", "apis", apis, "before", group.Annotations[v1alpha1.ProvidedAPIsAnnotation])
	return updated, nil
}
