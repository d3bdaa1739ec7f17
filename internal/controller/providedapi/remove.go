package providedapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/tenancy"
)

// ReasonRolesRemoved and ReasonRolesRefused are the reasons of Events.
const (
	ReasonRolesRemoved = "ProvidedRolesRemoved"
	ReasonRolesRefused = "ProvidedRolesRefused"
)

// beyondPage is how many ClusterServiceVersions are read at once of namespaces that the manager does not watch.
const beyondPage = 100

// isProvided reports whether a ClusterRole is one of those that are made for an API. People may make roles for an API as well: these lack the label of
// the API, or the name.
func isProvided(role *rbacv1.ClusterRole) bool {
	if role.Labels[v1alpha1.ManagedLabel] != v1alpha1.ManagedLabelValue {
		return false
	}
	return slices.ContainsFunc(levels, func(l access) bool {
		if role.Labels[v1alpha1.RBACAggregationLabelPrefix+l.suffix] != "true" || !strings.HasSuffix(role.Name, "-"+l.suffix) && !strings.HasSuffix(role.Name, "-crd"+l.suffix) {
			return false
		}
		for key := range role.Labels {
			hash, ok := strings.CutPrefix(key, v1alpha1.OperatorGroupAggregationLabelPrefix)
			if ok && len(hash) == len("0123456789abcdef-"+l.suffix) && strings.HasSuffix(hash, "-"+l.suffix) {
				return true
			}
		}
		return false
	})
}

// unneeded are the roles that none of the operators keeps.
func unneeded(live []rbacv1.ClusterRole, providers []provider) []rbacv1.ClusterRole {
	kept := map[string]bool{}
	for _, p := range providers {
		if p.standing == refused {
			continue
		}
		for _, a := range p.apis {
			for _, role := range append(a.roles(), a.elsewhere().roles()...) {
				kept[role.Name] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(live), func(r rbacv1.ClusterRole) bool { return kept[r.Name] })
}

// remove deletes the roles of a definition that nothing justifies any more. Those that remember for whom the definition was brought go last, when the
// definition itself has forgotten it.
func (j judgement) remove(ctx context.Context, live []rbacv1.ClusterRole, providers []provider) error {
	roles := unneeded(live, providers)
	if len(roles) == 0 {
		return nil
	}
	beyond, err := j.beyond(ctx)
	if apierrors.IsForbidden(err) {
		ctrl.LoggerFrom(ctx).Info("ClusterRoles of an API stay, because operators of namespaces that this manager does not watch may need them: let it list ClusterServiceVersions everywhere",
			"kind", j.kind, "name", j.definition.GetName(), "error", err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	if beyond != nil {
		providers = append(providers, beyond...)
		if roles = unneeded(live, providers); len(roles) == 0 {
			return nil
		}
	}
	if len(roles) == len(live) {
		if err := j.forget(ctx, providers); err != nil {
			return err
		}
	}
	slices.SortFunc(roles, func(a, b rbacv1.ClusterRole) int {
		return strings.Compare(a.Annotations[v1alpha1.ProvidersAnnotation], b.Annotations[v1alpha1.ProvidersAnnotation])
	})
	why := "no ClusterServiceVersion that may open the API owns it any more"
	if i := slices.IndexFunc(providers, func(p provider) bool { return p.why != "" }); i >= 0 {
		why = fmt.Sprintf("ClusterServiceVersion %s may not open the API: %s", nameOf(providers[i].csv), providers[i].why)
	}
	var names []string
	var errs []error
	for i := range roles {
		precondition := client.Preconditions{UID: &roles[i].UID, ResourceVersion: &roles[i].ResourceVersion}
		if err := j.client.Delete(ctx, roles[i].DeepCopy(), precondition); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("remove ClusterRole %s, which gives access to %s %s though %s: %w", roles[i].Name, j.kind, j.definition.GetName(), why, err))
			continue
		}
		names = append(names, roles[i].Name)
	}
	if len(names) > 0 {
		ctrl.LoggerFrom(ctx).Info("removed ClusterRoles that gave the users of the cluster access to an API", "kind", j.kind, "name", j.definition.GetName(), "roles", names, "reason", why)
		j.events.Eventf(j.definition, corev1.EventTypeNormal, ReasonRolesRemoved, "removed ClusterRoles %s: %s", strings.Join(names, ", "), why)
	}
	return errors.Join(errs...)
}

// forget takes out of a CRD that it was brought for operators which no longer exist, before the roles are removed that remember these: another
// ClusterServiceVersion of the name is not meant.
func (j judgement) forget(ctx context.Context, providers []provider) error {
	annotations := map[string]any{}
	for name, all := range j.memory {
		namespace, csv, _ := strings.Cut(name, "/")
		isThere := slices.ContainsFunc(providers, func(p provider) bool {
			return nameOf(p.csv) == name && slices.ContainsFunc(all, func(one meant) bool { return one.uid == string(p.csv.UID) })
		})
		if isThere || !slices.ContainsFunc(all, func(one meant) bool { return one.plan == planOf(j.definition, namespace, csv) }) {
			continue // or a plan brings it again, and its operator is to come
		}
		if !j.sees(namespace) {
			continue // its own manager does
		}
		known := &v1alpha1.ClusterServiceVersion{}
		err := j.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: csv}, known, client.UnsafeDisableDeepCopy)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read ClusterServiceVersion %s, for which %s %s was brought: %w", name, j.kind, j.definition.GetName(), err)
		}
		if err == nil && slices.ContainsFunc(all, func(one meant) bool { return one.uid == string(known.UID) }) {
			continue // it exists, and owns the CRD no longer
		}
		for _, key := range []string{bundle.InstalledAlongsideKey(namespace, csv), bundle.BroughtByKey(namespace, csv)} {
			if _, ok := j.definition.GetAnnotations()[key]; ok {
				annotations[key] = nil
			}
		}
	}
	if len(annotations) == 0 {
		return nil
	}
	if origin := tenancy.Origin(j.definition, ""); origin != "" { // a plan may bring it again
		annotations[v1alpha1.OriginAnnotation] = v1alpha1.OriginInstallPlan + "/" + origin
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": j.definition.GetResourceVersion(), "annotations": annotations}})
	if err == nil {
		err = j.client.Patch(ctx, j.definition.DeepCopyObject().(client.Object), client.RawPatch(types.MergePatchType, patch), fieldManager)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take the operators that no longer exist out of the annotations of %s %s: %w", j.kind, j.definition.GetName(), err)
	}
	return nil
}

