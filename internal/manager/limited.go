package manager

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/controller/clusterserviceversion"
	"fairlead.dev/fairlead/internal/controller/copiedcsv"
	"fairlead.dev/fairlead/internal/controller/providedapi"
	"fairlead.dev/fairlead/internal/reconcile"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// cached are the namespaces that a limited manager reads; none is all.
func (o Options) cached() []string {
	if len(o.Namespaces) == 0 || slices.Contains(o.Namespaces, o.GlobalNamespace) {
		return o.Namespaces
	}
	return append(slices.Clone(o.Namespaces), o.GlobalNamespace)
}

// cacheOptions limit the caches to namespaces, where asked, and leave out what no one reads.
func cacheOptions(namespaces []string) cache.Options {
	o := cache.Options{DefaultTransform: cache.TransformStripManagedFields(), ByObject: clusterserviceversion.CacheOptions(), NewInformer: reconcile.NewPagedInformer}
	maps.Copy(o.ByObject, catalogsource.CacheOptions())
	maps.Copy(o.ByObject, copiedcsv.CacheOptions())
	for object, options := range providedapi.CacheOptions() {
		options.Transform = clusterserviceversion.KeepFields(options.Transform)
		o.ByObject[object] = options
	}
	if len(namespaces) == 0 {
		return o
	}
	o.DefaultNamespaces = map[string]cache.Config{}
	for _, namespace := range namespaces {
		o.DefaultNamespaces[namespace] = cache.Config{}
	}
	// Operators have roles in their target namespaces too, which may be others; and groups of others may provide the same APIs.
	everywhere := map[string]cache.Config{cache.AllNamespaces: {}}
	for object, options := range o.ByObject {
		switch object.(type) {
		case *rbacv1.Role, *rbacv1.RoleBinding:
			options.Namespaces = everywhere
			o.ByObject[object] = options
		}
	}
	o.ByObject[&operatorsv1.OperatorGroup{}] = cache.ByObject{Namespaces: everywhere}
	return o
}

// mayReadGroups makes sure that a limited manager sees the OperatorGroups of all namespaces. Without them it could not tell whether an
// operator may provide its APIs, and every operator that does would be waited for without end.
func mayReadGroups(ctx context.Context, o Options) error {
	if len(o.Namespaces) == 0 {
		return nil
	}
	reviews, err := authorizationclient.NewForConfig(o.Config)
	if err != nil {
		return fmt.Errorf("make a client that asks what the manager may do: %w", err)
	}
	for _, verb := range []string{"list", "watch"} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: metav1.NamespaceAll, Verb: verb, Group: operatorsv1.GroupVersion.Group, Resource: "operatorgroups",
		}}}
		answer, err := reviews.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return fmt.Errorf("ask whether the manager may %s the OperatorGroups of all namespaces: %w", verb, err)
		}
		if !answer.Status.Allowed {
			return fmt.Errorf("the manager is limited to %s, but has to see the OperatorGroups of all namespaces, because groups of others may provide the same APIs; "+
				"it may not %s operatorgroups.%s there (%s): bind its account to a ClusterRole with get, list and watch on them", strings.Join(o.Namespaces, ", "),
				verb, operatorsv1.GroupVersion.Group, cmp.Or(answer.Status.Reason, "no rule allows it"))
		}
	}
	return nil
}
