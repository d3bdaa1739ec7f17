package ops

import (
	"context"
	"fmt"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/ops/migrate"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// UninstallExtension finds out what goes and what stays with a ClusterExtension.
func UninstallExtension(ctx context.Context, reader client.Reader, o UninstallOptions) (*Removal, error) {
	e := &olmv1.ClusterExtension{}
	if err := reader.Get(ctx, client.ObjectKey{Name: o.Name}, e); err != nil {
		if apierrors.IsNotFound(err) {
			err = errNone
		}
		return nil, fmt.Errorf("uninstall ClusterExtension %s: %w", o.Name, err)
	}
	ref := Ref{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterExtensionKind, Name: e.Name}
	r := &Removal{API: "v1", Operator: ref, uid: e.UID, Goes: []Ref{ref}, owners: []owner{{ref, e.UID}}}
	if e.Status.Install != nil {
		r.Version = e.Status.Install.Bundle.Version
	}
	revisions, err := revision.List(ctx, reader, e.Name, e.UID)
	if err != nil {
		return nil, err
	}
	others, err := neighboursOf(ctx, reader, e)
	if err != nil {
		return nil, err
	}
	sets := map[types.UID]bool{}
	for i := range revisions {
		sets[revisions[i].UID] = true
	}
	for i := range revisions {
		set := &revisions[i]
		r.Goes = append(r.Goes, Ref{APIVersion: olmv1.GroupVersion.String(), Kind: olmv1.ClusterObjectSetKind, Name: set.Name})
		if set.Spec.LifecycleState == olmv1.LifecycleStateArchived {
			continue
		}
		if err := r.objects(ctx, reader, set, sets, others, o); err != nil {
			return nil, err
		}
	}
	if err := r.along(ctx, reader, others); err != nil {
		return nil, err
	}
	r.Stays = append(r.Stays, Kept{Ref{APIVersion: "v1", Kind: "Namespace", Name: e.Spec.Namespace}, "it may hold other things"})
	r.sort()
	r.CRDs = slices.CompactFunc(r.CRDs, func(a, b CRD) bool { return a.Name == b.Name })
	// Mark the definitions whose converting webhook goes.
	for i := range r.CRDs {
		live := &apiextensionsv1.CustomResourceDefinition{}
		if err := reader.Get(ctx, client.ObjectKey{Name: r.CRDs[i].Name}, live); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read CustomResourceDefinition %s: %w", r.CRDs[i].Name, err)
		}
		// A webhook with a Service of the operator converts its custom resources.
		if conversion := live.Spec.Conversion; conversion != nil && conversion.Webhook != nil && conversion.Webhook.ClientConfig != nil && conversion.Webhook.ClientConfig.Service != nil {
			s := conversion.Webhook.ClientConfig.Service
			r.CRDs[i].Converted = slices.ContainsFunc(r.Goes, func(r Ref) bool { return r.Kind == "Service" && r.Namespace == s.Namespace && r.Name == s.Name })
		}
	}
	return r, r.check(o)
}

// objects are those of a revision, as far as they are there. What the revision does not control stays.
func (r *Removal) objects(ctx context.Context, reader client.Reader, set *olmv1.ClusterObjectSet, sets map[types.UID]bool, n *neighbours, o UninstallOptions) error {
	objects, err := r.content(ctx, reader, set)
	if err != nil {
		return err
	}
	for _, object := range objects {
		ref := migrate.RefOf(object)
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := reader.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, live)
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", ref, err)
		}
		others := revisionsOwn(sets).Judge(live, rollout.Holders(live)).Reason
		if object.GroupVersionKind().GroupKind() == crdKind {
			if others == "" {
				others = n.need(object)
			}
			c, err := r.crd(ctx, reader, ref.Name, o, others)
			if err != nil {
				return err
			}
			if c != nil {
				r.CRDs = append(r.CRDs, *c)
			}
			continue
		}
		if others != "" {
			r.Stays = append(r.Stays, Kept{ref, others})
			continue
		}
		r.Goes = append(r.Goes, ref)
	}
	return nil
}

// revisionsOwn are the rules by which revisions have objects: they control them.
func revisionsOwn(sets map[types.UID]bool) rollout.ClaimRules {
	return rollout.ClaimRules{Shared: true, Unowned: func(metav1.Object) string { return "nothing says that it belongs to the extension" },
		Relate: func(h rollout.Holder) (rollout.Relation, string) {
			if sets[h.UID] {
				return rollout.Own, ""
			}
			return rollout.Foreign, fmt.Sprintf("it belongs to %s %s", h.Kind, h.Name)
		}}
}