// sees reports whether the manager watches a namespace.
func (c *Controller) sees(namespace string) bool {
	return len(c.namespaces) == 0 || slices.Contains(c.namespaces, namespace)
}

// beyond are the operators that own the definition in namespaces which the manager does not watch; nil when it watches all.
func (j judgement) beyond(ctx context.Context) ([]provider, error) {
	if len(j.namespaces) == 0 {
		return nil, nil
	}
	originals, err := labels.NewRequirement(v1alpha1.CopiedFromLabel, selection.DoesNotExist, nil)
	if err != nil {
		return nil, fmt.Errorf("select the ClusterServiceVersions that are no copies: %w", err)
	}
	providers := []provider{}
	for token := ""; ; {
		var list v1alpha1.ClusterServiceVersionList // a new one: what a page leaves out would be that of the page before
		err := j.live.List(ctx, &list, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*originals)}, client.Limit(beyondPage), client.Continue(token))
		if err != nil {
			return nil, fmt.Errorf("list the ClusterServiceVersions of all namespaces, which may need the ClusterRoles of %s %s: %w", j.kind, j.definition.GetName(), err)
		}
		for i := range list.Items {
			csv := &list.Items[i]
			if j.sees(csv.Namespace) || !slices.Contains(owned(csv), j.kind+"/"+j.definition.GetName()) {
				continue
			}
			p, err := j.of(ctx, csv.DeepCopy())
			if err != nil {
				return nil, err
			}
			providers = append(providers, p)
		}
		if token = list.Continue; token == "" {
			return providers, nil
		}
	}
}
